//! A database that is unavailable for a while, and one with many writers.
//!
//! `HEXFORGE_TEST_FAULT_SECONDS` sets the duration of each phase in seconds; the default is 2.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hexforge_persistence_diesel::testing::{DedicatedPostgres, TestDatabase};
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::random::number_from_env;
use hexforge_tests::{Auditor, WorkTree};

/// The number of concurrent writers.
const WRITERS: usize = 64;

fn seconds() -> u64 {
    number_from_env("HEXFORGE_TEST_FAULT_SECONDS").unwrap_or(2) as u64
}

#[test]
fn many_writers_on_sqlite_are_all_served() {
    let (database, folder) = (TestDatabase::sqlite(), a_folder());
    let log = folder.path().join("log");
    let file = File::create(&log).expect("the folder is ours");
    let server =
        Program::start_logging(&program::executable(), folder.path(), &database.url, file.into());
    let server = server.expect("the program serves");
    a_project(&server);
    let until = Instant::now() + Duration::from_secs(seconds());
    let (written, slowest) = (AtomicUsize::new(0), Mutex::new(Duration::ZERO));
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (server, written, slowest) = (&server, &written, &slowest);
            scope.spawn(move || {
                while Instant::now() < until {
                    let label = format!("label-{}", writer % 8);
                    let form = [("title", "an issue"), ("labels", &label)];
                    let since = Instant::now();
                    let request = server.request("POST", "/projects/1/issues").token(ROOT);
                    request.form(&form).send().expect(201);
                    let mut slowest = slowest.lock().expect("no thread panics");
                    *slowest = slowest.max(since.elapsed());
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let (written, slowest) = (written.into_inner(), slowest.into_inner().unwrap_or_default());
    let issues = Auditor { address: server.address, token: ROOT }.assert_counts(1);
    assert_eq!(issues.len(), written);
    let log = std::fs::read_to_string(log).expect("a log");
    assert!(!log.contains("locked"), "{log}");
    print_progress(&format!(
        "{WRITERS} writers, {written} issues in {} s, {slowest:?} at most",
        seconds()
    ));
}

#[test]
fn while_postgres_is_away_everybody_is_told_so_and_then_served_again() {
    let (folder, servers) = (a_folder(), a_folder());
    let Some(mut postgres) = DedicatedPostgres::start_in(servers.path()) else { return };
    // The program logs an error for each call while the database is unavailable.
    let log = std::process::Stdio::null();
    let server =
        Program::start_logging(&program::executable(), folder.path(), &postgres.url(), log);
    let server = server.expect("the program serves");
    a_project(&server);
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    tree.write("README", "hello\n").commit("Begin\n");
    let (is_over, is_away) = (AtomicBool::new(false), AtomicBool::new(false));
    let seen = Mutex::new(Seen::default());
    std::thread::scope(|scope| {
        for caller in 0..8 {
            let (server, seen, is_over, is_away) = (&server, &seen, &is_over, &is_away);
            scope.spawn(move || call(server, caller, seen, is_over, is_away));
        }
        for signal in ["INT", "QUIT"] {
            std::thread::sleep(Duration::from_secs(1));
            postgres.stop(signal);
            is_away.store(true, Ordering::Relaxed);
            let ready = hexforge_tests::Request::new(server.address, "GET", "/-/readiness").send();
            assert_eq!(ready.status, 503, "{}", ready.text());
            std::thread::sleep(Duration::from_secs(seconds()));
            is_away.store(false, Ordering::Relaxed);
            postgres.start();
            let since = Instant::now();
            while server.request("GET", "/user").token(ROOT).send().status != 200 {
                assert!(since.elapsed() < Duration::from_secs(30), "it is still not served");
            }
            print_progress(&format!(
                "after {signal} served again {:?} after the database",
                since.elapsed()
            ));
        }
        std::thread::sleep(Duration::from_secs(1));
        is_over.store(true, Ordering::Relaxed);
    });
    let seen = seen.into_inner().expect("no thread panics");
    print_progress(&format!("{:?}, {:?} at most", seen.statuses, seen.slowest));
    assert!(seen.slowest < Duration::from_secs(20), "a request took too long: {seen:?}");
    let good = |status: &u16| matches!(status, 200 | 201 | 503);
    assert!(seen.statuses.keys().all(good), "{seen:?}");
    assert!(seen.statuses.contains_key(&503), "{seen:?}");
    // Each call ran at most once: no title exists twice, and no acknowledged title is missing.
    let issues = Auditor { address: server.address, token: ROOT }.assert_counts(1);
    let mut titles: BTreeMap<&str, usize> = BTreeMap::new();
    for issue in &issues {
        *titles.entry(issue["title"].as_str().expect("a title")).or_default() += 1;
    }
    assert!(titles.values().all(|count| *count == 1), "{titles:?}");
    assert!(seen.acknowledged.iter().all(|title| titles.contains_key(title.as_str())));
    let url = format!("http://root:{ROOT}@{}/root/ship.git", server.address);
    tree.git(&["push", "-q", &url, "master"]);
}

/// The answers that callers got.
#[derive(Debug, Default)]
struct Seen {
    statuses: BTreeMap<u16, usize>,
    slowest: Duration,
    acknowledged: Vec<String>,
}

fn call(
    server: &Program,
    caller: usize,
    seen: &Mutex<Seen>,
    is_over: &AtomicBool,
    is_away: &AtomicBool,
) {
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let title = format!("issue {caller}-{number}");
        let reads = caller.is_multiple_of(2);
        let request = if reads {
            server.request("GET", "/projects").token(ROOT)
        } else {
            let request = server.request("POST", "/projects/1/issues").token(ROOT);
            request.form(&[("title", &title)])
        };
        let (since, was_away) = (Instant::now(), is_away.load(Ordering::Relaxed));
        let answer = request.send();
        let still_away = is_away.load(Ordering::Relaxed);
        if was_away && still_away {
            assert_eq!(answer.status, 503, "{}", answer.text());
            assert!(answer.header("retry-after").is_some(), "it says when to come again");
        }
        let mut seen = seen.lock().expect("no thread panics");
        *seen.statuses.entry(answer.status).or_default() += 1;
        seen.slowest = seen.slowest.max(since.elapsed());
        if answer.status == 201 {
            seen.acknowledged.push(title);
        }
    }
}

fn a_folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for temporary files exists")
}

fn a_project(server: &Program) {
    let form = [("name", "ship"), ("public", "true")];
    server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
}

/// Shows the amount of work as part of the result.
#[expect(clippy::print_stderr, reason = "how much was tried is part of what is shown")]
fn print_progress(text: &str) {
    eprintln!("{text}");
}
