//! Pushes, fetches, reads and copies random histories that resemble real ones, and compares each answer with git's.
//!
//! `HEXFORGE_TEST_HISTORIES` is the number of histories and `HEXFORGE_TEST_HISTORIES_SEED` the first seed.
//! `HEXFORGE_TEST_HISTORIES_OUTPUT` names a folder: then all seeds run, and each failure is written to a file there.
//! `HEXFORGE_TEST_HISTORIES_SERVER=git` checks the tests themselves: git is the server under test, and none may fail.

mod answer;
#[path = "../import/backend.rs"]
#[allow(dead_code, reason = "the tests of imports use all of it")]
mod backend;
mod client;
mod clones;
mod commits;
mod contents;
mod copies;
mod depth;
mod files;
mod history;
mod interpret;
mod logs;
mod objects;
mod operation;
mod oracle;
mod pack;
mod process;
mod pushes;
mod readings;
mod reproductions;
mod request;
mod scenario;
mod server;
#[path = "../support/mod.rs"]
mod support;
mod tidying;

use std::env;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use operation::{generate, generate_many_pushes};
use oracle::UnderTest;
use scenario::{Generate, Run, check_seed};

#[test]
fn fetches_send_what_git_sends() {
    let under_test = under_test();
    check_seeds("fetch", 150, generate, &|operations| {
        scenario::run_fetches(operations, under_test)
    });
}

#[test]
fn clones_after_each_push_send_what_git_sends() {
    check_seeds("clone", 60, generate, &|operations| clones::run_clones(operations, under_test()));
}

#[test]
fn pushes_that_lack_an_object_are_refused() {
    check_seeds("push", 60, generate, &pushes::run_pushes);
}

#[test]
fn commits_and_files_are_read_as_git_reads_them() {
    check_seeds("read", 40, generate, &readings::run_readings);
}

#[test]
fn forks_backups_and_imports_have_all_that_their_source_has() {
    check_seeds("copy", 30, generate, &|operations| copies::run_copies(operations, under_test()));
}

#[test]
fn merged_packs_have_all_that_was_pushed() {
    check_seeds("tidy", 6, generate_many_pushes, &|operations| {
        tidying::run_tidying(operations, under_test())
    });
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
fn check_seeds(name: &str, default: u64, generate: Generate, run: Run<'_>) {
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
            let Some(report) = check_seed(seed, generate, run) else { continue };
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
