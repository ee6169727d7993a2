//! Compares merges with those of the real git.
//!
//! `HEXFORGE_TEST_HISTORIES` is the number of generated pairs of branches, `HEXFORGE_TEST_HISTORIES_SEED` the first
//! seed. `HEXFORGE_TEST_REPOSITORIES` names repositories, separated by `:`, whose merges are replayed.

mod cases;
mod generate;
mod real;

use std::env;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use gix::ObjectId;

use crate::support::{Scratch, git_command};
use generate::Pair;

/// The number of pairs that share one repository.
const PAIRS_PER_REPOSITORY: u64 = 25;

#[test]
fn generated_branches_merge_as_in_git() {
    let start = number("HEXFORGE_TEST_HISTORIES_SEED", 1);
    let count = number("HEXFORGE_TEST_HISTORIES", 100);
    let next = AtomicU64::new(0);
    let (failures, clean) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    let work = || {
        loop {
            let first = next.fetch_add(PAIRS_PER_REPOSITORY, Ordering::Relaxed);
            if first >= count {
                return;
            }
            let seeds = first + start..(first + PAIRS_PER_REPOSITORY).min(count) + start;
            let (merged, differences) = check_pairs(seeds);
            clean.fetch_add(merged, Ordering::Relaxed);
            failures.lock().expect("no thread panics with it").extend(differences);
        }
    };
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().expect("no thread panics with it");
    let clean = clean.into_inner();
    assert!(failures.is_empty(), "{} of {count} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(
        clean * 5 > count && clean * 5 < count * 4,
        "{clean} of {count} merge without conflict"
    );
}

/// Merges the pairs of these seeds. Returns the number of merges without conflict, and the differences from git.
fn check_pairs(seeds: std::ops::Range<u64>) -> (u64, Vec<String>) {
    let scratch = Scratch::new();
    let pairs: Vec<(u64, Pair)> = seeds.map(|seed| (seed, generate::pair(seed))).collect();
    let mut stream = Vec::new();
    for (seed, pair) in &pairs {
        pair.write(*seed, &mut stream);
    }
    scratch.git_bytes(&["fast-import", "--quiet", "--force"], &stream);
    let repo = open(&scratch.git_dir());
    let (mut clean, mut differences) = (0, Vec::new());
    for (seed, pair) in &pairs {
        for (one, two) in [("ours", "theirs"), ("theirs", "ours")] {
            let ids = [one, two].map(|name| scratch.git(&["rev-parse", &format!("{name}-{seed}")]));
            let expected = merge_with_git(&scratch.git_dir(), &ids[0], &ids[1]);
            let found = merge(&repo, &ids[0], &ids[1]);
            clean += u64::from(found.is_some() && one == "ours");
            if found != expected && !(found.is_none() && forgets_conflict(&scratch, &ids)) {
                let arguments = ["merge-tree", "--write-tree", &ids[0], &ids[1]];
                let (_, git, why) = scratch.try_git(&arguments, b"");
                // Git says nothing about a merge in which one of its assertions fails.
                if String::from_utf8_lossy(&why).contains("Assertion") {
                    continue;
                }
                let git = String::from_utf8_lossy(&git).into_owned();
                differences.push(format!(
                    "seed {seed}, {one}: {found:?} instead of {expected:?}\n{}{git}",
                    pair.describe()
                ));
            }
        }
    }
    (clean, differences)
}

/// Returns whether git prints a conflict of a merge, in one direction or the other, and forgets it in the result. That
/// happens when a renamed file, or a file in a renamed folder, gets a path that both sides had.
fn forgets_conflict(scratch: &Scratch, ids: &[String; 2]) -> bool {
    [(&ids[0], &ids[1]), (&ids[1], &ids[0])].into_iter().any(|(one, two)| {
        let arguments = ["merge-tree", "--write-tree", "--messages", one, two];
        let (is_clean, output, _) = scratch.try_git(&arguments, b"");
        let text = String::from_utf8_lossy(&output);
        let names = ["CONFLICT (file location)", "CONFLICT (rename involved in collision)"];
        is_clean && names.iter().any(|name| text.contains(name))
    })
}

/// The tree of a merge, or `None` for a conflict.
fn merge(repo: &gix::Repository, ours: &str, theirs: &str) -> Option<ObjectId> {
    let merged = super::merge_commits(repo, id(ours), id(theirs)).expect("both commits exist");
    merged.map(|merged| merged.tree)
}

/// The tree of a merge by git, or `None` for a conflict.
fn merge_with_git(folder: &Path, ours: &str, theirs: &str) -> Option<ObjectId> {
    let mut git = git_command();
    git.current_dir(folder).args(["merge-tree", "--write-tree", "--no-messages", ours, theirs]);
    let output = git.stdin(Stdio::null()).output().expect("git starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(128) if why.contains("unrelated histories") => None,
        Some(0) => Some(id(text.lines().next().expect("git prints the tree"))),
        Some(1) => None,
        // An assertion of git fails in some merges with renamed folders.
        None if why.contains("Assertion") => None,
        code => panic!("{code:?} {why}"),
    }
}

fn open(folder: &Path) -> gix::Repository {
    let options = gix::open::Options::isolated().open_path_as_is(true);
    gix::open_opts(folder, options).expect("git made the repository")
}

fn id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.as_bytes()).expect("git printed it")
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
