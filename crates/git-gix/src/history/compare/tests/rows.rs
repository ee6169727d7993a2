//! Tests of each kind of change.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::super::{Effort, REQUEST_LIMITS};
use super::{Scratch, compare, id, only_diff, open, same_as_git};

fn lines(range: std::ops::Range<usize>) -> String {
    range.map(|line| format!("line {line}\n")).collect()
}

/// Commits the state before and after a change.
fn change(
    before: impl FnOnce(&Scratch),
    after: impl FnOnce(&Scratch),
) -> (Scratch, String, String) {
    let scratch = Scratch::new();
    scratch.write("other", "stays\n");
    before(&scratch);
    let from = scratch.commit("Before");
    after(&scratch);
    let to = scratch.commit("After");
    (scratch, from, to)
}

#[test]
fn changed() {
    let (scratch, from, to) = change(
        |scratch| scratch.write("x", lines(0..20)),
        |scratch| scratch.write("x", lines(0..20).replace("line 9\n", "line nine\nand more\n")),
    );
    same_as_git(&scratch, &from, &to);
    let diff = only_diff(&scratch, &from, &to);
    assert_eq!((diff.old_mode, diff.new_mode), (Some(0o100_644), Some(0o100_644)));
    assert_eq!(
        diff.text,
        "--- a/x\n+++ b/x\n@@ -7,7 +7,8 @@ line 5\n line 6\n line 7\n line 8\n-line 9\n+line nine\n\
         +and more\n line 10\n line 11\n line 12\n"
    );
}

#[test]
fn added_and_deleted() {
    let (scratch, from, to) = change(|_| {}, |scratch| scratch.write("x", "one\n"));
    same_as_git(&scratch, &from, &to);
    let diff = only_diff(&scratch, &from, &to);
    assert_eq!((&*diff.old_path, &*diff.new_path), ("x", "x"));
    assert_eq!((diff.old_mode, diff.new_mode), (None, Some(0o100_644)));
    assert_eq!(diff.text, "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\n");

    let (scratch, from, to) =
        change(|scratch| scratch.write("x", "one\ntwo"), |scratch| scratch.remove("x"));
    same_as_git(&scratch, &from, &to);
    let diff = only_diff(&scratch, &from, &to);
    assert_eq!((diff.old_mode, diff.new_mode), (Some(0o100_644), None));
    assert_eq!(
        diff.text,
        "--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n\\ No newline at end of file\n"
    );
}

#[test]
fn renamed() {
    let (scratch, from, to) = change(
        |scratch| scratch.write("old", lines(0..20)),
        |scratch| scratch.rename("old", "folder/new"),
    );
    same_as_git(&scratch, &from, &to);
    let diff = only_diff(&scratch, &from, &to);
    assert_eq!((&*diff.old_path, &*diff.new_path), ("old", "folder/new"));
    assert!(diff.renamed);
    assert_eq!(diff.text, "");

    let (scratch, from, to) = change(
        |scratch| scratch.write("old", lines(0..20)),
        |scratch| {
            scratch.remove("old");
            scratch.write("new", lines(1..20));
        },
    );
    same_as_git(&scratch, &from, &to);
    let diff = only_diff(&scratch, &from, &to);
    assert!(diff.renamed);
    assert!(diff.text.starts_with("--- a/old\n+++ b/new\n@@ -1,4 +1,3 @@\n-line 0\n"));
}

#[test]
fn renamed_at_half_of_the_content_and_not_below() {
    for (kept, entries) in [(10, 1), (9, 2)] {
        let (scratch, from, to) = change(
            |scratch| scratch.write("old", lines(10..30)),
            |scratch| {
                scratch.remove("old");
                scratch.write("new", lines(10..10 + kept) + &lines(60..80 - kept));
            },
        );
        let diffs = same_as_git(&scratch, &from, &to);
        assert_eq!(diffs.len(), entries);
    }
}

#[test]
fn copies_are_added() {
    let (scratch, from, to) = change(
        |scratch| scratch.write("x", lines(0..9)),
        |scratch| scratch.write("y", lines(0..9)),
    );
    same_as_git(&scratch, &from, &to);
    let diff = only_diff(&scratch, &from, &to);
    assert!(!diff.renamed);
    assert_eq!(diff.old_mode, None);
}

