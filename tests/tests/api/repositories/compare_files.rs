//! Files in responses of GET /projects/:id/repository/compare, and its limits: reference section 4.5.

use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::fields_of;
use crate::api::repositories::repository_support::{Repo, column, compare};

on_every_store!(every_kind_of_change_is_shown, limits_of_files_lines_and_bytes);

/// The entry of one file in `diffs`.
#[track_caller]
fn change<'a>(shown: &'a Value, path: &str) -> &'a Value {
    let diffs = shown["diffs"].as_array().expect("a list");
    diffs.iter().find(|diff| diff["new_path"] == path).unwrap_or_else(|| panic!("no {path}"))
}

fn every_kind_of_change_is_shown(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    let long: String = (0..20).map(|line| format!("line {line}\n")).collect();
    let module = |id: &str| {
        tree.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},module")]);
        tree.git(&["commit", "-q", "-m", "Module"]);
    };
    tree.write("gone", "bye\n").write("moved", &long).write("edited", long.replace("line", "row"));
    tree.write("mode", "#!/bin/sh\n").write("binary", b"\0a").write("crlf", "a\r\n");
    tree.write("latin", b"sch\xf6n, gr\xfcn\n").write("binary-gone", b"\0gone").commit("Begin");
    let (old, new) = ("1".repeat(40), "2".repeat(40));
    module(&old);
    tree.git(&["tag", "before"]);
    for path in ["gone", "moved", "edited", "binary-gone"] {
        tree.git(&["rm", "-q", "--cached", path]);
        std::fs::remove_file(tree.path().join(path)).expect("it is there");
    }
    tree.write("moved-to", &long).write("edited-to", &(long.replace("line", "row") + "more\n"));
    tree.write("binary", b"\0b").write("binary-new", b"\0new").write("empty", "");
    tree.write("crlf", "b\r\n").write("latin", b"sch\xf6n, rot und gr\xfcn\n");
    tree.git(&["add", "-A", "--", ":!module"]);
    tree.git(&["update-index", "--chmod=+x", "mode"]);
    module(&new);
    repo.fill();
    let shown = compare(&repo, "before", "master");
    assert_eq!(
        column(&shown["diffs"], "new_path"),
        [
            "binary",
            "binary-gone",
            "binary-new",
            "crlf",
            "edited-to",
            "empty",
            "gone",
            "latin",
            "mode",
            "module",
            "moved-to"
        ]
    );
    for (path, old_path, modes, flags, diff) in [
        ("binary", "binary", "100644 100644", "", "Binary files a/binary and b/binary differ\n"),
        (
            "binary-gone",
            "binary-gone",
            "100644 0",
            "d",
            "Binary files a/binary-gone and /dev/null differ\n",
        ),
        (
            "binary-new",
            "binary-new",
            "0 100644",
            "n",
            "Binary files /dev/null and b/binary-new differ\n",
        ),
        ("crlf", "crlf", "100644 100644", "", "--- a/crlf\n+++ b/crlf\n@@ -1 +1 @@\n-a\r\n+b\r\n"),
        (
            "edited-to",
            "edited",
            "100644 100644",
            "r",
            "--- a/edited\n+++ b/edited-to\n@@ -18,3 +18,4 @@ row 16\n row 17\n row 18\n row 19\n+more\n",
        ),
        ("empty", "empty", "0 100644", "n", ""),
        ("gone", "gone", "100644 0", "d", "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"),
        (
            "latin",
            "latin",
            "100644 100644",
            "",
            "--- a/latin\n+++ b/latin\n@@ -1 +1 @@\n-schön, grün\n+schön, rot und grün\n",
        ),
        ("mode", "mode", "100644 100755", "", ""),
        (
            "module",
            "module",
            "160000 160000",
            "",
            &format!(
                "--- a/module\n+++ b/module\n@@ -1 +1 @@\n-Subproject commit {old}\n+Subproject commit {new}\n"
            ),
        ),
        ("moved-to", "moved", "100644 100644", "r", ""),
    ] {
        let (a_mode, b_mode) = modes.split_once(' ').expect("two modes");
        let expected = json!({
            "old_path": old_path, "new_path": path, "a_mode": a_mode, "b_mode": b_mode,
            "diff": diff, "new_file": flags == "n", "renamed_file": flags == "r",
            "deleted_file": flags == "d",
        });
        assert_eq!(*change(&shown, path), expected, "{path}");
        assert_eq!(fields_of(change(&shown, path)), fields_of(&expected));
    }
}

fn limits_of_files_lines_and_bytes(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    tree.commit("Begin");
    let branch = |name: &str, files: &[(String, String)]| {
        tree.git(&["checkout", "-q", "-f", "-b", name, "master"]);
        for (path, content) in files {
            tree.write(path, content);
        }
        tree.commit(name);
    };
    let files = |count: usize| -> Vec<_> {
        (0..count).map(|number| (format!("file-{number:03}"), format!("{number}\n"))).collect()
    };
    let one = |content: String| vec![("file".to_owned(), content)];
    branch("files-100", &files(100));
    branch("files-101", &files(101));
    // Each diff starts with three lines before the content.
    branch("lines-4999", &one("x\n".repeat(4996)));
    branch("lines-5000", &one("x\n".repeat(4997)));
    // Each diff has 36 bytes besides its lines, and each line has one byte besides its content.
    let bytes = |last: usize| -> Vec<_> {
        let file =
            |at: usize, length: usize| (format!("file-{at}"), format!("{}\n", "x".repeat(length)));
        let mut all: Vec<_> = (0..5).map(|at| file(at, 100_000)).collect();
        all.push(file(5, last));
        all
    };
    let head = "--- /dev/null\n+++ b/file-0\n@@ -0,0 +1 @@\n".len();
    let rest = 512_000 - 5 * (head + 100_002) - head - 2;
    branch("bytes-511999", &bytes(rest - 1));
    branch("bytes-512000", &bytes(rest));
    // Line breaks count for the limit of 102,400 bytes, the signs at the start of lines do not.
    branch("file-102399", &one(format!("{}\n", "x".repeat(102_398))));
    branch("file-102400", &one(format!("{}\n", "x".repeat(102_399))));
    repo.fill();
    for (name, over, shown_files) in [
        ("files-100", false, 100),
        ("files-101", true, 101),
        ("lines-4999", false, 1),
        ("lines-5000", true, 1),
        ("bytes-511999", false, 6),
        ("bytes-512000", true, 6),
    ] {
        let shown = compare(&repo, "master", name);
        let diffs = shown["diffs"].as_array().expect("a list");
        assert_eq!((&shown["compare_timeout"], diffs.len()), (&json!(over), shown_files), "{name}");
        assert!(diffs.iter().all(|diff| diff["diff"] != ""), "{name}: everything is shown");
    }
    let shown = compare(&repo, "master", "file-102399");
    assert_ne!(shown["diffs"][0]["diff"], "");
    let shown = compare(&repo, "master", "file-102400");
    let expected = json!([{
        "old_path": "file", "new_path": "file", "a_mode": "0", "b_mode": "100644", "diff": "",
        "new_file": true, "renamed_file": false, "deleted_file": false,
    }]);
    assert_eq!((&shown["diffs"], &shown["compare_timeout"]), (&expected, &json!(false)));
}
