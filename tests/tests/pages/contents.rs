//! What pages show, under the names that users of assistive technology and tests rely on.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(
    every_page_has_the_frame_and_the_headers,
    a_project_shows_its_files_and_readme,
    an_empty_project_says_what_to_do,
    folders_and_files_are_shown,
    a_commit_shows_its_changes,
    folders_and_blames_name_the_last_commits,
    bytes_of_users_run_nothing,
    addresses_have_one_spelling,
);

fn every_page_has_the_frame_and_the_headers(forge: &Forge) {
    project(forge, "ship", "20");
    user(forge, "ada");
    for browser in [Browser::stranger(forge), Browser::signed_in(forge, "ada")] {
        for (address, status) in [
            ("/", 200),
            ("/explore/projects", 200),
            ("/help", 200),
            ("/nothing/here/at/all", 404),
            ("/root/ship", 200),
            ("/root/ship/tree/master", 200),
            ("/root/ship/blob/master/README.md", 200),
            ("/root/ship/commits/master", 200),
        ] {
            let seen = browser.get(address);
            let page = seen.page(status);
            let header = |name: &str| seen.0.header(name).unwrap_or_default().to_owned();
            assert!(
                header("Content-Security-Policy")
                    .starts_with("default-src 'none'; script-src 'self'")
            );
            assert!(!header("Content-Security-Policy").contains("unsafe"));
            assert_eq!(header("X-Content-Type-Options"), "nosniff");
            assert_eq!(header("Referrer-Policy"), "same-origin");
            assert_eq!(header("Cross-Origin-Opener-Policy"), "same-origin");
            assert!(seen.0.header("Access-Control-Allow-Origin").is_none());
            assert!(header("Cache-Control").contains("no-cache"));
            page.heading();
            assert_eq!(page.attributes("a", "href").first().map(String::as_str), Some("#content"));
            assert_eq!(page.attributes("main", "id"), ["content"]);
            assert_eq!(
                page.all("nav[aria-label=Main] a"),
                ["Projects", "Groups", "Issues", "Merge requests", "Explore", "Help"]
            );
            assert_eq!(page.all("footer form[aria-label='Color scheme'] button"), ["Apply"]);
            assert!(page.all("title")[0].ends_with("· hexforge"));
            let tags = page.1.split('<').map(|tag| tag.split('>').next().unwrap_or_default());
            let attributes: Vec<&str> = tags.flat_map(str::split_whitespace).skip(1).collect();
            let is_inline = |attribute: &&&str| {
                let is_handler = attribute.starts_with("on") && attribute.contains('=');
                is_handler || attribute.starts_with("style=")
            };
            assert_eq!(attributes.iter().find(is_inline), None, "{address}");
            assert!(!page.1.contains("<script>"), "{address}");
        }
    }
}

fn a_project_shows_its_files_and_readme(forge: &Forge) {
    project(forge, "ship", "20");
    let page = Browser::stranger(forge).get("/root/ship").page(200);
    assert_eq!(page.heading(), "ship");
    assert_eq!(page.all("title"), ["root/ship · hexforge"]);
    assert_eq!(page.all("table[aria-label=Files] th"), ["Name", "Last commit", "Last update"]);
    assert_eq!(
        page.all("table[aria-label=Files] a[href*=blob], table[aria-label=Files] a[href*=tree]"),
        ["src", "README.md"]
    );
    assert_eq!(page.all("section[aria-label='README.md'] strong"), ["fast"]);
    assert_eq!(page.all("section[aria-label='README.md'] li").len(), 1);
    assert!(page.all(".prose script").is_empty() && !page.1.contains("<script>"));
    assert_eq!(page.all("form[aria-label='Switch branch or tag'] option"), ["master"]);
    let clone = page.attributes("input[readonly]", "value");
    assert!(clone[0].ends_with("/root/ship.git") && clone[1].contains("git@"), "{clone:?}");
    assert!(page.all("form[action$=star]").is_empty(), "a stranger cannot star it");
}