#[test]
fn several_renames_with_the_same_content_and_names() {
    let (scratch, from, to) = change(
        |scratch| {
            for path in ["a/one", "b/two", "c/one", "empty", "d/three"] {
                scratch.write(path, if path == "empty" { String::new() } else { lines(0..9) });
            }
            scratch.write("readme", lines(20..40));
            scratch.write("e/similar", lines(40..60));
            scratch.write("f/similar", lines(41..61));
        },
        |scratch| {
            for (old, new) in
                [("a/one", "z/two"), ("b/two", "z/one"), ("c/one", "z/four"), ("empty", "z/empty")]
            {
                scratch.rename(old, new);
            }
            scratch.remove("readme");
            scratch.write("doc/readme", lines(22..42));
            scratch.write("doc/guide", lines(21..40));
            scratch.remove("e/similar");
            scratch.remove("f/similar");
            scratch.write("g/similar", lines(42..60));
            scratch.write("h/similar", lines(40..58));
        },
    );
    same_as_git(&scratch, &from, &to);
}

#[test]
fn too_many_files_are_compared_by_content_and_name_only() {
    let name = |at: usize| format!("{at:04}");
    let (scratch, from, to) = change(
        |scratch| {
            for at in 0..1001 {
                scratch.write(format!("old/{}", name(at)), lines(at..at + 4));
            }
            scratch.write("old/same", "same\n");
            scratch.write("old/name", lines(0..40));
        },
        |scratch| {
            for at in 0..1001 {
                scratch.remove(format!("old/{}", name(at)));
                scratch.write(format!("new/n{}", name(at)), lines(at..at + 4) + "more\n");
            }
            scratch.rename("old/same", "new/other");
            scratch.remove("old/name");
            scratch.write("new/name", lines(0..39));
        },
    );
    let diffs = same_as_git(&scratch, &from, &to);
    assert_eq!(diffs.iter().filter(|diff| diff.renamed).count(), 2);
}

#[test]
fn only_the_mode_changed() {
    let (scratch, from, to) =
        change(|scratch| scratch.write("x", "one\n"), |scratch| scratch.set_executable("x", true));
    same_as_git(&scratch, &from, &to);
    let diff = only_diff(&scratch, &from, &to);
    assert_eq!((diff.old_mode, diff.new_mode), (Some(0o100_644), Some(0o100_755)));
    assert_eq!(diff.text, "");
}

#[test]
fn mode_and_content_and_name_changed() {
    let (scratch, from, to) = change(
        |scratch| scratch.write("x", lines(0..10)),
        |scratch| {
            scratch.remove("x");
            scratch.write("y", lines(0..9));
            scratch.set_executable("y", true);
        },
    );
    same_as_git(&scratch, &from, &to);
    assert!(only_diff(&scratch, &from, &to).renamed);
}

#[test]
fn binary() {
    for (before, after, expected) in [
        (Some("a\0"), Some("b\0"), "Binary files a/x y and b/x y differ\n"),
        (Some("a\0"), Some("b"), "Binary files a/x y and b/x y differ\n"),
        (None, Some("b\0"), "Binary files /dev/null and b/x y differ\n"),
        (Some("a\0"), None, "Binary files a/x y and /dev/null differ\n"),
    ] {
        let (scratch, from, to) = change(
            |scratch| before.into_iter().for_each(|content| scratch.write("x y", content)),
            |scratch| match after {
                Some(content) => scratch.write("x y", content),
                None => scratch.remove("x y"),
            },
        );
        same_as_git(&scratch, &from, &to);
        assert_eq!(only_diff(&scratch, &from, &to).text, expected);
    }
}

#[test]
fn a_zero_byte_far_behind_is_text() {
    for length in [7990, 7999, 8000, 8010] {
        let content = "x".repeat(length) + "\0";
        let (scratch, from, to) = change(|_| {}, |scratch| scratch.write("x", &content));
        let diffs = same_as_git(&scratch, &from, &to);
        assert_eq!(diffs[0].text.starts_with("Binary"), length < 8000, "{length}");
    }
}

#[test]
fn empty_files() {
    let (scratch, from, to) = change(|_| {}, |scratch| scratch.write("x", ""));
    same_as_git(&scratch, &from, &to);
    assert_eq!(only_diff(&scratch, &from, &to).text, "");
    for (before, after) in [("", "one\n"), ("one\n", ""), ("", "one"), ("a\nb\n", "")] {
        let (scratch, from, to) =
            change(|scratch| scratch.write("x", before), |scratch| scratch.write("x", after));
        same_as_git(&scratch, &from, &to);
    }
}

