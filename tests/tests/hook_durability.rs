//! Every event of an acknowledged call arrives at every hook, in spite of kills and with several processes.
//!
//! `HEXFORGE_TEST_DELIVERIES=full` runs 5,000 deliveries and more kills.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::{Receiver, Request};

/// The size of a test.
struct Extent {
    issues: usize,
    hooks: usize,
    kills: usize,
}

fn extent() -> Extent {
    match std::env::var("HEXFORGE_TEST_DELIVERIES").as_deref() {
        Ok("full") => Extent { issues: 500, hooks: 10, kills: 8 },
        _ => Extent { issues: 60, hooks: 4, kills: 2 },
    }
}

/// The timeout for deliveries. It is far longer than the claim of a killed process lasts (45 s at most).
const PATIENCE: Duration = Duration::from_secs(150);

#[test]
fn every_acknowledged_event_arrives_through_kills_on_sqlite() {
    everything_arrives_through_kills(&TestDatabase::sqlite());
}

#[test]
fn every_acknowledged_event_arrives_through_kills_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        everything_arrives_through_kills(&database);
    }
}

fn everything_arrives_through_kills(database: &TestDatabase) {
    let Extent { issues, hooks, kills } = extent();
    let program = program::executable();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let start =
        || Program::start_with_hooks(&program, folder.path(), &database.url).expect("it serves");
    let mut server = start();
    let receivers = hooked_project(&server, hooks);
    let address = Mutex::new(server.address);
    let made = AtomicUsize::new(0);
    let acknowledged = std::thread::scope(|scope| {
        let writer =
            scope.spawn(|| write_issues(issues, &made, || *address.lock().expect("no panic")));
        for kill in 1..=kills {
            // The kill happens at a random time.
            while made.load(Ordering::Relaxed) < issues * kill / (kills + 1) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(some_millis(50)));
            server.kill().expect("a running process can be killed");
            server = start();
            *address.lock().expect("no panic") = server.address;
        }
        writer.join().expect("no panic")
    });
    assert_eq!(acknowledged.len(), issues);
    let duplicates = assert_all_arrive(&receivers, &acknowledged);
    let all = acknowledged.len() * hooks;
    // Each kill repeats the deliveries that were in flight, which are more on a busy machine.
    assert!(duplicates < all, "{duplicates} duplicates of {all}");
}

#[test]
fn two_processes_share_the_queue_and_one_takes_over_from_the_other() {
    let Some(database) = TestDatabase::postgres() else { return };
    let Extent { issues, hooks, .. } = extent();
    let program = program::executable();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    // A receiver that is merely slow, as on a busy machine, does not get a delivery twice.
    let more = [("HEXFORGE_ALLOW_LOCAL_REQUESTS", "true"), ("HEXFORGE_HOOK_TIMEOUT", "15")];
    let start = || {
        let (folder, url) = (folder.path(), &database.url);
        Program::start_with(&program, folder, url, Stdio::inherit(), &more).expect("it serves")
    };
    let (mut one, two) = (start(), start());
    let receivers = hooked_project(&one, hooks);
    let turn = AtomicUsize::new(0);
    let made = AtomicUsize::new(0);
    let both = [one.address, two.address];
    let acknowledged =
        write_issues(issues, &made, || both[turn.fetch_add(1, Ordering::Relaxed) % 2]);
    assert_eq!(acknowledged.len(), issues);
    assert_eq!(assert_all_arrive(&receivers, &acknowledged), 0, "nothing twice while both live");
    // One process is killed, and the other takes over its deliveries.
    made.store(0, Ordering::Relaxed);
    let address = two.address;
    let more = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_issues(issues, &made, || address));
        while made.load(Ordering::Relaxed) < issues / 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        one.kill().expect("a running process can be killed");
        writer.join().expect("no panic")
    });
    assert_eq!(more.len(), issues);
    assert_all_arrive(&receivers, &more);
}

/// A project of root's with hooks for issues.
fn hooked_project(server: &Program, hooks: usize) -> Vec<Receiver> {
    let post = |path: &str, form: &[(&str, &str)]| {
        server.request("POST", path).token(ROOT).form(form).send().expect(201)
    };
    post("/projects", &[("name", "ship")]);
    let receivers: Vec<Receiver> = (0..hooks).map(|_| Receiver::new()).collect();
    for receiver in &receivers {
        let url = receiver.url("/");
        post("/projects/1/hooks", &[("url", &url), ("issues_events", "true")]);
    }
    receivers
}

/// Creates issues on four threads, each on the server that `address` returns. Returns the acknowledged titles.
fn write_issues(
    count: usize,
    made: &AtomicUsize,
    address: impl Fn() -> SocketAddr + Sync,
) -> BTreeSet<String> {
    static ROUND: AtomicUsize = AtomicUsize::new(0);
    let round = ROUND.fetch_add(1, Ordering::Relaxed);
    let (acknowledged, end) = (Mutex::new(BTreeSet::new()), Instant::now() + PATIENCE);
    std::thread::scope(|scope| {
        for lane in 0..4 {
            let (acknowledged, address) = (&acknowledged, &address);
            scope.spawn(move || {
                for number in (lane..count).step_by(4) {
                    // An issue without an answer may exist nevertheless, so the next try has another title.
                    for attempt in 0.. {
                        let title = format!("issue {round}-{number}-{attempt}");
                        let request = Request::new(address(), "POST", "/api/v3/projects/1/issues")
                            .token(ROOT)
                            .form(&[("title", &title)]);
                        if request.try_send().is_some_and(|answer| answer.status == 201) {
                            acknowledged.lock().expect("no panic").insert(title);
                            break;
                        }
                        assert!(Instant::now() < end, "no server answers");
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    made.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    acknowledged.into_inner().expect("no panic")
}

/// Waits until each receiver got all of these titles. Returns the number of duplicates, which must have the key of the
/// first.
#[track_caller]
fn assert_all_arrive(receivers: &[Receiver], expected: &BTreeSet<String>) -> usize {
    let end = Instant::now() + PATIENCE;
    let mut seen: Vec<BTreeMap<String, String>> = vec![BTreeMap::new(); receivers.len()];
    let mut duplicates = 0;
    loop {
        for (receiver, seen) in receivers.iter().zip(&mut seen) {
            for received in receiver.take() {
                let body = received.json();
                let title = body["object_attributes"]["title"].as_str().expect("a title");
                if let Some(key) = seen.insert(title.to_owned(), received.key().to_owned()) {
                    assert_eq!(key, received.key(), "{title} came under another key");
                    duplicates += 1;
                }
            }
        }
        let missing = |seen: &BTreeMap<String, String>| {
            expected.iter().filter(|title| !seen.contains_key(*title)).count()
        };
        let missing: usize = seen.iter().map(missing).sum();
        if missing == 0 {
            return duplicates;
        }
        assert!(Instant::now() < end, "{missing} never arrived");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A pseudo-random number of milliseconds below `most`.
fn some_millis(most: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::from(now.subsec_nanos()) / 1000 % most
}
