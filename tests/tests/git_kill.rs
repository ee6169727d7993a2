//! The program is killed at random times during pushes over HTTP and SSH. After the restart, pushes that git reported
//! as done exist with their events, and no push is partial. With three machines and an object store, one machine is
//! killed at a time, and the others go on.
//!
//! `HEXFORGE_KILLS` sets the number of kills per database.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::WorkTree;
use hexforge_tests::installation::Installation;
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::ssh_client::Identity;
use serde_json::Value;

/// The number of concurrent clients. Every second one uses SSH.
const LANES: usize = 4;

#[test]
fn nothing_is_lost_or_half_there_on_sqlite() {
    kill_again_and_again(&TestDatabase::sqlite(), Installation::single);
}

#[test]
fn nothing_is_lost_or_half_there_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        kill_again_and_again(&database, Installation::single);
    }
}

#[test]
fn nothing_is_lost_or_half_there_on_three_machines() {
    if let Some(database) = TestDatabase::postgres() {
        kill_again_and_again(&database, |database, data| Installation::machines(database, data, 3));
    }
}

fn kills() -> u64 {
    std::env::var("HEXFORGE_KILLS").ok().and_then(|number| number.parse().ok()).unwrap_or(4)
}

/// A push of two refs with `--atomic`.
#[derive(Clone, Debug)]
struct Push {
    lane: usize,
    number: usize,
    commit: String,
    is_acknowledged: bool,
}

impl Push {
    fn own(&self) -> String {
        format!("own-{}-{}", self.lane, self.number)
    }

    fn shared(&self) -> String {
        format!("lane-{}", self.lane)
    }
}

fn kill_again_and_again(
    database: &TestDatabase,
    install: impl FnOnce(&TestDatabase, &Path) -> Installation,
) {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let installation = install(database, &folder.path().join("data"));
    let machines = installation.machine_count();
    let mut servers: Vec<Program> =
        (0..machines).map(|machine| installation.start(machine)).collect();
    let server = &servers[0];
    let key = Identity::new();
    let fields = [("title", "laptop"), ("key", &key.public())];
    server.request("POST", "/user/keys").token(ROOT).form(&fields).send().expect(201);
    let fields = [("name", "ship")];
    server.request("POST", "/projects").token(ROOT).form(&fields).send().expect(201);
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    let first = tree.write("README", "hello\n").commit("Begin\n");
    let to_master = ["push", "-q", &http(server), "master"].map(str::to_owned);
    assert!(run(&tree, &key, server, &to_master), "the first push is taken");
    let mut pushes: Vec<Push> = Vec::new();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..kills() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Some pushes succeed, and the kill happens during later ones.
        let end = End { acknowledged: (random % 6) as usize, later: (random >> 8) % 250 };
        let victim = (random >> 16) as usize % machines;
        pushes.extend(push_until_killed(&mut servers, victim, &tree, &key, &first, &pushes, end));
        servers[victim] = installation.start(victim);
        check(&servers[round as usize % machines], &tree, &pushes, round);
    }
    let acknowledged = pushes.iter().filter(|push| push.is_acknowledged).count();
    let count = format!("{} kills, {} pushes, {acknowledged} acknowledged", kills(), pushes.len());
    let _ = writeln!(std::io::stderr(), "{count}");
    assert!(acknowledged > 0, "some came through");
}

fn http(server: &Program) -> String {
    format!("http://root:{ROOT}@{}/root/ship.git", server.address)
}

fn run(tree: &WorkTree, key: &Identity, server: &Program, arguments: &[String]) -> bool {
    command(tree, key, server, arguments).status().is_ok_and(|status| status.success())
}

