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
