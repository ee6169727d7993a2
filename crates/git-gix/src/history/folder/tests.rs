//! Compares the last commits of folders with those of the real git.
//!
//! `HEXFORGE_TEST_HISTORIES` is the number of generated histories. `HEXFORGE_TEST_REPOSITORIES` names repositories,
//! separated by `:`, whose folders are compared too.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::time::Duration;

use gix::ObjectId;
use hexforge_domain::repository::LastCommits;

use super::FolderWalk;
use crate::history::compare::{Effort, Limits};
use crate::history::log::tests::generate;
use crate::support::{Scratch, git_command};

const ENOUGH: Limits =
    Limits { time: Duration::from_secs(600), reading: 0, showing: 0, changes: 0 };

#[test]
fn last_commits_of_generated_histories_are_those_of_git() {
    let histories = env::var("HEXFORGE_TEST_HISTORIES").ok();
    let histories = histories.and_then(|text| text.parse().ok()).unwrap_or(25_u64);
    let mut compared = 0;
    for seed in 1..=histories {
        let scratch = Scratch::new();
        let tip = generate(&scratch, seed);
        for folder in ["", "c", "c/f", "missing", "a"] {
            let expected = expected(&scratch.git_dir(), &tip, folder, usize::MAX);
            let repo = open(&scratch.git_dir());
            for most_commits in [usize::MAX, 1] {
                let found = walked(&repo, &tip, folder, most_commits);
                assert!(found.is_complete);
                let found: BTreeMap<String, String> = by_path(found);
                assert_eq!(found, expected, "seed {seed}, {folder:?}");
            }
            compared += expected.len();
        }
    }
    assert!(compared as u64 > histories, "{compared} paths");
}

/// The last commits after as many calls as needed.
fn walked(repo: &gix::Repository, tip: &str, folder: &str, most_commits: usize) -> LastCommits {
    let tip = ObjectId::from_hex(tip.as_bytes()).expect("git printed it");
    let mut walk = FolderWalk::new(repo, tip, folder).expect("the commit exists");
    loop {
        let before = walk.queue.len();
        walk.go_on(repo, folder, most_commits, &Effort::new(ENOUGH)).expect("it can be read");
        let outcome = walk.outcome(folder);
        if outcome.is_complete || before == 0 {
            return outcome;
        }
    }
}

fn by_path(found: LastCommits) -> BTreeMap<String, String> {
    found.entries.into_iter().map(|(path, commit)| (path, commit.to_string())).collect()
}

/// The last commits by git, one log for each entry.
fn expected(git_dir: &Path, tip: &str, folder: &str, most: usize) -> BTreeMap<String, String> {
    let slashed = format!("{folder}/");
    let mut list = vec!["ls-tree", "-z", "--name-only", tip];
    if !folder.is_empty() {
        list.extend(["--", &slashed]);
    }
    let paths = git(git_dir, &list);
    let paths = paths.split('\0').filter(|path| !path.is_empty() && !path.contains('\u{fffd}'));
    let last = |path: &str| {
        let log = ["--literal-pathspecs", "log", "-1", "--format=%H", tip, "--", path];
        git(git_dir, &log).trim().to_owned()
    };
    // Evenly spread over the folder if it has many entries.
    let all: Vec<&str> = paths.collect();
    let step = all.len().div_ceil(most).max(1);
    all.into_iter().step_by(step).map(|path| (path.to_owned(), last(path))).collect()
}

fn git(git_dir: &Path, arguments: &[&str]) -> String {
    let mut git = git_command();
    git.arg("--git-dir").arg(git_dir).args(arguments);
    let output = git.output().expect("git starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn open(git_dir: &Path) -> gix::Repository {
    let options = gix::open::Options::isolated().open_path_as_is(true);
    gix::open_opts(git_dir, options).expect("git made the repository")
}

#[test]
fn last_commits_of_real_histories_are_those_of_git() {
    let Ok(folders) = env::var("HEXFORGE_TEST_REPOSITORIES") else { return };
    for git_dir in folders.split(':').filter(|folder| !folder.is_empty()).map(Path::new) {
        let tip = git(git_dir, &["rev-parse", "HEAD"]).trim().to_owned();
        let trees = git(git_dir, &["ls-tree", "-d", "-r", "-z", "--name-only", &tip]);
        let trees: Vec<&str> = trees.split('\0').filter(|path| !path.is_empty()).collect();
        let step = trees.len().div_ceil(4).max(1);
        let repo = open(git_dir);
        for folder in std::iter::once("").chain(trees.into_iter().step_by(step)) {
            let found = walked(&repo, &tip, folder, usize::MAX);
            assert!(found.is_complete, "{folder}");
            let found = by_path(found);
            for (path, commit) in expected(git_dir, &tip, folder, 12) {
                assert_eq!(found.get(&path), Some(&commit), "{}: {path}", git_dir.display());
            }
        }
    }
}

#[test]
fn a_walk_stops_at_its_limits_and_goes_on() {
    let scratch = Scratch::new();
    scratch.write("old", "1");
    let first = scratch.commit("first");
    for number in 0..5 {
        scratch.write("new", number.to_string());
        scratch.commit("more");
    }
    let tip = scratch.git(&["rev-parse", "HEAD"]);
    let repo = open(&scratch.git_dir());
    let id = ObjectId::from_hex(tip.as_bytes()).expect("git printed it");
    let mut walk = FolderWalk::new(&repo, id, "").expect("the commit exists");
    let no_time = Limits { time: Duration::ZERO, ..ENOUGH };
    walk.go_on(&repo, "", 100, &Effort::new(no_time)).expect("it can be read");
    assert_eq!(walk.outcome(""), LastCommits { entries: vec![], is_complete: false });
    for (visited, known, is_complete) in
        [(3, vec![("new", &tip)], false), (3, vec![("new", &tip), ("old", &first)], true)]
    {
        walk.go_on(&repo, "", visited, &Effort::new(ENOUGH)).expect("it can be read");
        let outcome = walk.outcome("");
        assert_eq!(outcome.is_complete, is_complete);
        let known = known.into_iter().map(|(path, id)| (path.to_owned(), id.clone()));
        assert_eq!(by_path(outcome), known.collect());
    }
}
