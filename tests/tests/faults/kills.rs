//! The program is killed at random times during a mixed workload.
//!
//! `HEXFORGE_TEST_FAULT_KILLS` sets the number of kills per database; the default is 2.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT, RUNNERS};
use hexforge_tests::random::number_from_env;
use hexforge_tests::{RandomNumbers, Receiver, Request, Runner, WorkTree};

use super::ci::Ci;
use super::git::{Brancher, CONFIGURATION, Pusher};
use super::people::{Admirer, People};
use super::tracker::Tracker;
use super::uploads::Uploads;
use super::worker::{SHIP, Servers, Step, Worker};

/// The timeout for hook deliveries. It is longer than the claims of a killed process last.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn nothing_acknowledged_is_lost_by_kills_on_sqlite() {
    kill_again_and_again("SQLite", &TestDatabase::sqlite());
}

#[test]
fn nothing_acknowledged_is_lost_by_kills_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        kill_again_and_again("PostgreSQL", &database);
    }
}

fn kill_again_and_again(name: &str, database: &TestDatabase) {
    let kills = number_from_env("HEXFORGE_TEST_FAULT_KILLS").unwrap_or(2);
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let receiver = Receiver::new();
    let mut server = serve(folder.path(), &database.url);
    let mut world = World::prepare(&Servers::new(&[server.address], folder.path()), &receiver);
    let mut numbers = RandomNumbers::seeded_by_time();
    let mut acknowledged = 0;
    for kill in 1..=kills {
        let (enough, later) = (5 + numbers.below(60), numbers.below(100) as u64);
        let addresses = [server.address];
        let servers = Servers::new(&addresses, folder.path());
        acknowledged += world.work(&servers, enough, Duration::from_millis(later), || {
            program::kill_now(server.pid());
        });
        server = serve(folder.path(), &database.url);
        world.check(&Servers::new(&[server.address], folder.path()));
        if kill % 10 == 0 {
            let _ =
                writeln!(std::io::stderr(), "{name}: {kill} kills, {acknowledged} acknowledged");
        }
    }
    let addresses = [server.address];
    let servers = Servers::new(&addresses, folder.path());
    world.check_all(&servers);
    world.assert_delivered(&servers, &receiver);
    let _ = writeln!(std::io::stderr(), "{name}: {kills} kills, {acknowledged} acknowledged");
}

/// Starts the program with all settings that the workload needs.
pub fn serve(data: &Path, database: &DatabaseUrl) -> Program {
    let more = [
        ("HEXFORGE_ALLOW_LOCAL_REQUESTS", "true"),
        ("HEXFORGE_HOOK_TIMEOUT", "1"),
        ("HEXFORGE_DEFAULT_PROJECTS_LIMIT", "100000"),
    ];
    let log = std::process::Stdio::inherit();
    let started = Program::start_with(&program::executable(), data, database, log, &more);
    started.expect("the program serves")
}

/// All workers of the workload, and the work tree of the first push.
pub struct World {
    trackers: Vec<Tracker>,
    others: Vec<Box<dyn Worker>>,
    admirers: Vec<String>,
    tree: WorkTree,
}

impl World {
    /// Creates two projects, a hook, a runner, a repository with a CI configuration, and a few users.
    pub fn prepare(servers: &Servers<'_>, receiver: &Receiver) -> Self {
        let post = |path: &str, form: &[(&str, &str)]| {
            servers.ask("POST", path).form(form).send().expect(201)
        };
        for name in ["ship", "yard"] {
            post("/projects", &[("name", name), ("public", "true")]);
        }
        let hooks = format!("/projects/{SHIP}/hooks");
        let url = receiver.url("/");
        post(&hooks, &[("url", &url), ("push_events", "false"), ("issues_events", "true")]);
        // The first request creates the board.
        servers.ask("GET", &format!("/projects/{SHIP}/boards")).send().expect(200);
        let tree = WorkTree::new(&servers.data.join("unused.git"));
        tree.write(".gitlab-ci.yml", CONFIGURATION).commit("Begin");
        tree.git(&["push", "-q", &servers.repository(), "master"]);
        let admirers: Vec<String> = (0..2).map(|number| a_user(servers, number)).collect();
        let runner = Runner::register(servers.address(), RUNNERS, &[]);
        let mut others: Vec<Box<dyn Worker>> = vec![
            Box::new(People::default()),
            Box::new(Uploads::default()),
            Box::new(Pusher::new("pusher", servers)),
            Box::new(Pusher::new("other", servers)),
            Box::new(Brancher::new("brancher", 3)),
            Box::new(Ci::new(runner, 4)),
        ];
        for (number, token) in admirers.iter().enumerate() {
            others.push(Box::new(Admirer::new(sailor(number), token.clone(), number as u64 + 5)));
        }
        let trackers = vec![Tracker::new("a", 1), Tracker::new("b", 2)];
        Self { trackers, others, admirers, tree }
    }

