//! Workers for refs: pushes by the real git, and branches and tags through the API.

use std::collections::BTreeMap;
use std::process::Stdio;

use hexforge_tests::{RandomNumbers, WorkTree};
use serde_json::Value;

use super::worker::{Servers, Step, Worker, YARD, send_expecting};

/// A configuration with one job, so each push creates a pipeline with one build.
pub const CONFIGURATION: &str = "job: {script: x}\n";

/// A worker that pushes with git.
pub struct Pusher {
    name: String,
    tree: WorkTree,
    root: String,
    made: usize,
    /// Branches and their commits.
    branches: BTreeMap<String, String>,
    unconfirmed: Option<(String, String)>,
}

impl Pusher {
    /// Creates a pusher that has the first commits of the project.
    pub fn new(name: &str, servers: &Servers<'_>) -> Self {
        let tree = WorkTree::new(&servers.data.join("unused.git"));
        tree.git(&["fetch", "-q", &servers.repository(), "master"]);
        let root = tree.git(&["rev-parse", "FETCH_HEAD"]);
        let (made, branches) = (0, BTreeMap::new());
        Self { name: name.to_owned(), tree, root, made, branches, unconfirmed: None }
    }

    fn assert_there(&self, servers: &Servers<'_>) {
        let found = self.tree.refs_at(&servers.repository());
        for (branch, commit) in &self.branches {
            assert_eq!(found.get(&format!("refs/heads/{branch}")), Some(commit), "{branch}");
        }
    }
}

impl Worker for Pusher {
    fn step(&mut self, servers: &Servers<'_>) -> Step {
        self.made += 1;
        let branch = format!("{}-{}", self.name, self.made);
        let files = format!("{}^{{tree}}", self.root);
        let commit = self.tree.git(&["commit-tree", "-p", &self.root, "-m", &branch, &files]);
        let change = format!("{commit}:refs/heads/{branch}");
        let mut push = self.tree.command(&["push", "-q", &servers.repository(), &change]);
        let push = push.env("GIT_TERMINAL_PROMPT", "0").stderr(Stdio::null()).status();
        if push.is_ok_and(|status| status.success()) {
            self.branches.insert(branch, commit);
            Step::Done
        } else {
            self.unconfirmed = Some((branch, commit));
            Step::NoAnswer
        }
    }

    fn check(&mut self, servers: &Servers<'_>, _: &[Value]) {
        if let Some((branch, commit)) = self.unconfirmed.take() {
            let found = self.tree.refs_at(&servers.repository());
            if let Some(now) = found.get(&format!("refs/heads/{branch}")) {
                assert_eq!(*now, commit, "{branch}");
                self.branches.insert(branch, commit);
            }
        }
        self.assert_there(servers);
    }

    fn check_all(&self, servers: &Servers<'_>, _: &[Value]) {
        self.assert_there(servers);
    }
}

/// A worker that creates and removes branches and tags through the API.
pub struct Brancher {
    name: String,
    numbers: RandomNumbers,
    /// Paths of refs below `repository/`, and whether they exist.
    known: BTreeMap<String, bool>,
    unconfirmed: Option<(String, bool)>,
}

impl Brancher {
    pub fn new(name: &str, seed: u64) -> Self {
        let (known, numbers) = (BTreeMap::new(), RandomNumbers(seed));
        Self { name: name.to_owned(), numbers, known, unconfirmed: None }
    }

    fn assert_known(&self, servers: &Servers<'_>) {
        for (path, is_there) in &self.known {
            let found = servers.ask("GET", &format!("/projects/{YARD}/repository/{path}")).send();
            assert_eq!(found.status, if *is_there { 200 } else { 404 }, "{path}");
        }
    }
}

impl Worker for Brancher {
    fn step(&mut self, servers: &Servers<'_>) -> Step {
        let kind = if self.numbers.below(2) == 0 { "branches" } else { "tags" };
        let name = format!("{}-{}", self.name, self.numbers.below(4));
        let path = format!("{kind}/{name}");
        let is_there = self.known.get(&path).copied().unwrap_or(false);
        let at = |path: &str| format!("/projects/{YARD}/repository/{path}");
        let request = match (is_there, kind) {
            (true, _) => servers.ask("DELETE", &at(&path)),
            (false, "branches") => {
                let form = [("branch_name", name.as_str()), ("ref", "master")];
                servers.ask("POST", &at(kind)).form(&form)
            }
            (false, _) => {
                let form = [("tag_name", name.as_str()), ("ref", "master"), ("message", "sealed")];
                servers.ask("POST", &at(kind)).form(&form)
            }
        };
        if send_expecting(request, &[200, 201]).is_none() {
            self.unconfirmed = Some((path, !is_there));
            return Step::NoAnswer;
        }
        self.known.insert(path, !is_there);
        Step::Done
    }

    fn check(&mut self, servers: &Servers<'_>, issues: &[Value]) {
        if let Some((path, after)) = self.unconfirmed.take() {
            let found = servers.ask("GET", &format!("/projects/{YARD}/repository/{path}")).send();
            if (found.status == 200) == after {
                self.known.insert(path, after);
            }
        }
        self.check_all(servers, issues);
    }

    fn check_all(&self, servers: &Servers<'_>, _: &[Value]) {
        self.assert_known(servers);
    }
}