fn an_empty_project_says_what_to_do(forge: &Forge) {
    let made =
        forge.post("/projects").token(ROOT).form(&[("name", "new"), ("visibility_level", "20")]);
    made.send().expect(201);
    let page = Browser::stranger(forge).get("/root/new").page(200);
    assert_eq!(page.all("h2"), ["The repository for this project is empty"]);
    assert!(page.all("pre").is_empty(), "a stranger cannot push");
}

fn folders_and_files_are_shown(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["checkout", "-q", "-b", "topic/one"]);
    tree.write("long.txt", "x\n".repeat(6_000))
        .write("bin", [0, 1, 2])
        .write("ü b.txt", "bidi \u{202e}x\n");
    tree.write("pixel.png", [0x89, b'P', b'N', b'G', 13, 10, 26, 10]);
    tree.commit("More");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let get = |address: &str| browser.get(address).page(200);
    let folder = get("/root/ship/tree/topic/one/src/a");
    assert_eq!(
        (folder.heading(), folder.all("nav[aria-label=Path] a")),
        ("a".to_owned(), vec!["ship".into(), "src".into()])
    );
    assert_eq!(get("/root/ship/tree/topic%2Fone").heading(), "ship");
    let file = get("/root/ship/blob/topic/one/src/a/main.rs");
    assert_eq!(file.heading(), "main.rs");
    assert!(file.all("title")[0].starts_with("src/a/main.rs · root/ship"));
    assert_eq!(file.all("tr#L2 .line"), ["println!(\"<b>\");"]);
    assert_eq!(file.attributes("tr#L3 a", "href"), ["#L3"]);
    for link in ["Raw", "History", "Permalink"] {
        assert!(file.all("main a").iter().any(|name| name == link), "{link}");
    }
    let long = get("/root/ship/blob/topic/one/long.txt");
    assert!(
        long.1.contains("Only the first 5000 lines are shown.") && !long.1.contains("id=\"L5001\"")
    );
    assert!(get("/root/ship/blob/topic/one/bin").1.contains("Binary file"));
    assert!(get("/root/ship/blob/topic/one/%C3%BC%20b.txt").1.contains("bidi [U+202E]x"));
    assert_eq!(get("/root/ship/blob/topic/one/pixel.png").all("main img").len(), 1);
    let plain = get("/root/ship/blob/topic/one/README.md?plain=1");
    let lines = plain.all("tr .line");
    assert!(lines.iter().any(|line| line.contains("<script>alert(1)")), "{lines:?}");
    for missing in [
        "/tree/nope",
        "/tree/master/nope",
        "/blob/master/nope",
        "/blob/master/src",
        "/raw/master/src",
    ] {
        assert_eq!(browser.get(&format!("/root/ship{missing}")).0.status, 404, "{missing}");
    }
    browser
        .get("/root/ship/refs/switch?id=topic/one&destination=tree&path=src")
        .redirects(303, "/root/ship/tree/topic/one/src");
}

fn folders_and_blames_name_the_last_commits(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.write("src/a/main.rs", "fn main() {\n    println!(\"<i>\");\n}\n").commit("Second");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    for (page, expected) in [
        ("/root/ship", vec!["Second", "First & <best>"]),
        ("/root/ship/tree/master/src/a", vec!["Second"]),
        ("/root/ship/tree/master~1", vec!["First & <best>", "First & <best>"]),
    ] {
        let page = browser.get(page).page(200);
        assert_eq!(page.all("table[aria-label=Files] td:nth-child(2) a"), expected);
        assert_eq!(page.all("table[aria-label=Files] td:nth-child(3) time").len(), expected.len());
    }
    let blame = browser.get("/root/ship/blame/master/src/a/main.rs").page(200);
    assert_eq!(blame.heading(), "main.rs");
    let who = blame.all("table[aria-label=Blame] .who a[href*='/commit/']");
    assert_eq!(who, ["First & <best>", "Second", "First & <best>"]);
    assert_eq!(blame.all("tr#L2 .line"), ["println!(\"<i>\");"]);
    let before = blame.attributes("tr#L2 .who a[href*='/blame/']", "href").remove(0);
    let older = browser.get(&before).page(200);
    assert_eq!(older.all("tr#L2 .line"), ["println!(\"<b>\");"]);
    assert_eq!(browser.get("/root/ship/blame/master/nope").0.status, 404);
}

