//! Pushes by the real git; branches and tags by the interface.

use std::collections::BTreeMap;
use std::process::Stdio;

use hexforge_tests::{RandomNumbers, WorkTree};
use serde_json::Value;

use super::lane::{Lane, Place, Step, YARD, send_expecting};

/// Each push makes a pipeline of one build.
pub const CONFIGURATION: &str = "job: {script: x}\n";

/// Somebody who pushes.
pub struct Pusher {
    name: String,
    tree: WorkTree,
    root: String,
    made: usize,
    /// Branches and what they hold.
    branches: BTreeMap<String, String>,
    doubt: Option<(String, String)>,
}

impl Pusher {
    /// One who has what was pushed first.
    pub fn new(name: &str, place: &Place<'_>) -> Self {
        let tree = WorkTree::new(&place.data.join("unused.git"));
        tree.git(&["fetch", "-q", &place.repository(), "master"]);
        let root = tree.git(&["rev-parse", "FETCH_HEAD"]);
        let (made, branches) = (0, BTreeMap::new());
        Self { name: name.to_owned(), tree, root, made, branches, doubt: None }
    }

    fn assert_there(&self, place: &Place<'_>) {
        let found = self.tree.refs_at(&place.repository());
        for (branch, commit) in &self.branches {
            assert_eq!(found.get(&format!("refs/heads/{branch}")), Some(commit), "{branch}");
        }
    }
}

impl Lane for Pusher {
    fn step(&mut self, place: &Place<'_>) -> Step {
        self.made += 1;
        let branch = format!("{}-{}", self.name, self.made);
        let files = format!("{}^{{tree}}", self.root);
        let commit = self.tree.git(&["commit-tree", "-p", &self.root, "-m", &branch, &files]);
        let change = format!("{commit}:refs/heads/{branch}");
        let mut push = self.tree.command(&["push", "-q", &place.repository(), &change]);
        let push = push.env("GIT_TERMINAL_PROMPT", "0").stderr(Stdio::null()).status();
        if push.is_ok_and(|status| status.success()) {
            self.branches.insert(branch, commit);
            Step::Done
        } else {
            self.doubt = Some((branch, commit));
            Step::Gone
        }
    }

    fn check(&mut self, place: &Place<'_>, _: &[Value]) {
        if let Some((branch, commit)) = self.doubt.take() {
            let found = self.tree.refs_at(&place.repository());
            if let Some(now) = found.get(&format!("refs/heads/{branch}")) {
                assert_eq!(*now, commit, "{branch}");
                self.branches.insert(branch, commit);
            }
        }
        self.assert_there(place);
    }

    fn check_all(&self, place: &Place<'_>, _: &[Value]) {
        self.assert_there(place);
    }
}

/// Somebody who makes and removes branches and tags without git.
pub struct Brancher {
    name: String,
    numbers: RandomNumbers,
    /// Paths below the repository, and whether there is something.
    known: BTreeMap<String, bool>,
    doubt: Option<(String, bool)>,
}

impl Brancher {
    pub fn new(name: &str, seed: u64) -> Self {
        let (known, numbers) = (BTreeMap::new(), RandomNumbers(seed));
        Self { name: name.to_owned(), numbers, known, doubt: None }
    }

    fn assert_known(&self, place: &Place<'_>) {
        for (path, is_there) in &self.known {
            let found = place.ask("GET", &format!("/projects/{YARD}/repository/{path}")).send();
            assert_eq!(found.status, if *is_there { 200 } else { 404 }, "{path}");
        }
    }
}

impl Lane for Brancher {
    fn step(&mut self, place: &Place<'_>) -> Step {
        let kind = if self.numbers.below(2) == 0 { "branches" } else { "tags" };
        let name = format!("{}-{}", self.name, self.numbers.below(4));
        let path = format!("{kind}/{name}");
        let is_there = self.known.get(&path).copied().unwrap_or(false);
        let at = |path: &str| format!("/projects/{YARD}/repository/{path}");
        let request = match (is_there, kind) {
            (true, _) => place.ask("DELETE", &at(&path)),
            (false, "branches") => {
                let form = [("branch_name", name.as_str()), ("ref", "master")];
                place.ask("POST", &at(kind)).form(&form)
            }
            (false, _) => {
                let form = [("tag_name", name.as_str()), ("ref", "master"), ("message", "sealed")];
                place.ask("POST", &at(kind)).form(&form)
            }
        };
        if send_expecting(request, &[200, 201]).is_none() {
            self.doubt = Some((path, !is_there));
            return Step::Gone;
        }
        self.known.insert(path, !is_there);
        Step::Done
    }

    fn check(&mut self, place: &Place<'_>, issues: &[Value]) {
        if let Some((path, after)) = self.doubt.take() {
            let found = place.ask("GET", &format!("/projects/{YARD}/repository/{path}")).send();
            if (found.status == 200) == after {
                self.known.insert(path, after);
            }
        }
        self.check_all(place, issues);
    }

    fn check_all(&self, place: &Place<'_>, _: &[Value]) {
        self.assert_known(place);
    }
}
