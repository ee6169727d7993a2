//! Files, archives, feeds and statistics of a repository.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project};

on_every_store!(
    code_is_highlighted,
    large_files_keep_their_type,
    names_that_are_not_text_are_linked,
    archives_are_sent,
    files_are_found_by_name,
    feeds_have_the_newest_commits,
    commits_are_filtered_by_message,
    statistics_are_shown,
);

fn code_is_highlighted(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.write("a.rs", "// <b>\nfn main() {}\n").write("a.txt", "// plain\n");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n";
    tree.write("lfs", pointer).write("big.txt", "0123456789abcde\n".repeat(80_000));
    tree.commit("Code");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let get = |path: &str| browser.get(&format!("/root/ship/blob/master/{path}")).page(200);
    // The first look may take longer than its budget in a debug build; the result is cached.
    let code = get("a.rs");
    assert_eq!(code.all("tr#L1 .line"), ["// <b>"]);
    assert!(!code.1.contains("<b>"), "code is escaped");
    assert_eq!(get("a.rs").all("tr#L2 .line"), ["fn main() {}"]);
    assert!(get("a.txt").all(".line span").is_empty());
    assert!(get("lfs").1.contains("stored with Git LFS"));
    let big = get("big.txt");
    assert!(big.1.contains("Only the first 5000 lines are shown."));
    for address in ["/root/ship/blob/master/README.md", "/root/ship/blob/master/README.md"] {
        let page = browser.get(address).page(200);
        assert_eq!(page.all("section[aria-label='README.md'] strong"), ["fast"]);
        assert!(page.all("main a").contains(&"Source".to_owned()));
    }
    let source = browser.get("/root/ship/blob/master/README.md?plain=1").page(200);
    assert!(source.all("main a").contains(&"Rendered".to_owned()));
    assert_eq!(source.all("tr#L1 .line"), ["# Ship"]);
}

fn large_files_keep_their_type(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let mut picture = vec![0x89, b'P', b'N', b'G', 13, 10, 26, 10];
    picture.resize(400_000, 0);
    tree.write("big.png", &picture).write("big.txt", "x\n".repeat(200_000));
    tree.write("huge.txt", "x\n".repeat(3_000_000));
    tree.write("big.bin", vec![0; 400_000]).commit("Big");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    for (name, media_type, is_download) in [
        ("big.png", "image/png", false),
        ("big.txt", "text/plain; charset=utf-8", false),
        ("big.bin", "application/octet-stream", true),
    ] {
        let raw = browser.get(&format!("/root/ship/raw/master/{name}")).0;
        assert_eq!(raw.header("Content-Type"), Some(media_type), "{name}");
        assert_eq!(raw.header("Content-Disposition").is_some(), is_download, "{name}");
        assert_eq!(raw.header("Content-Length"), Some("400000"), "{name}");
    }
    let page = browser.get("/root/ship/blob/master/big.png").page(200);
    assert_eq!(page.attributes("main img", "src"), ["/root/ship/raw/master/big.png"]);
    let huge = browser.get("/root/ship/blob/master/huge.txt").page(200);
    assert!(huge.1.contains("This file is too large to show."));
}

fn names_that_are_not_text_are_linked(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let folder = tree.path().join(OsStr::from_bytes(b"folder-\xfe"));
    std::fs::create_dir(&folder).expect("it can be made");
    std::fs::write(folder.join(OsStr::from_bytes(b"name-\xff")), "odd\n")
        .expect("it can be written");
    tree.commit("Odd names");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let link = |address: &str, word: &str| {
        let page = browser.get(address).page(200);
        page.attributes(&format!("table[aria-label=Files] a[href*='{word}-']"), "href").remove(0)
    };
    let folder = link("/root/ship", "/folder");
    let file = link(&folder, "/name");
    assert_eq!(browser.get(&file).page(200).all("tr#L1 .line"), ["odd"]);
    let bytes = "/root/ship/raw/master/folder-%FE/name-%FF";
    assert_eq!(browser.get(bytes).0.text(), "odd\n");
}

fn archives_are_sent(forge: &Forge) {
    project(forge, "ship", "20");
    project(forge, "secret", "0");
    let browser = Browser::stranger(forge);
    let home = browser.get("/root/ship").page(200);
    for (name, media_type, start) in [
        ("Download zip", "application/zip", &b"PK"[..]),
        ("Download tar.gz", "application/octet-stream", &[0x1f, 0x8b][..]),
    ] {
        let links = home.all("main a");
        let place = links.iter().position(|link| link == name).expect("there is a link");
        let address = home.attributes("main a", "href").remove(place);
        let sent = browser.get(&address).0;
        assert_eq!(sent.status, 200, "{name}");
        assert_eq!(sent.header("Content-Type"), Some(media_type));
        assert!(
            sent.header("Content-Disposition").is_some_and(|value| value.contains("ship-master-"))
        );
        // The body is chunked.
        let is_start = |bytes: &[u8]| bytes == start;
        assert!(sent.body.windows(start.len()).any(is_start), "{name}");
    }
    for missing in [
        "/root/ship/repository/archive.exe",
        "/root/ship/repository/archive.zip?ref=nope",
        "/root/ship/repository/other.zip",
        "/root/secret/repository/archive.zip",
    ] {
        assert_eq!(browser.get(missing).0.status, 404, "{missing}");
    }
}

