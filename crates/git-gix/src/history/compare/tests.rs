//! Checks comparisons against the output of the real git.

use gix::ObjectId;
use hexforge_domain::repository::{Comparison, FileDiff};

use crate::support::Scratch;
use crate::text;

mod bases;
mod big;
mod commits;
mod effort;
mod expected;
mod history;
mod rows;

fn open(scratch: &Scratch) -> gix::Repository {
    let options = gix::open::Options::isolated().open_path_as_is(true);
    gix::open_opts(scratch.git_dir(), options).expect("git made the repository")
}

fn id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.as_bytes()).expect("git printed it")
}

fn compare(scratch: &Scratch, from: &str, to: &str) -> Comparison {
    let effort = super::Effort::new(super::REQUEST_LIMITS);
    super::compare(&open(scratch), id(from), id(to), &effort).expect("both commits exist")
}

/// Returns the diff of the only changed file.
fn only_diff(scratch: &Scratch, from: &str, to: &str) -> FileDiff {
    let mut diffs = compare(scratch, from, to).diffs;
    assert_eq!(diffs.len(), 1, "{diffs:?}");
    diffs.remove(0)
}

/// Asserts that the diffs equal those of git.
fn same_as_git(scratch: &Scratch, from: &str, to: &str) -> Vec<FileDiff> {
    let diffs = compare(scratch, from, to).diffs;
    let expected = expected::diffs(scratch, from, to);
    for (ours, theirs) in diffs.iter().zip(&expected) {
        assert!(ours == theirs, "{from}...{to}\nours {}\ngit {}", show(ours), show(theirs));
    }
    assert_eq!(diffs.len(), expected.len(), "{from}...{to}");
    diffs
}

fn show(diff: &FileDiff) -> String {
    format!("{diff:?}\n{}", diff.text)
}

/// Decodes text as the crate does.
fn decode(bytes: &[u8]) -> String {
    text::decode(bytes)
}
