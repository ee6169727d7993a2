//! Histories as people make them are pushed and fetched, and each answer is compared with git's.
//!
//! `HEXFORGE_TEST_HISTORIES` is the number of histories and `HEXFORGE_TEST_HISTORIES_SEED` the first seed.
//! `HEXFORGE_TEST_HISTORIES_OUTPUT` names a folder: then all seeds are run and each failure is written to a file there.
//! `HEXFORGE_TEST_HISTORIES_SERVER=git` checks the test itself: git is the server under test, and nothing may fail.

mod answer;
mod client;
mod depth;
mod files;
mod history;
mod interpret;
mod objects;
mod operation;
mod oracle;
mod pack;
mod pushes;
mod reproductions;
mod request;
mod scenario;
mod server;
#[path = "../support/mod.rs"]
mod support;

use std::env;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use oracle::UnderTest;
use scenario::{Run, check_seed};

#[test]
fn fetches_send_what_git_sends() {
    let under_test = under_test();
    check_seeds("fetch", 150, &|operations| scenario::run_fetches(operations, under_test));
}

#[test]
fn pushes_that_lack_an_object_are_refused() {
    check_seeds("push", 60, &pushes::run_pushes);
}

fn under_test() -> UnderTest {
    match env::var("HEXFORGE_TEST_HISTORIES_SERVER").as_deref() {
        Ok("git") => UnderTest::Git,
        _ => UnderTest::Hexforge,
    }
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs the scenarios of many seeds on all processors, and fails with the report of the first that fails.
fn check_seeds(name: &str, default: u64, run: Run<'_>) {
    let start = number("HEXFORGE_TEST_HISTORIES_SEED", 1);
    let end = start + number("HEXFORGE_TEST_HISTORIES", default);
    let output = env::var_os("HEXFORGE_TEST_HISTORIES_OUTPUT");
    let next = AtomicU64::new(start);
    let failures: Mutex<Vec<String>> = Mutex::default();
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let Some(report) = check_seed(seed, run) else { continue };
            match &output {
                Some(folder) => {
                    let file = Path::new(folder).join(format!("{name}-{seed}.txt"));
                    fs::write(file, &report).expect("the folder for reports exists");
                }
                None => next.store(end, Ordering::Relaxed),
            }
            failures.lock().expect("no thread panics with it").push(report);
        }
    };
    let threads = thread::available_parallelism().map_or(2, usize::from).max(2);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().expect("no thread panics with it");
    if let Some(first) = failures.first() {
        panic!("{} of the histories fail, for example: {first}", failures.len());
    }
}