fn a_commit_shows_its_changes(forge: &Forge) {
    project(forge, "ship", "20");
    let browser = Browser::stranger(forge);
    let commits = browser.get("/root/ship/commits/master").page(200);
    assert_eq!(commits.heading(), "Commits");
    assert_eq!(commits.all("ul[aria-label=Commits] .title a"), ["First & <best>"]);
    let address = commits.attributes("ul[aria-label=Commits] .title a", "href").remove(0);
    let commit = browser.get(&address).page(200);
    assert_eq!(commit.heading(), "First & <best>");
    assert!(commit.1.contains("2 changed files with 10 additions and 0 deletions"), "{}", commit.1);
    assert_eq!(commit.all("nav[aria-label='Changed files'] a"), ["README.md", "src/a/main.rs"]);
    assert_eq!(
        commit.all("section[aria-label='src/a/main.rs'] tr[data-kind=added] .sign"),
        ["+", "+", "+"]
    );
    for bad in ["nope", "abc", "0123456789012345678901234567890123456789"] {
        assert_eq!(browser.get(&format!("/root/ship/commit/{bad}")).0.status, 404, "{bad}");
    }
}

fn bytes_of_users_run_nothing(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let html = "<script>alert(1)</script>";
    tree.write("a.html", html)
        .write("a.svg", "<svg onload='alert(1)'/>")
        .write("a.bin", [0, 255, 1]);
    tree.write("a.gif", "GIF89a.....");
    tree.commit("Hostile");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    for (name, media_type, is_download) in [
        ("a.html", "text/plain; charset=utf-8", false),
        ("a.svg", "text/plain; charset=utf-8", false),
        ("a.gif", "image/gif", false),
        ("a.bin", "application/octet-stream", true),
    ] {
        let raw = browser.get(&format!("/root/ship/raw/master/{name}")).0;
        assert_eq!(raw.status, 200, "{name}");
        assert_eq!(raw.header("Content-Type"), Some(media_type), "{name}");
        assert_eq!(raw.header("Content-Security-Policy"), Some("default-src 'none'; sandbox"));
        assert_eq!(raw.header("X-Content-Type-Options"), Some("nosniff"));
        assert_eq!(raw.header("Content-Disposition").is_some(), is_download, "{name}");
        let tag = raw.header("ETag").expect("it has a tag").to_owned();
        let again = forge.page("GET", &format!("/root/ship/raw/master/{name}"));
        assert_eq!(again.header("If-None-Match", &tag).send().status, 304);
    }
}

fn addresses_have_one_spelling(forge: &Forge) {
    project(forge, "ship", "20");
    let browser = Browser::stranger(forge);
    for (given, stored) in [
        ("/Root/SHIP", "/root/ship"),
        ("/root/ship/", "/root/ship"),
        ("/root/ship.git", "/root/ship"),
        ("/Root/Ship/tree/master?x=1", "/root/ship/tree/master?x=1"),
        ("/explore/", "/explore"),
        ("/public", "/explore/projects"),
    ] {
        browser.get(given).redirects(301, stored);
    }
    let style = browser.get("/").page(200).attributes("link[rel=stylesheet]", "href").remove(0);
    let asset = browser.get(&style).0;
    assert_eq!(asset.header("Cache-Control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(browser.get("/-/assets/style.0000.css").0.status, 404);
    let packed = forge.page("GET", &style).header("Accept-Encoding", "gzip").send();
    assert_eq!(packed.header("Content-Encoding"), Some("gzip"));
}