#[test]
fn submodules() {
    let (one, two) = ("1".repeat(40), "2".repeat(40));
    let (scratch, from, to) =
        change(|scratch| scratch.submodule("m", &one), |scratch| scratch.submodule("m", &two));
    same_as_git(&scratch, &from, &to);
    let diff = only_diff(&scratch, &from, &to);
    assert_eq!((diff.old_mode, diff.new_mode), (Some(0o160_000), Some(0o160_000)));
    assert_eq!(
        diff.text,
        format!(
            "--- a/m\n+++ b/m\n@@ -1 +1 @@\n-Subproject commit {one}\n+Subproject commit {two}\n"
        )
    );
    let (scratch, from, to) = change(|_| {}, |scratch| scratch.submodule("m", &one));
    same_as_git(&scratch, &from, &to);
    let (scratch, from, to) = change(
        |scratch| scratch.submodule("m", &one),
        |scratch| {
            std::fs::remove_dir(scratch.path().join("m")).expect("it is empty");
            scratch.submodule("n", &one);
        },
    );
    same_as_git(&scratch, &from, &to);
    assert!(only_diff(&scratch, &from, &to).renamed);
}

#[test]
fn links() {
    let (scratch, from, to) = change(
        |scratch| {
            scratch.link("x", "target");
            scratch.link("moved", "somewhere");
            scratch.link("gone", "with/a/longer/target");
        },
        |scratch| {
            scratch.remove("x");
            scratch.link("x", "other");
            scratch.rename("moved", "place");
            scratch.remove("gone");
            scratch.link("new", "with/a/longer/targets");
        },
    );
    same_as_git(&scratch, &from, &to);
}

#[test]
fn one_type_becomes_another() {
    let (scratch, from, to) = change(
        |scratch| {
            scratch.write("file", "one\n");
            scratch.link("link", "target");
            scratch.submodule("module", &"3".repeat(40));
            scratch.write("to-folder", "two\n");
            scratch.write("from-folder/x", lines(0..9));
            scratch.write("from-folder.txt", "before the folder\n");
        },
        |scratch| {
            for path in ["file", "link", "to-folder", "from-folder/x"] {
                scratch.remove(path);
            }
            scratch.link("file", "one\n");
            scratch.write("link", "target");
            for folder in ["module", "from-folder"] {
                std::fs::remove_dir(scratch.path().join(folder)).expect("it is empty");
            }
            scratch.write("module", "a file now\n");
            scratch.write("to-folder/y", "three\n");
            scratch.write("from-folder", lines(5..9));
            scratch.write("from-folder.txt", "still\n");
        },
    );
    let diffs = same_as_git(&scratch, &from, &to);
    let file: Vec<_> = diffs.iter().filter(|diff| diff.new_path == "file").collect();
    assert_eq!(file.len(), 2);
    assert_eq!((file[0].old_mode, file[0].new_mode), (Some(0o100_644), None));
    assert_eq!((file[1].old_mode, file[1].new_mode), (None, Some(0o120_000)));
}

#[test]
fn paths_of_all_kinds() {
    let paths: [&[u8]; 9] = [
        b"with space",
        b"tab\there",
        b"quote\"d",
        b"back\\slash",
        b"new\nline",
        "schön".as_bytes(),
        b"latin\xf6",
        b"control\x01\x7f",
        b"-dash",
    ];
    let (scratch, from, to) = change(
        |scratch| {
            for path in paths {
                scratch.write(OsStr::from_bytes(path), lines(0..9));
            }
        },
        |scratch| {
            for path in paths {
                scratch.write(OsStr::from_bytes(path), lines(1..9));
            }
            scratch.write("bin \"ary", "\0");
        },
    );
    assert_eq!(same_as_git(&scratch, &from, &to).len(), 10);
}

