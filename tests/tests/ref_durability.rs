//! Branches, tags and releases that were acknowledged survive repeated kills of the program. Unacknowledged changes
//! exist completely or not at all, and do not block later changes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::{Request, WorkTree};
use serde_json::Value;

/// The number of kills, unless `HEXFORGE_TEST_KILLS` is set.
const KILLS: usize = 8;
/// The repositories, and the number of concurrent lanes per repository.
const PROJECTS: [i64; 2] = [1, 2];
const LANES: usize = 2;
/// The number of branches, and of tags, per lane.
const SLOTS: usize = 5;

#[test]
fn refs_acknowledged_before_a_kill_are_there_after_it_on_sqlite() {
    acknowledged_refs_survive_kills("SQLite", &TestDatabase::sqlite());
}

#[test]
fn refs_acknowledged_before_a_kill_are_there_after_it_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        acknowledged_refs_survive_kills("PostgreSQL", &database);
    }
}

#[allow(clippy::print_stderr, reason = "how much was tried is part of what is shown")]
fn acknowledged_refs_survive_kills(name: &str, database: &TestDatabase) {
    let kills = std::env::var("HEXFORGE_TEST_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills: usize = kills.unwrap_or(KILLS);
    let program = program::executable();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let mut server = Program::start(&program, folder.path(), &database.url).expect("it serves");
    let tree = a_tree(folder.path());
    for project in PROJECTS {
        a_project(&server, &tree, project);
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut lanes: Vec<Lane> = PROJECTS
        .iter()
        .flat_map(|&project| (0..LANES).map(move |lane| (project, lane)))
        .map(|(project, lane)| {
            let commits = tree.git(&["rev-list", "master"]);
            Lane {
                project,
                refs: slots(lane).into_iter().map(|name| (name, State::Absent)).collect(),
                doubt: None,
                commits: commits.lines().map(str::to_owned).collect(),
                random: Random(random.next()),
            }
        })
        .collect();
    let (mut acknowledged, mut doubtful) = (0, 0);
    for kill in 0..kills {
        acknowledged += change_until_killed(&mut server, &mut lanes, &mut random);
        doubtful += lanes.iter().filter(|lane| lane.doubt.is_some()).count();
        server = Program::start(&program, folder.path(), &database.url).expect("it serves again");
        for lane in &lanes {
            lane.check_acknowledged(&read_refs(&server, lane.project), kill);
        }
        for lane in &mut lanes {
            lane.check_all(&read_refs(&server, lane.project), kill);
        }
        for project in PROJECTS {
            tree.assert_sound_at(&address(&server, project));
        }
    }
    eprintln!("{name}: {kills} kills, {acknowledged} acknowledged, {doubtful} interrupted");
}

/// Creates a work tree with a few commits.
fn a_tree(folder: &Path) -> WorkTree {
    let tree = WorkTree::new(&folder.join("unused.git"));
    for number in 0..4 {
        tree.write("README", format!("{number}\n")).commit(&format!("Number {number}"));
    }
    tree
}

/// Creates a project with these commits.
fn a_project(server: &Program, tree: &WorkTree, project: i64) {
    let name = format!("ship-{project}");
    let made =
        server.request("POST", "/projects").token(ROOT).form(&[("name", &name)]).send().expect(201);
    assert_eq!(made["id"], project);
    tree.git(&["push", "-q", &address(server, project), "master"]);
}

fn address(server: &Program, project: i64) -> String {
    format!("http://root:{ROOT}@{}/root/ship-{project}.git", server.address)
}

/// The full names of the refs that one lane changes.
fn slots(lane: usize) -> Vec<String> {
    let kinds = ["refs/heads", "refs/tags"];
    let names = kinds.iter().flat_map(|kind| (0..SLOTS).map(move |slot| (kind, slot)));
    names.map(|(kind, slot)| format!("{kind}/lane-{lane}/{slot}")).collect()
}

/// The state of a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Absent,
    Branch { commit: String },
    Tag { commit: String, message: Option<String>, release: Option<String> },
}

/// A client that changes refs that no other client changes.
struct Lane {
    project: i64,
    refs: BTreeMap<String, State>,
    /// The last change, which was requested but not acknowledged.
    doubt: Option<(String, State)>,
    commits: Vec<String>,
    random: Random,
}

impl Lane {
    /// Makes changes until the server is killed.
    fn work(&mut self, server: &Program, done: &AtomicUsize) {
        loop {
            let (name, request, after) = self.step(server);
            let Some(answer) = request.try_send() else {
                self.doubt = Some((name, after));
                return;
            };
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            assert!((200..300).contains(&answer.status), "{name}: {} {text}", answer.status);
            self.refs.insert(name, after);
            done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The next change: the ref, the request, and the state of the ref after it.
    fn step(&mut self, server: &Program) -> (String, Request, State) {
        let number = self.random.below(self.refs.len());
        let (full, state) = self.refs.iter().nth(number).expect("it is below their number");
        let (full, state) = (full.clone(), state.clone());
        let commit = self.commits[self.random.below(self.commits.len())].clone();
        let text = format!("text {}\n\nand more", self.random.next());
        let chance = self.random.below(4);
        let ask = |method: &str, path: &str| {
            let path = format!("/projects/{}/repository/{path}", self.project);
            server.request(method, &path).token(ROOT)
        };
        let (request, after) = match (full.strip_prefix("refs/heads/"), state) {
            (Some(name), State::Absent) => (
                ask("POST", "branches").form(&[("branch_name", name), ("ref", &commit)]),
                State::Branch { commit },
            ),
            (Some(name), _) => (ask("DELETE", &format!("branches/{name}")), State::Absent),
            (None, state) => {
                let name = full.strip_prefix("refs/tags/").expect("it is no branch");
                let release = format!("tags/{name}/release");
                let released = |method: &str, commit, message| {
                    let request = ask(method, &release).form(&[("description", &text)]);
                    (request, State::Tag { commit, message, release: Some(text.clone()) })
                };
                match (state, chance) {
                    (State::Tag { commit, message, release: None }, 0 | 1) => {
                        released("POST", commit, message)
                    }
                    (State::Tag { commit, message, release: Some(_) }, 0 | 1) => {
                        released("PUT", commit, message)
                    }
                    (State::Tag { .. }, _) => {
                        (ask("DELETE", &format!("tags/{name}")), State::Absent)
                    }
                    (State::Absent | State::Branch { .. }, chance) => {
                        let message = (chance % 2 == 0).then(|| text.clone());
                        let release = (chance > 1).then(|| text.clone());
                        let mut form = vec![("tag_name", name), ("ref", &commit)];
                        form.extend(message.as_deref().map(|text| ("message", text)));
                        form.extend(release.as_deref().map(|text| ("release_description", text)));
                        let request = ask("POST", "tags").form(&form);
                        (request, State::Tag { commit, message, release })
                    }
                }
            }
        };
        (full, request, after)
    }

    /// Checks all acknowledged changes.
    fn check_acknowledged(&self, found: &BTreeMap<String, State>, kill: usize) {
        let doubtful = self.doubt.as_ref().map(|(name, _)| name);
        for (name, state) in self.refs.iter().filter(|(name, _)| Some(*name) != doubtful) {
            assert_eq!(state_of(found, name), state, "{name} after kill {kill}");
        }
    }

    /// Checks all refs, and adopts the state of the unacknowledged one, which must be the old or the new state.
    fn check_all(&mut self, found: &BTreeMap<String, State>, kill: usize) {
        if let Some((name, after)) = self.doubt.take()
            && state_of(found, &name) == &after
        {
            self.refs.insert(name, after);
        }
        self.check_acknowledged(found, kill);
    }
}

fn state_of<'a>(found: &'a BTreeMap<String, State>, name: &str) -> &'a State {
    found.get(name).unwrap_or(&State::Absent)
}

fn change_until_killed(server: &mut Program, lanes: &mut [Lane], random: &mut Random) -> usize {
    let done = AtomicUsize::new(0);
    let enough = random.below(6);
    let pause = Duration::from_micros(random.below(30_000) as u64);
    std::thread::scope(|scope| {
        let shared = &*server;
        let done = &done;
        let workers: Vec<_> =
            lanes.iter_mut().map(|lane| scope.spawn(|| lane.work(shared, done))).collect();
        while done.load(Ordering::Relaxed) < enough
            && !workers.iter().any(std::thread::ScopedJoinHandle::is_finished)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(pause);
        program::kill_now(shared.pid());
        workers.into_iter().for_each(|worker| worker.join().expect("all answers were good"));
    });
    server.kill().expect("a process that ended can be waited for");
    done.into_inner()
}

/// All refs of a project except `master`, as the API shows them.
fn read_refs(server: &Program, project: i64) -> BTreeMap<String, State> {
    let mut found = BTreeMap::new();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let commit = |one: &Value| text(&one["commit"]["id"]).expect("a commit has a name");
    for kind in ["branches", "tags"] {
        let path = format!("/projects/{project}/repository/{kind}?per_page=100");
        let list = server.request("GET", &path).token(ROOT).send().expect(200);
        for one in list.as_array().expect("a list") {
            let name = one["name"].as_str().expect("refs have names");
            let (full, state) = match kind {
                "branches" => (format!("refs/heads/{name}"), State::Branch { commit: commit(one) }),
                _ => {
                    let (message, release) = (text(&one["message"]), &one["release"]);
                    let release = text(&release["description"]);
                    let state = State::Tag { commit: commit(one), message, release };
                    (format!("refs/tags/{name}"), state)
                }
            };
            found.insert(full, state);
        }
    }
    found.remove("refs/heads/master").expect("it was never touched");
    found
}

/// A pseudo-random generator with a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }
}
