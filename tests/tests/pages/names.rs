//! Hostile names of files, folders and branches: everything is escaped, linked, and reachable.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project};

on_every_store!(
    every_name_is_linked_byte_by_byte,
    names_that_look_the_same_are_told_apart,
    hidden_characters_are_shown_with_a_warning,
    links_and_submodules_say_where_they_lead,
    a_ref_may_be_spelled_in_every_way,
);

/// Names that need care in HTML, in addresses, or both.
const NAMES: [&[u8]; 14] = [
    b"a b",
    b"50%",
    b"%2F",
    b"#1",
    b"what?",
    b"\"quoted\"",
    b"it's",
    b"<b>",
    b"a&amp;b",
    b"back\\slash",
    b"line\nbreak",
    "schön שלום".as_bytes(),
    b"not-\xff-text",
    b"+plus;semi:colon",
];

fn every_name_is_linked_byte_by_byte(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    for (number, name) in NAMES.iter().enumerate() {
        let folder = tree.path().join("dir").join(OsStr::from_bytes(name));
        std::fs::create_dir_all(&folder).expect("it can be made");
        let text = format!("content {number}\n");
        std::fs::write(folder.join(OsStr::from_bytes(name)), text).expect("it can be written");
    }
    tree.commit("Names");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let listed = browser.get("/root/ship/tree/master/dir").page(200);
    let folders = listed.attributes("table[aria-label=Files] td:first-child a", "href");
    assert_eq!(folders.len(), NAMES.len());
    for folder in folders {
        let encoded = folder.rsplit('/').next().expect("addresses have segments").to_owned();
        let inside = browser.get(&folder).page(200);
        let file = inside.attributes("table[aria-label=Files] td:first-child a", "href").remove(0);
        assert!(file.ends_with(&format!("/{encoded}/{encoded}")), "{file}");
        assert_eq!(inside.all("table[aria-label=Files] td:nth-child(2) a"), ["Names"], "{folder}");
        let page = browser.get(&file).page(200);
        let line = page.all("tr#L1 .line");
        assert!(line[0].starts_with("content "), "{file}");
        let raw = browser.get(&file.replace("/blob/", "/raw/")).0;
        assert_eq!(raw.text().trim(), line[0], "{file}");
        for word in ["blame", "commits"] {
            let address = file.replace("/blob/", &format!("/{word}/"));
            assert_eq!(browser.get(&address).0.status, 200, "{address}");
        }
        for link in page.attributes("main a", "href").iter().filter(|link| link.starts_with('/')) {
            assert!(matches!(browser.get(link).0.status, 200 | 302), "{link}");
        }
    }
    let commit = browser.get("/root/ship/commits/master").page(200);
    let commit = commit.attributes("ul[aria-label=Commits] .title a", "href").remove(0);
    for link in browser.get(&commit).page(200).attributes("a.view-file", "href") {
        assert_eq!(browser.get(&link).0.status, 200, "{link}");
    }
    let found = browser.get("/root/ship/find_file/master").page(200);
    let links = found.attributes("ul[aria-label=Files] a", "href");
    assert!(links.iter().any(|link| link.contains("not-%FF-text")), "{links:?}");
    for link in links {
        assert_eq!(browser.get(&link).0.status, 200, "{link}");
    }
}

fn names_that_look_the_same_are_told_apart(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    for byte in [0xfe, 0xff] {
        let file = tree.path().join(OsStr::from_bytes(&[b'x', byte]));
        std::fs::write(file, format!("{byte}\n")).expect("it can be written");
        tree.commit(&format!("Add {byte}"));
    }
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let root = browser.get("/root/ship").page(200);
    let names = root.all("table[aria-label=Files] a[href*='/x%F']");
    assert_eq!(names, ["x\u{fffd}", "x\u{fffd}"]);
    for (byte, text) in [("FE", "254"), ("FF", "255")] {
        let file = browser.get(&format!("/root/ship/blob/master/x%{byte}")).page(200);
        assert_eq!(file.heading(), "x\u{fffd}");
        assert_eq!(file.all("tr#L1 .line"), [text]);
        assert_eq!(file.all(".latest a")[0], format!("Add {text}"));
        let history = browser.get(&format!("/root/ship/commits/master/x%{byte}")).page(200);
        assert_eq!(history.all("ul[aria-label=Commits] .title a"), [format!("Add {text}")]);
        let blame = browser.get(&format!("/root/ship/blame/master/x%{byte}")).page(200);
        assert_eq!(blame.all("tr#L1 .line"), [text]);
    }
    let missing = browser.get("/root/ship/blob/master/x%FD").page(404);
    assert!(missing.all("main p")[0].contains("x\u{fffd}"), "{}", missing.1);
}