    fn workers(&mut self) -> impl Iterator<Item = &mut dyn Worker> {
        let trackers = self.trackers.iter_mut().map(|tracker| tracker as &mut dyn Worker);
        trackers.chain(self.others.iter_mut().map(|worker| &mut **worker as &mut dyn Worker))
    }

    /// Runs all workers until no server answers them, or until shortly after `end` was called. `end` is called `later`
    /// after `enough` steps were acknowledged. Returns the number of acknowledged steps.
    pub fn work(
        &mut self,
        servers: &Servers<'_>,
        enough: usize,
        later: Duration,
        end: impl FnOnce(),
    ) -> usize {
        let (done, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for worker in self.workers() {
                let (done, is_over) = (&done, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        match worker.step(servers) {
                            Step::Done => done.fetch_add(1, Ordering::Relaxed),
                            Step::Idle => 0,
                            Step::NoAnswer => break,
                        };
                    }
                });
            }
            let longest = Instant::now() + PATIENCE;
            while done.load(Ordering::Relaxed) < enough && Instant::now() < longest {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(later);
            end();
            std::thread::sleep(Duration::from_millis(50));
            is_over.store(true, Ordering::Relaxed);
        });
        done.into_inner()
    }

    /// Checks that everything acknowledged since the last check exists, nothing is incomplete, and all counters are
    /// right.
    pub fn check(&mut self, servers: &Servers<'_>) {
        let issues = self.recount(servers);
        self.workers().for_each(|worker| worker.check(servers, &issues));
        self.assert_repositories_are_sound(servers);
    }

    /// The same for everything that was ever acknowledged.
    pub fn check_all(&mut self, servers: &Servers<'_>) {
        let issues = self.recount(servers);
        self.workers().for_each(|worker| worker.check_all(servers, &issues));
        self.assert_repositories_are_sound(servers);
    }

    fn recount(&self, servers: &Servers<'_>) -> Vec<serde_json::Value> {
        let auditor = servers.auditor();
        let issues = auditor.assert_counts(SHIP);
        let mut numbers: Vec<i64> =
            issues.iter().map(|issue| issue["iid"].as_i64().expect("a number")).collect();
        numbers.sort_unstable();
        // No issue was removed, so the numbers have no gaps.
        let count = i64::try_from(numbers.len()).expect("few issues");
        assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
        auditor.assert_positions(&format!("/projects/{SHIP}/boards/1/lists"));
        auditor.assert_stars_and_forks(&self.admirers);
        issues
    }

    fn assert_repositories_are_sound(&self, servers: &Servers<'_>) {
        self.tree.assert_sound_at(&servers.repository());
        for repository in repositories(&servers.data.join("repositories")) {
            let path = repository.display().to_string();
            let fsck = ["--git-dir", &path, "fsck", "--strict", "--connectivity-only"];
            let found = self.tree.command(&fsck).output().expect("git can be started");
            // A fork may be removed meanwhile.
            let text = String::from_utf8_lossy(&found.stderr);
            assert!(found.status.success() || !repository.exists(), "{path}: {text}");
        }
    }

    /// Waits until the hook got every issue, repeated ones with the same key, and no delivery is queued.
    pub fn assert_delivered(&self, servers: &Servers<'_>, receiver: &Receiver) {
        let mut missing: BTreeSet<&String> =
            self.trackers.iter().flat_map(Tracker::titles).collect();
        let end = Instant::now() + PATIENCE;
        loop {
            for received in receiver.take() {
                let title =
                    received.json()["object_attributes"]["title"].as_str().map(str::to_owned);
                title.map(|title| missing.remove(&title));
            }
            if missing.is_empty() && is_nothing_waiting(servers.address()) {
                return;
            }
            assert!(Instant::now() < end, "not delivered: {missing:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// All repositories below a folder.
fn repositories(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    let is_repository = |path: &Path| path.extension().is_some_and(|end| end == "git");
    folders
        .flat_map(|path| if is_repository(&path) { vec![path] } else { repositories(&path) })
        .collect()
}

/// Whether the outbox and all queues of hooks are empty.
fn is_nothing_waiting(address: SocketAddr) -> bool {
    let metrics = Request::new(address, "GET", "/-/metrics").send();
    let waiting = |name: &str| {
        let line = metrics.text().lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("no {name}")).ends_with(" 0")
    };
    waiting("hexforge_hook_events_waiting") && waiting("hexforge_hook_deliveries_waiting")
}

fn sailor(number: usize) -> String {
    format!("sailor-{number}")
}

/// Creates a user, and returns its token.
fn a_user(servers: &Servers<'_>, number: usize) -> String {
    let name = sailor(number);
    let email = format!("{name}@example.com");
    let form = [
        ("username", name.as_str()),
        ("name", &name),
        ("email", &email),
        ("password", "correct horse"),
    ];
    servers.ask("POST", "/users").token(ROOT).form(&form).send().expect(201);
    let form = [("login", name.as_str()), ("password", "correct horse")];
    let session = Request::new(servers.address(), "POST", "/api/v3/session").form(&form).send();
    session.expect(201)["private_token"].as_str().expect("a token").to_owned()
}