fn files_are_found_by_name(forge: &Forge) {
    project(forge, "ship", "20");
    let browser = Browser::stranger(forge);
    let page = browser.get("/root/ship/find_file/master").page(200);
    assert_eq!(page.heading(), "Find file");
    assert_eq!(page.all("ul[aria-label=Files] a"), ["README.md", "src/a/main.rs"]);
    let found = browser.get("/root/ship/find_file/master?search=MAIN+src").page(200);
    assert_eq!(found.all("ul[aria-label=Files] a"), ["src/a/main.rs"]);
    let none = browser.get("/root/ship/find_file/master?search=nope").page(200);
    assert!(none.1.contains("No file matches."));
    let json = browser.get("/root/ship/files/master.json").0;
    assert_eq!(json.header("Content-Type"), Some("application/json"));
    assert_eq!(json.text(), "[\"README.md\",\"src/a/main.rs\"]");
    for missing in ["find_file/nope", "files/master", "files/nope.json"] {
        assert_eq!(browser.get(&format!("/root/ship/{missing}")).0.status, 404, "{missing}");
    }
}

fn feeds_have_the_newest_commits(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    for number in 0..25 {
        tree.commit(&format!("Number {number}"));
    }
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let page = browser.get("/root/ship/commits/master").page(200);
    let address = page.attributes("link[rel=alternate]", "href");
    assert_eq!(address, ["/root/ship/commits/master.atom"]);
    let feed = browser.get(&address[0]).0;
    assert_eq!(feed.status, 200);
    assert_eq!(feed.header("Content-Type"), Some("application/atom+xml; charset=utf-8"));
    assert_eq!(feed.text().matches("<entry>").count(), 20);
    assert!(feed.text().contains("<title>Number 24</title>"), "{}", feed.text());
    let tag = feed.header("ETag").expect("it has a tag").to_owned();
    let again = forge.page("GET", &address[0]).header("If-None-Match", &tag).send();
    assert_eq!(again.status, 304);
    let of_path = browser.get("/root/ship/commits/master/README.md.atom").0;
    assert_eq!(of_path.text().matches("<entry>").count(), 1);
    assert!(of_path.text().contains("First &#38; &#60;best&#62;"), "{}", of_path.text());
}

fn commits_are_filtered_by_message(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.commit("Fix the rudder");
    tree.commit("Paint");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let page = browser.get("/root/ship/commits/master?search=RUDDER").page(200);
    assert_eq!(page.all("ul[aria-label=Commits] .title a"), ["Fix the rudder"]);
    assert_eq!(page.all("form[aria-label=Filter] label"), ["Filter by message"]);
    assert_eq!(page.attributes("form[aria-label=Filter] input", "value"), ["RUDDER"]);
    let none = browser.get("/root/ship/commits/master?search=nope").page(200);
    assert!(none.all("main p").contains(&"No commits match.".to_owned()));
}

fn statistics_are_shown(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["checkout", "-q", "-b", "topic/x"]);
    tree.write("x.py", "x\n").commit("Topic");
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["merge", "-q", "--no-ff", "-m", "Merge", "topic/x"]);
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let page = browser.get("/root/ship/graphs/master").page(200);
    assert_eq!(page.heading(), "Contributors");
    let header = page.all("table[aria-label=Contributors] th");
    assert_eq!(header, ["Name", "Commits", "Additions", "Deletions"]);
    assert_eq!(page.all("table[aria-label=Contributors] td:first-child"), ["Ada"]);
    let image = page.attributes("svg[role=img]", "aria-label");
    assert!(image[0].starts_with("Commits over time"), "{image:?}");
    let commits = browser.get("/root/ship/graphs/topic/x/commits").page(200);
    assert_eq!(commits.heading(), "Commits over time");
    assert_eq!(commits.all("svg[role=img]").len(), 2);
    let languages = browser.get("/root/ship/graphs/master/languages").page(200);
    let names = languages.all("table[aria-label=Languages] td:first-child");
    assert!(names.contains(&"Python".to_owned()) && names.contains(&"Rust".to_owned()));
    let network = browser.get("/root/ship/network/master").page(200);
    assert_eq!(network.heading(), "Network");
    assert_eq!(network.all("ol[aria-label=Commits] a"), ["Merge", "Topic", "First & <best>"]);
    assert_eq!(network.all("svg[role=img] circle").len(), 3);
    for missing in ["graphs/nope", "graphs/master/src", "network/nope"] {
        assert_eq!(browser.get(&format!("/root/ship/{missing}")).0.status, 404, "{missing}");
    }
}