fn hidden_characters_are_shown_with_a_warning(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["checkout", "-q", "-b", "b\u{202e}x"]);
    tree.write("docs/a\u{202e}txt.exe", "if admin { \u{2066}// no\u{2069} }\n");
    let commit = tree.commit("Hide \u{202e}this");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let place = "b%E2%80%AEx/docs/a%E2%80%AEtxt.exe";
    for (address, expected) in [
        ("/root/ship/tree/b%E2%80%AEx/docs".to_owned(), "a[U+202E]txt.exe"),
        (format!("/root/ship/blob/{place}"), "if admin { [U+2066]// no[U+2069] }"),
        (format!("/root/ship/blame/{place}"), "if admin { [U+2066]// no[U+2069] }"),
        (format!("/root/ship/commit/{commit}"), "Hide [U+202E]this"),
    ] {
        let page = browser.get(&address).page(200);
        let shown = page.all("body").remove(0);
        assert!(shown.contains(expected), "{address}: {shown}");
        assert!(!shown.contains(['\u{202e}', '\u{2066}', '\u{2069}']), "{address}");
        assert!(shown.contains("change the direction of text"), "{address}");
    }
    let branches = browser.get("/root/ship/branches").page(200);
    assert!(branches.all(".title a").contains(&"b[U+202E]x".to_owned()));
    let plain = browser.get("/root/ship/blob/master/README.md?plain=1").page(200);
    assert!(!plain.1.contains("change the direction of text"));
}

fn links_and_submodules_say_where_they_lead(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    std::os::unix::fs::symlink("src/a/<main>.rs", tree.path().join("link"))
        .expect("it can be made");
    let modules = "[submodule \"near\"]\n\tpath = near\n\turl = ../other.git\n\
                   [submodule \"far\"]\n\tpath = far\n\turl = https://user:secret@e.test/a/b.git\n\
                   [submodule \"bad\"]\n\tpath = bad\n\turl = javascript://e.test/%0aalert(1)\n";
    tree.write(".gitmodules", modules);
    let target = "1234567890123456789012345678901234567890";
    for name in ["near", "far", "bad"] {
        tree.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{target},{name}")]);
    }
    tree.git(&["add", "link", ".gitmodules"]);
    tree.git(&["commit", "-q", "-m", "Links"]);
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let page = browser.get("/root/ship/tree/master").page(200);
    let rows = page.all("table[aria-label=Files] td:first-child");
    assert!(rows.contains(&"Link link → src/a/<main>.rs".to_owned()), "{rows:?}");
    assert!(rows.contains(&"Submodule bad".to_owned()), "{rows:?}");
    let link = |name: &str| {
        let found = page.all("table[aria-label=Files] td:first-child a");
        let place = found.iter().position(|one| one == name)?;
        let links = page.attributes("table[aria-label=Files] td:first-child a", "href");
        Some(links[place].clone())
    };
    assert_eq!(link("near"), Some(format!("/root/other/tree/{target}")));
    assert_eq!(link("far").as_deref(), Some("https://e.test/a/b"));
    assert_eq!(link("bad"), None);
    assert_eq!(
        page.attributes("table[aria-label=Files] a[href^='https:']", "rel"),
        ["nofollow noopener"]
    );
    let file = browser.get("/root/ship/blob/master/link").page(200);
    assert!(file.all(".bar span").contains(&"symbolic link".to_owned()));
    assert_eq!(browser.get("/root/ship/blob/master/near").0.status, 404);
}

fn a_ref_may_be_spelled_in_every_way(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let first = tree.git(&["rev-parse", "HEAD"]);
    tree.git(&["tag", "both"]);
    tree.git(&["checkout", "-q", "-b", "both"]);
    tree.write("README.md", "# Branch\n").commit("On the branch");
    tree.git(&["checkout", "-q", "-b", "deep/er/name.atom"]);
    tree.git(&["branch", "deep/er/name.atom2"]);
    tree.git(&["branch", "50%2F#"]);
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let readme = |place: &str| {
        let page = browser.get(&format!("/root/ship/blob/{place}/README.md")).page(200);
        page.all(".prose h2").remove(0)
    };
    assert_eq!(readme("both"), "Branch", "a branch wins over a tag");
    assert_eq!(readme(&first), "Ship");
    for place in
        ["deep/er/name.atom", "deep%2Fer%2Fname.atom", "deep/er%2Fname.atom2", "50%252F%23"]
    {
        assert_eq!(readme(place), "Branch", "{place}");
    }
    let history = browser.get("/root/ship/commits/deep/er/name.atom").0;
    assert!(history.header("Content-Type").unwrap_or_default().starts_with("text/html"));
    let feed = browser.get("/root/ship/commits/deep/er/name.atom.atom").0;
    assert!(feed.header("Content-Type").unwrap_or_default().starts_with("application/atom+xml"));
    let names = browser.get("/root/ship").page(200).all("select[name=id] option");
    assert!(names.contains(&"50%2F#".to_owned()), "{names:?}");
    browser
        .get("/root/ship/refs/switch?id=50%252F%23&destination=tree&path=src")
        .redirects(303, "/root/ship/tree/50%252F%23/src");
}
