//! Merges that once differed from git, and bad input.

use std::time::Duration;

use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::MAX_FOLDERS;

use super::super::MERGE_LIMITS;
use super::super::text::{self, Markers};
use super::{id, merge, merge_with_git, open};
use crate::history::compare::{Effort, Limits};
use crate::support::Scratch;

#[test]
fn unrelated_commits_conflict() {
    let scratch = Scratch::new();
    scratch.write("a", "a\n");
    let one = scratch.commit("one");
    scratch.git(&["checkout", "-q", "--orphan", "other"]);
    scratch.git(&["rm", "-rqf", "."]);
    scratch.write("b", "b\n");
    let two = scratch.commit("two");
    assert_eq!(merge(&open(&scratch.git_dir()), &one, &two), None);
}

#[test]
fn an_ancestor_is_merged_into_its_descendant_and_the_reverse() {
    let scratch = Scratch::new();
    scratch.write("a", "a\n");
    let one = scratch.commit("one");
    scratch.write("b", "b\n");
    let two = scratch.commit("two");
    let repo = open(&scratch.git_dir());
    let tree = id(&scratch.git(&["rev-parse", &format!("{two}^{{tree}}")]));
    assert_eq!(merge(&repo, &one, &two), Some(tree));
    assert_eq!(merge(&repo, &two, &one), Some(tree));
    assert_eq!(merge(&repo, &two, &two), Some(tree));
    assert_eq!(merge_with_git(&scratch.git_dir(), &one, &two), Some(tree));
}

#[test]
fn missing_commits_and_other_objects_are_refused() {
    let scratch = Scratch::new();
    scratch.write("a", "a\n");
    let one = scratch.commit("one");
    let repo = open(&scratch.git_dir());
    let tree = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    for other in [&"1".repeat(40), &tree] {
        let merged = super::super::merge_commits(&repo, id(&one), id(other));
        assert!(matches!(merged, Err(GitError::Missing)));
    }
}

#[test]
fn unchanged_folders_are_not_read() {
    let scratch = Scratch::new();
    let make = |path: &str, lines: [&str; 3]| {
        scratch.write(path, lines.join("\n"));
        let blob = scratch.git(&["hash-object", "-w", path]);
        let listed = format!("100644 blob {blob}\tfile\n040000 tree {}\tlost\n", "1".repeat(40));
        let inner = scratch.git_bytes(&["mktree", "--missing"], listed.as_bytes());
        let inner = String::from_utf8(inner).expect("an id");
        let listed =
            format!("040000 tree {}\tinner\n040000 tree {}\tlost\n", inner.trim(), "2".repeat(40));
        let tree = scratch.git_bytes(&["mktree", "--missing"], listed.as_bytes());
        String::from_utf8(tree).expect("an id").trim().to_owned()
    };
    let base = scratch.git(&["commit-tree", "-m", "base", &make("a", ["1", "2\n3\n4", "5"])]);
    let side = |lines| scratch.git(&["commit-tree", "-m", "x", "-p", &base, &make("b", lines)]);
    let (ours, theirs) = (side(["one", "2\n3\n4", "5"]), side(["1", "2\n3\n4", "five"]));
    let expected = make("c", ["one", "2\n3\n4", "five"]);
    assert_eq!(merge(&open(&scratch.git_dir()), &ours, &theirs), Some(id(&expected)));
}

#[test]
fn damaged_trees_and_missing_files_are_errors() {
    let scratch = Scratch::new();
    let tree = |listed: String| {
        let tree = scratch.git_bytes(&["mktree", "--missing"], listed.as_bytes());
        String::from_utf8(tree).expect("an id").trim().to_owned()
    };
    let file = |digit: &str| tree(format!("100644 blob {}\tfile\n", digit.repeat(40)));
    let folder = |digit: &str| tree(format!("040000 tree {}\tfolder\n", digit.repeat(40)));
    for trees in [["1", "2", "3"].map(file), ["1", "2", "3"].map(folder)] {
        let base = scratch.git(&["commit-tree", "-m", "base", &trees[0]]);
        let side = |tree: &str| id(&scratch.git(&["commit-tree", "-m", "x", "-p", &base, tree]));
        let (ours, theirs) = (side(&trees[1]), side(&trees[2]));
        let merged = super::super::merge_commits(&open(&scratch.git_dir()), ours, theirs);
        assert!(matches!(merged, Err(GitError::Corrupt(_))));
    }
}

