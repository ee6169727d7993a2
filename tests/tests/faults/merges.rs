//! The program is killed while merge requests are merged and files are committed over the API. After the restart, a
//! merge request is merged exactly if its target branch has its head, each change of a branch has its event, and
//! everything that was acknowledged exists.
//!
//! `HEXFORGE_KILLS` sets the number of kills per database.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::random::number_from_env;
use hexforge_tests::{RandomNumbers, WorkTree};
use serde_json::Value;

/// The number of clients that merge. One more commits files to the target branch.
const LANES: usize = 3;

/// The time in which background work ends after a restart. A task that was interrupted waits for a minute.
const SETTLED_WITHIN: Duration = Duration::from_secs(150);

#[test]
fn merges_are_done_or_not_done_on_sqlite() {
    kill_again_and_again(&TestDatabase::sqlite());
}

#[test]
fn merges_are_done_or_not_done_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        kill_again_and_again(&database);
    }
}

/// What the server acknowledged.
#[derive(Debug, Default)]
struct Acknowledged {
    /// Files in the target branch.
    files: BTreeSet<String>,
    /// Ids of merged requests.
    merged: BTreeSet<i64>,
    /// Source branches that were removed with the merge.
    removed: BTreeSet<String>,
}

impl Acknowledged {
    fn add(&mut self, other: Self) {
        self.files.extend(other.files);
        self.merged.extend(other.merged);
        self.removed.extend(other.removed);
    }
}

fn kill_again_and_again(database: &TestDatabase) {
    let (executable, kills) =
        (program::executable(), number_from_env("HEXFORGE_KILLS").unwrap_or(3));
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let data = folder.path().join("data");
    let start = || Program::start(&executable, &data, &database.url).expect("it serves");
    let mut server = start();
    server.request("POST", "/projects").token(ROOT).form(&[("name", "ship")]).send().expect(201);
    assert!(commit(&server, "master", "README"));
    let mut all = Acknowledged::default();
    let mut random = RandomNumbers(20_261_118);
    for round in 0..kills {
        let (merges, milliseconds) = (1 + random.below(4), random.below(120) as u64);
        all.add(work_until_killed(&mut server, round, (merges, milliseconds)));
        server = start();
        check(&server, &all, round);
    }
    check_settled(&server, &all);
    let line = format!("{kills} kills, {} merges, {} files", all.merged.len(), all.files.len());
    let _ = writeln!(std::io::stderr(), "{line}");
    assert!(!all.merged.is_empty() && !all.files.is_empty(), "some were acknowledged");
}

/// Creates a file with a commit. Returns whether the server acknowledged it.
fn commit(server: &Program, branch: &str, path: &str) -> bool {
    let fields =
        [("file_path", path), ("branch_name", branch), ("content", path), ("commit_message", path)];
    post(server, "/projects/1/repository/files", &fields).is_some()
}

/// Returns the body of a successful answer. New branches are answered with 200.
fn post(server: &Program, path: &str, fields: &[(&str, &str)]) -> Option<Value> {
    let response = server.request("POST", path).token(ROOT).form(fields).try_send()?;
    matches!(response.status, 200 | 201).then(|| response.json())
}

/// Merges and commits until the server is killed, some milliseconds after a number of acknowledged merges.
fn work_until_killed(
    server: &mut Program,
    round: usize,
    (merges, milliseconds): (usize, u64),
) -> Acknowledged {
    let (is_over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut all = Acknowledged::default();
    thread::scope(|scope| {
        let running = &*server;
        let go_on = || !is_over.load(Ordering::Relaxed);
        let done = &done;
        let mut lanes: Vec<_> = (0..LANES)
            .map(|lane| scope.spawn(move || merge_while(running, (round, lane), go_on, done)))
            .collect();
        lanes.push(scope.spawn(move || {
            let paths = (0..).map(|number| format!("direct-{round}-{number}"));
            let files =
                paths.take_while(|_| go_on()).filter(|path| commit(running, "master", path));
            Acknowledged { files: files.collect(), ..Acknowledged::default() }
        }));
        let begun = Instant::now();
        while done.load(Ordering::Relaxed) < merges && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(milliseconds));
        running.send_kill_signal().expect("a running process can be killed");
        is_over.store(true, Ordering::Relaxed);
        for lane in lanes {
            all.add(lane.join().expect("no thread panics"));
        }
    });
    server.kill().expect("a killed process can be waited for");
    all
}

/// Makes a branch with a commit and a merge request, and merges it, again and again. Every second merge removes the
/// branch.
fn merge_while(
    server: &Program,
    (round, lane): (usize, usize),
    go_on: impl Fn() -> bool,
    done: &AtomicUsize,
) -> Acknowledged {
    let mut all = Acknowledged::default();
    for number in (0..).take_while(|_| go_on()) {
        let name = format!("topic-{round}-{lane}-{number}");
        let branch = [("branch_name", name.as_str()), ("ref", "master")];
        if post(server, "/projects/1/repository/branches", &branch).is_none()
            || !commit(server, &name, &name)
        {
            continue;
        }
        let fields =
            [("title", name.as_str()), ("source_branch", &name), ("target_branch", "master")];
        let Some(request) = post(server, "/projects/1/merge_requests", &fields) else { continue };
        let id = request["id"].as_i64().expect("an id");
        let removes = number % 2 == 0;
        let wishes = [("should_remove_source_branch", if removes { "true" } else { "false" })];
        let path = format!("/projects/1/merge_requests/{id}/merge");
        let answer = server.request("PUT", &path).token(ROOT).form(&wishes).try_send();
        if answer.is_some_and(|answer| answer.status == 200) {
            done.fetch_add(1, Ordering::Relaxed);
            all.merged.insert(id);
            all.files.insert(name.clone());
            if removes {
                all.removed.insert(name);
            }
        }
    }
    all
}