#[test]
fn contents_of_all_kinds() {
    for (before, after) in [
        (&b"a\r\nb\r\nc\r\n"[..], &b"a\r\nx\r\nc\r\n"[..]),
        (b"a\r\nb\r\n", b"a\nb\n"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\nb", b"a\nc"),
        (b"x\nb", b"y\nb"),
        (b"gr\xfcn\n", b"sch\xf6n und gr\xfcn\n"),
        (b"\x80\x81\xff\n", b"\x80\x81\xfe\n"),
        (b"one\rtwo\rthree", b"one\rtwo\rfour"),
        (b"--- a\n+++ b\n", b"+++ b\n--- a\n"),
        (b"diff\n\n\n", b"diff\n\n\n\n"),
    ] {
        let (scratch, from, to) =
            change(|scratch| scratch.write("x", before), |scratch| scratch.write("x", after));
        same_as_git(&scratch, &from, &to);
    }
}

#[test]
fn hunks_name_what_they_belong_to() {
    let long = "l".repeat(120);
    let wide = "ö".repeat(60);
    for heading in [
        &b"fn main() {"[..],
        b"_private",
        b"$variable   \t",
        b"  indented",
        b"# comment",
        b"1digit",
        b"\xc3\xb6umlaut",
        b"w\xc3\xb6rter",
        b"sch\xf6n in latin1",
        b"carriage return\r",
        b"form feed\x0c",
        long.as_bytes(),
        &[b"x".as_slice(), wide.as_bytes()].concat(),
        &[b"xy".as_slice(), wide.as_bytes()].concat(),
    ] {
        let text = |changed: &[u8]| {
            let mut text = b"begin\n".to_vec();
            for part in 0..4 {
                text.extend(format!("\t{part}\n").repeat(9).bytes());
                text.extend(changed);
                text.extend(b"\n\tx\n\ty\n\tz\n");
                text.extend(if part == 1 { heading } else { b"{" });
                text.push(b'\n');
            }
            text
        };
        let (scratch, from, to) = change(
            |scratch| scratch.write("x", text(b" old")),
            |scratch| scratch.write("x", text(b" new")),
        );
        same_as_git(&scratch, &from, &to);
    }
}

#[test]
fn attributes_in_the_repository_are_ignored() {
    let (scratch, from, to) = change(
        |scratch| {
            scratch.write(".gitattributes", "* -diff\n");
            scratch.write("x", "one\n");
        },
        |scratch| scratch.write("x", "two\n"),
    );
    let text = only_diff(&scratch, &from, &to).text;
    assert_eq!(text, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n");
}

#[test]
fn what_happened_on_the_other_side_does_not_show() {
    let scratch = Scratch::new();
    scratch.write("x", lines(0..20));
    scratch.commit("Base");
    scratch.git(&["checkout", "--quiet", "-b", "topic"]);
    scratch.write("x", lines(0..21));
    let to = scratch.commit("Topic");
    scratch.git(&["checkout", "--quiet", "master"]);
    scratch.write("y", "elsewhere\n");
    let from = scratch.commit("Master");
    same_as_git(&scratch, &from, &to);
    let comparison = compare(&scratch, &from, &to);
    assert_eq!(comparison.commits.len(), 1);
    assert_eq!(comparison.diffs.len(), 1);
    // A commit-graph must not change the result.
    scratch.git(&["commit-graph", "write", "--reachable"]);
    assert_eq!(compare(&scratch, &from, &to), comparison);
}

#[test]
fn same_commit_ancestors_and_strangers() {
    let scratch = Scratch::new();
    scratch.write("x", "one\n");
    let first = scratch.commit("First");
    scratch.write("x", "two\n");
    let second = scratch.commit("Second");
    assert_eq!(compare(&scratch, &first, &first), Default::default());
    assert_eq!(compare(&scratch, &second, &first), Default::default());

    scratch.git(&["checkout", "--quiet", "--orphan", "stranger"]);
    scratch.write("y", "three\n");
    let stranger = scratch.commit("Stranger");
    let comparison = compare(&scratch, &second, &stranger);
    assert_eq!(comparison.commits.len(), 1);
    assert_eq!(comparison.diffs.len(), 2);
    same_as_git(&scratch, &second, &stranger);
}

#[test]
fn what_does_not_exist_is_missing() {
    let scratch = Scratch::new();
    scratch.write("x", "one\n");
    let commit = id(&scratch.commit("First"));
    let tree = id(&scratch.git(&["rev-parse", "HEAD^{tree}"]));
    let repo = open(&scratch);
    for (from, to) in [(commit, id(&"1".repeat(40))), (id(&"1".repeat(40)), commit), (tree, commit)]
    {
        let result = super::super::compare(&repo, from, to, &Effort::new(REQUEST_LIMITS));
        assert!(matches!(result, Err(hexforge_domain::ports::git::GitError::Missing)));
    }
}