#[test]
fn of_several_equal_files_the_one_that_git_finds_first_takes_over_the_change() {
    let new_folders = |count: u32| (0..count).map(|number| format!("new{number}/copy"));
    for copies in [
        vec!["a/copy".to_owned(), "folder/copy".to_owned()],
        new_folders(2).collect(),
        new_folders(30).collect(),
        new_folders(60).collect(),
        new_folders(300).collect(),
    ] {
        let scratch = Scratch::new();
        scratch.write("folder/file", "1\n2\n3\n");
        scratch.write("folder/kept", "kept\n");
        let base = scratch.commit("base");
        scratch.write("folder/file", "1\n2\nthree\n");
        let ours = scratch.commit("ours");
        scratch.git(&["checkout", "-q", "--detach", &base]);
        scratch.git(&["rm", "-q", "folder/file"]);
        for copy in &copies {
            scratch.write(copy, "1\n2\n3\n");
        }
        let theirs = scratch.commit("theirs");
        let expected = merge_with_git(&scratch.git_dir(), &ours, &theirs);
        assert!(expected.is_some());
        let repo = open(&scratch.git_dir());
        assert_eq!(merge(&repo, &ours, &theirs), expected, "{} copies", copies.len());
        let expected = merge_with_git(&scratch.git_dir(), &theirs, &ours);
        assert_eq!(merge(&repo, &theirs, &ours), expected, "{} copies", copies.len());
    }
}

#[test]
fn large_and_binary_files_that_both_changed_conflict() {
    let scratch = Scratch::new();
    let large = |end: &str| format!("{}{end}", "0123456789abcde\n".repeat(3 << 20)).into_bytes();
    for [base, ours, theirs] in [
        [b"a\0b".to_vec(), b"a\0c".to_vec(), b"a\0d".to_vec()],
        [large(""), large("ours"), [b"theirs\n".to_vec(), large("")].concat()],
    ] {
        scratch.write("file", base);
        let base = scratch.commit("base");
        scratch.write("file", ours);
        let ours = scratch.commit("ours");
        scratch.git(&["checkout", "-q", "--detach", &base]);
        scratch.write("file", theirs);
        let theirs = scratch.commit("theirs");
        assert_eq!(merge(&open(&scratch.git_dir()), &ours, &theirs), None);
    }
}

/// Returns a commit with one file this many folders down.
fn deep_commit(
    scratch: &Scratch,
    [name, content]: [&str; 2],
    folders: usize,
    base: &str,
) -> String {
    let path = format!("{}{name}", "d/".repeat(folders));
    let stream = format!(
        "commit refs/heads/deep\ncommitter a <a@example.com> 1 +0000\ndata 0\nfrom {base}\n\
         M 100644 inline {path}\ndata {}\n{content}\n",
        content.len()
    );
    scratch.git_bytes(&["fast-import", "--quiet", "--force"], stream.as_bytes());
    scratch.git(&["rev-parse", "deep"])
}

#[test]
fn deep_folders_merge_or_are_refused_without_a_deep_stack() {
    let scratch = Scratch::new();
    scratch.write("a", "a\n");
    let base = scratch.commit("base");
    let made = |folders: usize| {
        let one = deep_commit(&scratch, ["one", "1"], folders, &base);
        let two = deep_commit(&scratch, ["two", "2"], folders, &base);
        super::super::merge_commits(&open(&scratch.git_dir()), id(&one), id(&two))
    };
    assert!(matches!(made(500), Ok(Some(_))));
    assert!(matches!(made(MAX_FOLDERS + 1), Err(GitError::TooLarge)));
    assert!(matches!(made(5000), Err(GitError::TooLarge)));
}