fn command(tree: &WorkTree, key: &Identity, server: &Program, arguments: &[String]) -> Command {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = tree.command(&arguments);
    command.env("GIT_SSH_COMMAND", key.git_ssh_command(server.ssh.expect("it serves SSH")));
    command.env("GIT_TERMINAL_PROMPT", "0").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The program is killed this number of milliseconds after this number of acknowledged pushes.
#[derive(Clone, Copy)]
struct End {
    acknowledged: usize,
    later: u64,
}

/// Pushes in all lanes, each to one server, until one of the servers is killed.
fn push_until_killed(
    servers: &mut [Program],
    victim: usize,
    tree: &WorkTree,
    key: &Identity,
    first: &str,
    before: &[Push],
    end: End,
) -> Vec<Push> {
    let (is_over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let root = format!("{first}^{{tree}}");
    let lanes: Vec<(usize, Vec<Push>, Command)> = (0..LANES)
        .map(|lane| {
            let mine = before.iter().filter(|push| push.lane == lane).cloned().collect();
            let server = &servers[lane % servers.len()];
            let address = if lane % 2 == 0 {
                http(server)
            } else {
                format!("ssh://git@{}/root/ship.git", server.ssh.expect("it serves SSH"))
            };
            let push = ["push", "-q", "--atomic", &address].map(str::to_owned);
            (lane, mine, command(tree, key, server, &push))
        })
        .collect();
    // All objects are created first, so that the kill happens during a push.
    let lanes: Vec<(Command, Vec<Push>)> = lanes
        .into_iter()
        .map(|(lane, mine, command)| {
            let mut parent = mine.last().map_or(first.to_owned(), |push| push.commit.clone());
            let begin = mine.len();
            let pushes = (begin..begin + 12).map(|number| {
                let message = format!("{lane} {number}");
                parent = tree.git(&["commit-tree", "-p", &parent, "-m", &message, &root]);
                Push { lane, number, commit: parent.clone(), is_acknowledged: false }
            });
            (command, pushes.collect())
        })
        .collect();
    let mut made = std::thread::scope(|scope| {
        let lanes: Vec<_> = lanes
            .into_iter()
            .map(|(template, pushes)| {
                let (is_over, done) = (&is_over, &done);
                scope.spawn(move || {
                    let mut tried = Vec::new();
                    for mut push in pushes {
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        let mut command = again(&template);
                        for name in [push.own(), push.shared()] {
                            command.arg(format!("{}:refs/heads/{name}", push.commit));
                        }
                        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
                        push.is_acknowledged = status.is_ok_and(|status| status.success());
                        done.fetch_add(usize::from(push.is_acknowledged), Ordering::Relaxed);
                        tried.push(push);
                    }
                    tried
                })
            })
            .collect();
        for _ in 0..30_000 {
            if done.load(Ordering::Relaxed) >= end.acknowledged {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(end.later));
        servers[victim].kill().expect("a running process can be killed");
        is_over.store(true, Ordering::Relaxed);
        let lanes = lanes.into_iter();
        lanes.flat_map(|lane| lane.join().expect("no thread panics")).collect::<Vec<Push>>()
    });
    made.sort_by_key(|push| (push.lane, push.number));
    made
}

/// A copy of a command, to run it again.
fn again(template: &Command) -> Command {
    let mut command = Command::new(template.get_program());
    command.args(template.get_args()).env_clear().stdin(Stdio::null());
    if let Some(folder) = template.get_current_dir() {
        command.current_dir(folder);
    }
    for (name, value) in template.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

fn check(server: &Program, tree: &WorkTree, pushes: &[Push], round: u64) {
    tree.assert_sound_at(&http(server));
    let refs = tree.refs_at(&http(server));
    let short = |name: &String| name.strip_prefix("refs/heads/").map(str::to_owned);
    let branches: BTreeMap<String, String> =
        refs.into_iter().filter_map(|(name, id)| Some((short(&name)?, id))).collect();
    let mut expected: BTreeSet<(String, String)> = BTreeSet::new();
    for lane in 0..LANES {
        let mut tip = None;
        for push in pushes.iter().filter(|push| push.lane == lane) {
            let own = branches.get(push.own().as_str()).map(String::as_str);
            if push.is_acknowledged {
                assert_eq!(own, Some(push.commit.as_str()), "round {round}: {push:?} is lost");
            }
            if let Some(own) = own {
                assert_eq!(own, push.commit, "round {round}: {push:?}");
                tip = Some(push.commit.as_str());
                expected.insert((format!("refs/heads/{}", push.own()), push.commit.clone()));
                expected.insert((format!("refs/heads/{}", push.shared()), push.commit.clone()));
            }
        }
        let shared = branches.get(format!("lane-{lane}").as_str()).map(String::as_str);
        assert_eq!(shared, tip, "round {round}: lane {lane} is half there");
    }
    // Each change has exactly one event.
    let mut told = events(server);
    told.sort();
    assert_eq!(told, expected.into_iter().collect::<Vec<_>>(), "round {round}");
}

/// The refs in the events of the feed, with their new values.
fn events(server: &Program) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for page in 1.. {
        let path = format!("/projects/1/events?per_page=100&page={page}");
        let list = server.request("GET", &path).token(ROOT).send().expect(200);
        let list = list.as_array().expect("a list").clone();
        if list.is_empty() {
            break;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let told = list.iter().filter(|event| !event["data"].is_null());
        all.extend(told.map(|event| (text(&event["data"]["ref"]), text(&event["data"]["after"]))));
    }
    all.retain(|(name, _)| name != "refs/heads/master");
    all
}
