//! Merges that once differed from git, and bad input.

use hexforge_domain::ports::git::GitError;

use super::{id, merge, merge_with_git, open};
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