/// The state of the repository after a restart.
struct Found {
    tree: WorkTree,
    branches: BTreeMap<String, String>,
    requests: Vec<Value>,
    events: Vec<Value>,
}

impl Found {
    fn read(server: &Program) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let tree = WorkTree::new(&folder.path().join("unused.git"));
        let address = format!("http://root:{ROOT}@{}/root/ship.git", server.address);
        tree.assert_sound_at(&address);
        let fetched = "+refs/heads/*:refs/heads/*";
        let heads = "+refs/merge-requests/*:refs/merge-requests/*";
        tree.git(&["fetch", "-q", "--update-head-ok", &address, fetched, heads]);
        let branches = tree.refs_at(&address);
        let requests = list(server, "/projects/1/merge_requests?state=all");
        let events = list(server, "/projects/1/events?");
        Self { tree, branches, requests, events }
    }

    /// Returns whether the target branch has a commit.
    fn is_merged(&self, commit: &str) -> bool {
        let known = ["merge-base", "--is-ancestor", commit, "refs/heads/master"];
        self.tree.command(&known).status().is_ok_and(|status| status.success())
    }
}

/// All pages of a list.
fn list(server: &Program, path: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for page in 1.. {
        let path = format!("{path}&per_page=100&page={page}");
        let rows = server.request("GET", &path).token(ROOT).send().expect(200);
        let rows = rows.as_array().expect("a list");
        if rows.is_empty() {
            break;
        }
        all.extend(rows.iter().cloned());
    }
    all
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn check(server: &Program, all: &Acknowledged, round: usize) {
    let found = Found::read(server);
    for request in &found.requests {
        let head = text(&request["sha"]);
        let is_merged = request["state"] == "merged";
        assert_eq!(is_merged, found.is_merged(head), "round {round}: {request}");
        let head_ref = format!("refs/merge-requests/{}/head", request["iid"]);
        assert_eq!(found.tree.git(&["rev-parse", &head_ref]), head, "round {round}: {request}");
        if is_merged {
            let merge_commit = text(&request["merge_commit_sha"]);
            assert!(found.is_merged(merge_commit), "round {round}: {request}");
            let second = found.tree.git(&["rev-parse", &format!("{merge_commit}^2")]);
            assert_eq!(second, head, "round {round}: {request}");
        }
    }
    let is_merged = |request: &&Value| request["state"] == "merged";
    let ids = |requests: &mut dyn Iterator<Item = &Value>, field: &str| -> Vec<i64> {
        let mut ids: Vec<i64> = requests.filter_map(|one| one[field].as_i64()).collect();
        ids.sort_unstable();
        ids
    };
    let merged = ids(&mut found.requests.iter().filter(is_merged), "id");
    let is_accepted = |event: &&Value| event["action_name"] == "accepted";
    let accepted = ids(&mut found.events.iter().filter(is_accepted), "target_id");
    assert_eq!(merged, accepted, "round {round}: one event for each merge");
    let lost: Vec<&i64> = all.merged.iter().filter(|id| !merged.contains(id)).collect();
    assert!(lost.is_empty(), "round {round}: merges {lost:?} are lost");
    let files = found.tree.git(&["ls-tree", "-r", "--name-only", "refs/heads/master"]);
    let files: BTreeSet<&str> = files.lines().collect();
    let lost: Vec<&String> =
        all.files.iter().filter(|file| !files.contains(file.as_str())).collect();
    assert!(lost.is_empty(), "round {round}: files {lost:?} are lost");
    check_events(&found, round);
}

/// Each branch is where its events lead: every change has one event, and every event its change.
fn check_events(found: &Found, round: usize) {
    let mut told: BTreeMap<&str, &str> = BTreeMap::new();
    let zero = "0".repeat(40);
    // The list begins with the newest.
    for data in found.events.iter().rev().map(|event| &event["data"]).filter(|one| !one.is_null()) {
        let (name, before, after) =
            (text(&data["ref"]), text(&data["before"]), text(&data["after"]));
        let known = told.get(name).copied().unwrap_or(&zero);
        assert_eq!(known, before, "round {round}: a change of {name} has no event");
        told.insert(name, after);
    }
    told.retain(|_, tip| *tip != zero);
    let branches = found.branches.iter().filter(|(name, _)| name.starts_with("refs/heads/"));
    let branches: BTreeMap<&str, &str> =
        branches.map(|(name, tip)| (name.as_str(), tip.as_str())).collect();
    assert_eq!(branches, told, "round {round}");
}

/// Waits until the queued work is done: the source branches of all merges that asked for it are gone, and open requests
/// have the tips of their branches.
fn check_settled(server: &Program, all: &Acknowledged) {
    let begun = Instant::now();
    loop {
        let found = Found::read(server);
        let full = |name: &str| format!("refs/heads/{name}");
        let left = all.removed.iter().filter(|name| found.branches.contains_key(&full(name)));
        let mut left: Vec<String> = left.cloned().collect();
        for request in found.requests.iter().filter(|request| request["state"] == "opened") {
            let tip = found.branches.get(&full(text(&request["source_branch"])));
            if tip.map(String::as_str) != request["sha"].as_str() {
                left.push(request.to_string());
            }
        }
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < SETTLED_WITHIN, "still to be done: {left:?}");
        thread::sleep(Duration::from_secs(1));
    }
}