/// Branches with `count` merge bases. The branches merged the bases in opposite order, and one of them removed the file
/// of the oldest base.
fn many_bases(scratch: &Scratch, count: usize) -> [String; 2] {
    let tree = |names: std::ops::Range<usize>, more: &str| {
        scratch.write("blob", "x\n");
        let blob = scratch.git(&["hash-object", "-w", "blob"]);
        let file = |name: String| format!("100644 blob {blob}\t{name}\n");
        let listed: String =
            names.map(|number| file(format!("b{number}"))).chain([file(more.to_owned())]).collect();
        String::from_utf8(scratch.git_bytes(&["mktree"], listed.as_bytes())).expect("an id")
    };
    let commit = |tree: String, parents: &[&String]| {
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let arguments: Vec<&str> =
            ["commit-tree", "-m", "x", tree.trim()].into_iter().chain(parents).collect();
        scratch.git(&arguments)
    };
    let root = commit(tree(0..0, "root"), &[]);
    let bases: Vec<String> =
        (0..count).map(|number| commit(tree(number..number + 1, "root"), &[&root])).collect();
    let mut one = bases[0].clone();
    for base in &bases[1..] {
        one = commit(tree(0..count, "root"), &[&one, base]);
    }
    let mut two = bases[count - 1].clone();
    for base in bases[..count - 1].iter().rev() {
        two = commit(tree(0..count, "root"), &[&two, base]);
    }
    [commit(tree(0..count, "root2"), &[&one]), commit(tree(1..count, "root"), &[&two])]
}

#[test]
fn all_merge_bases_count_or_the_merge_is_refused() {
    let scratch = Scratch::new();
    for count in [2, 16, 17, 30] {
        let [one, two] = many_bases(&scratch, count);
        let expected = merge_with_git(&scratch.git_dir(), &one, &two);
        assert!(expected.is_some(), "git merges {count} bases");
        assert_eq!(merge(&open(&scratch.git_dir()), &one, &two), expected, "{count} bases");
    }
    let [one, two] = many_bases(&scratch, 70);
    let merged = super::super::merge_commits(&open(&scratch.git_dir()), id(&one), id(&two));
    assert!(matches!(merged, Err(GitError::TooLarge)));
}

#[test]
fn modes_of_old_programs_do_not_survive_in_a_merged_folder() {
    let scratch = Scratch::new();
    let blob = |content: &str| {
        scratch.write("blob", content);
        id(&scratch.git(&["hash-object", "-w", "blob"]))
    };
    let tree = |contents: [&str; 3]| {
        let mut tree = Vec::new();
        for (entry, content) in ["100644 a", "100644 b", "100664 old"].iter().zip(contents) {
            tree.extend_from_slice(format!("{entry}\0").as_bytes());
            tree.extend_from_slice(blob(content).as_slice());
        }
        let arguments = ["hash-object", "-t", "tree", "-w", "--stdin", "--literally"];
        let stored = scratch.git_bytes(&arguments, &tree);
        String::from_utf8(stored).expect("an id").trim().to_owned()
    };
    let base = scratch.git(&["commit-tree", "-m", "base", &tree(["x", "x", "x"])]);
    let side = |tree: String| scratch.git(&["commit-tree", "-m", "side", "-p", &base, &tree]);
    let (one, two) = (side(tree(["y", "x", "x"])), side(tree(["x", "y", "x"])));
    let expected = merge_with_git(&scratch.git_dir(), &one, &two);
    assert!(expected.is_some());
    assert_eq!(merge(&open(&scratch.git_dir()), &one, &two), expected);
}

#[test]
fn texts_that_cannot_be_compared_in_time_are_given_up() {
    let lines = |change: &str| -> Vec<u8> {
        let line = |number: usize| match number % 2 {
            0 => format!("{change}{number}\n"),
            _ => format!("{number}\n"),
        };
        (0..1000).flat_map(|number| line(number).into_bytes()).collect()
    };
    let [base, ours, theirs] = ["", "o", "t"].map(lines);
    let markers = Markers { size: 7, ours: b"", theirs: b"" };
    let merged = |time| {
        let effort = Effort::new(Limits { time, ..MERGE_LIMITS });
        text::merge(&base, &ours, &theirs, &markers, &effort).is_some()
    };
    assert!(merged(MERGE_LIMITS.time));
    assert!(!merged(Duration::ZERO));
}
