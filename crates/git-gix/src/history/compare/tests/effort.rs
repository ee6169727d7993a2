//! Tests of the limits: too large comparisons are shown in part, in bounded time and memory.

use std::time::Duration;

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::push::{ChangedPaths, EVENT_PATHS, EVENT_TEXT_BYTES};

use super::super::{
    AncestorCache, Effort, Limits, PUSH_LIMITS, REQUEST_LIMITS, changed_paths, commits_between,
};
use super::{Scratch, id, open};

const MUCH: Limits = REQUEST_LIMITS;

fn paths(scratch: &Scratch, commit: &str, limits: Limits) -> ChangedPaths {
    changed_paths(&open(scratch), id(commit), &Effort::new(limits)).expect("the commit exists")
}

/// Renames three files, two of them with a small change.
fn moves(scratch: &Scratch) -> (String, String) {
    let text = |name: &str| (0..500).map(|line| format!("{name} {line}\n")).collect::<String>();
    for name in ["a", "b", "c"] {
        scratch.write(format!("old/{name}"), text(name));
    }
    let from = scratch.commit("Before");
    for name in ["a", "b", "c"] {
        scratch.remove(format!("old/{name}"));
        let more = if name == "c" { "" } else { "more\n" };
        scratch.write(format!("new/{name}2"), text(name) + more);
    }
    (from, scratch.commit("After"))
}

#[test]
fn files_are_read_for_similarity_only_within_a_budget() {
    let scratch = Scratch::new();
    let (from, to) = moves(&scratch);
    for (reading, renamed, overflow) in [(MUCH.reading, 3, false), (6000, 2, true), (0, 1, true)] {
        let effort = Effort::new(Limits { reading, ..MUCH });
        let made = super::super::compare(&open(&scratch), id(&from), id(&to), &effort)
            .expect("both commits exist");
        let count = made.diffs.iter().filter(|diff| diff.renamed).count();
        assert_eq!((count, made.overflow), (renamed, overflow), "{reading}");
        assert_eq!(effort.is_spent(), overflow);
    }
}

#[test]
fn moved_files_are_told_as_new_ones_where_that_can_be_found_out() {
    let scratch = Scratch::new();
    let (from, to) = moves(&scratch);
    let found = paths(&scratch, &to, PUSH_LIMITS);
    assert_eq!(found.added, ["new/a2", "new/b2", "new/c2"]);
    assert_eq!((found.modified, found.removed), (vec![], vec![]));
    let found = paths(&scratch, &to, Limits { reading: 0, ..PUSH_LIMITS });
    assert_eq!(found.added, ["new/a2", "new/b2", "new/c2"]);
    assert_eq!(found.removed, ["old/a", "old/b"]);
    assert_eq!(paths(&scratch, &from, PUSH_LIMITS).added, ["old/a", "old/b", "old/c"]);
}

#[test]
fn of_a_huge_commit_the_first_paths_are_told() {
    let scratch = Scratch::new();
    for number in 0..EVENT_PATHS + 10 {
        scratch.write(format!("{number:05}"), "x");
    }
    let commit = scratch.commit("Many");
    assert_eq!(paths(&scratch, &commit, PUSH_LIMITS).added.len(), EVENT_PATHS);
    assert_eq!(paths(&scratch, &commit, Limits { changes: 7, ..PUSH_LIMITS }).added.len(), 7);
    assert_eq!(paths(&scratch, &commit, Limits { showing: 52, ..PUSH_LIMITS }).added.len(), 10);
    let hurried = Limits { time: Duration::ZERO, ..PUSH_LIMITS };
    assert_eq!(paths(&scratch, &commit, hurried), ChangedPaths::default());
}

#[test]
fn the_paths_of_a_small_pack_take_a_limited_amount_of_memory() {
    let scratch = Scratch::new();
    scratch.write("blob", "x");
    let blob = scratch.git(&["hash-object", "-w", "blob"]);
    let listed: String =
        (0..20_000).map(|number| format!("100644 blob {blob}\t{number}\n")).collect();
    let make = |listed: String| {
        String::from_utf8(scratch.git_bytes(&["mktree"], listed.as_bytes())).expect("an id")
    };
    let mut tree = make(listed);
    for _ in 0..10 {
        tree = make(format!("040000 tree {}\t{}\n", tree.trim(), "n".repeat(4000)));
    }
    let commit = scratch.git(&["commit-tree", "-m", "long", tree.trim()]);
    let added = paths(&scratch, &commit, PUSH_LIMITS).added;
    assert!(!added.is_empty(), "some are listed");
    let bytes: usize = added.iter().map(String::len).sum();
    assert!(bytes <= 16 << 20, "{bytes} bytes of paths");
}

#[test]
fn what_is_shown_has_a_limit_and_the_newest_commits_come_first() {
    let scratch = Scratch::new();
    scratch.write("x", "x");
    let from = scratch.commit("0");
    let mut to = from.clone();
    for name in ["1", "2", "3"] {
        scratch.write(name, "content\n".repeat(50));
        to = scratch.commit(&format!("{name}{}", "m".repeat(1000)));
    }
    let compare = |showing| {
        let effort = Effort::new(Limits { showing, ..MUCH });
        super::super::compare(&open(&scratch), id(&from), id(&to), &effort).expect("they exist")
    };
    let whole = compare(MUCH.showing);
    assert_eq!((whole.commits.len(), whole.diffs.len(), whole.overflow), (3, 3, false));
    let part = compare(3000);
    assert!(part.overflow);
    assert_eq!(part.commits, whole.commits[1..]);
    let texts: Vec<bool> = part.diffs.iter().map(|diff| diff.text.is_empty()).collect();
    assert_eq!(texts, [true, true, true], "the files are named nevertheless");
}

#[test]
fn nothing_goes_on_when_time_is_up() {
    let scratch = Scratch::new();
    let from = scratch.commit("0");
    scratch.write("x", "x");
    let to = scratch.commit("1");
    let hurried = || Effort::new(Limits { time: Duration::ZERO, ..MUCH });
    let made = super::super::compare(&open(&scratch), id(&from), id(&to), &hurried());
    let made = made.expect("both commits exist");
    assert!(made.overflow && made.commits.is_empty() && made.diffs.is_empty());
    let none: &[ObjectId] = &[];
    let counted =
        commits_between(&open(&scratch), &AncestorCache::default(), none, id(&to), 10, &hurried());
    assert!(matches!(counted, Err(GitError::TooLarge)), "{counted:?}");
}

#[test]
fn long_messages_are_not_held_whole_to_be_told() {
    let scratch = Scratch::new();
    scratch.write("../message", "m".repeat(3 * EVENT_TEXT_BYTES));
    scratch.write("x", "x");
    scratch.git(&["add", "x"]);
    scratch.git(&["commit", "-q", "-F", "../message"]);
    let tip = scratch.git(&["rev-parse", "HEAD"]);
    let (_, found) = commits_between(
        &open(&scratch),
        &AncestorCache::default(),
        &[],
        id(&tip),
        10,
        &Effort::new(PUSH_LIMITS),
    )
    .expect("it exists");
    assert_eq!(found[0].message.len(), EVENT_TEXT_BYTES);
}
