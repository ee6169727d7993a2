//! Compares reachability with git: exactly the objects that `git rev-list --objects --all` lists are reachable.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::{GitError, GitObjects};
use tempfile::TempDir;

use crate::content::commit::from_gix;
use crate::storage::repository::GixRepository;
use crate::storage::store::GixStore;
use crate::support::refs::{self, refs_of};
use crate::support::{Random, Scratch, git_command};

const PROJECT: ProjectId = ProjectId(1);

/// A repository whose refs change, and a store that must notice.
struct Moving {
    _folder: TempDir,
    store: GixStore,
    repository: PathBuf,
    work: Scratch,
    random: Random,
    commits: usize,
}

impl Moving {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = refs::store(folder.path());
        let repository = store.layout().repository(PROJECT);
        std::fs::create_dir_all(repository.parent().expect("a parent")).expect("folders");
        let made = git_command().args(["init", "--quiet", "--bare"]).arg(&repository).status();
        assert!(made.expect("git runs").success());
        let work = Scratch::new();
        work.git(&["config", "user.name", "Somebody"]);
        Self { _folder: folder, store, repository, work, random: Random::new(seed), commits: 0 }
    }

    fn git(&self, args: &[&str]) -> String {
        let output = git_command().arg("-C").arg(&self.repository).args(args).output();
        let output = output.expect("git runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    /// Opens the repository with its current refs.
    fn open(&self) -> GixRepository {
        let (shared, refs) = (Arc::clone(self.store.shared()), refs_of(&self.repository));
        GixRepository::open(shared, PROJECT, refs, Caller::BACKGROUND).expect("it opens")
    }

    fn list(&self, args: &[&str]) -> Vec<String> {
        self.git(args).lines().map(|line| line.split(' ').next().unwrap_or(line).into()).collect()
    }

    /// Pushes a new commit, or changes a ref in another way.
    fn change(&mut self) {
        let branches = self.list(&["for-each-ref", "--format=%(refname)", "refs/heads"]);
        let tags = self.list(&["for-each-ref", "--format=%(refname)", "refs/tags", "refs/notes"]);
        let target = self.repository.to_string_lossy().into_owned();
        match self.random.below(8) {
            _ if branches.is_empty() => self.commit(&target, "refs/heads/first"),
            0 if branches.len() > 1 => {
                let gone = self.random.pick(&branches).clone();
                self.git(&["update-ref", "-d", &gone]);
            }
            1 => {
                let commits = self.list(&["rev-list", "--all"]);
                let branch = self.random.pick(&branches).clone();
                let to = self.random.pick(&commits).clone();
                self.git(&["update-ref", &branch, &to]);
            }
            2 => {
                let name = format!("refs/tags/v{}", self.commits);
                self.work.git(&["tag", "-f", "-a", "-m", "a tag", "made"]);
                self.work.git(&["push", "-q", "-f", &target, &format!("refs/tags/made:{name}")]);
            }
            3 if !tags.is_empty() => {
                let gone = self.random.pick(&tags).clone();
                self.git(&["update-ref", "-d", &gone]);
            }
            4 => self.commit(&target, "refs/notes/commits"),
            5 => {
                self.git(&["pack-refs", "--all"]);
            }
            _ => {
                let branch = format!("refs/heads/b{}", self.random.below(4));
                self.commit(&target, &branch);
            }
        }
    }

    fn commit(&mut self, target: &str, reference: &str) {
        self.commits += 1;
        let number = self.random.below(5);
        self.work.write(format!("folder{number}/file"), format!("{}", self.commits));
        self.work.commit(&format!("commit {}", self.commits));
        self.work.git(&["push", "-q", "-f", target, &format!("HEAD:{reference}")]);
        // Sometimes the next commit starts a new branch.
        if self.random.one_in(3) && self.work.git(&["rev-list", "HEAD"]).lines().count() > 2 {
            self.work.git(&["checkout", "-q", "--detach", "HEAD~2"]);
        }
    }

    /// Returns the reachable ones of all objects in the repository, checked in random order.
    fn judged(&mut self, kept: &[gix::ObjectId]) -> BTreeSet<String> {
        let format = ["cat-file", "--batch-check=%(objectname)", "--batch-all-objects"];
        let mut all = self.list(&format);
        for at in (1..all.len()).rev() {
            all.swap(at, self.random.below(at + 1));
        }
        let kept: Vec<_> = kept.iter().map(|id| from_gix(id)).collect();
        let opened = self.open();
        let is_reachable = |id: &String| {
            let id = gix::ObjectId::from_hex(id.as_bytes()).expect("an id");
            loop {
                match opened.is_reachable(from_gix(&id), &kept) {
                    Err(GitError::Unfinished) => (),
                    outcome => return outcome.expect("it is decided"),
                }
            }
        };
        all.into_iter().filter(is_reachable).collect()
    }
}

#[test]
fn what_is_reachable_is_what_git_lists() {
    for seed in 0..4 {
        let mut moving = Moving::new(seed);
        for round in 0..20 {
            moving.change();
            let expected = moving.list(&["rev-list", "--objects", "--all"]).into_iter().collect();
            assert_eq!(moving.judged(&[]), expected, "seed {seed}, round {round}");
        }
    }
}

#[test]
fn what_else_keeps_a_commit_keeps_all_that_belongs_to_it() {
    let mut moving = Moving::new(7);
    for _ in 0..12 {
        moving.change();
    }
    let branches = moving.list(&["for-each-ref", "--format=%(refname)"]);
    let kept = moving.list(&["rev-list", "--all", "--max-count=1"]).remove(0);
    for branch in &branches {
        moving.git(&["update-ref", "-d", branch]);
    }
    assert_eq!(moving.judged(&[]), BTreeSet::new());
    let expected: BTreeSet<String> =
        moving.list(&["rev-list", "--objects", &kept]).into_iter().collect();
    let kept = gix::ObjectId::from_hex(kept.as_bytes()).expect("an id");
    assert_eq!(moving.judged(&[kept]), expected);
    assert_eq!(moving.judged(&[]), BTreeSet::new());
}

/// A call without any time left makes a little progress, and later calls finish the walk.
#[test]
fn a_walk_goes_on_where_it_was_interrupted() {
    let moving = Moving::new(11);
    for number in 0..150 {
        moving.work.git(&["commit", "-q", "--allow-empty", "-m", &format!("commit {number}")]);
    }
    let target = moving.repository.to_string_lossy().into_owned();
    moving.work.git(&["push", "-q", &target, "HEAD:refs/heads/master"]);
    let first = moving.list(&["rev-list", "--reverse", "master"]).remove(0);
    let first = gix::ObjectId::from_hex(first.as_bytes()).expect("an id");
    let opened = moving.open();
    let past = Some(std::time::Instant::now());
    let mut calls = 0;
    loop {
        calls += 1;
        match opened.is_reachable_until(first, &[], past) {
            Err(GitError::Unfinished) => assert!(calls < 10, "it does not come forward"),
            found => break assert!(found.expect("it can be read")),
        }
    }
    assert!(calls > 1, "it is far away");
    assert!(opened.is_reachable_until(first, &[], past).expect("it is known"));
}
