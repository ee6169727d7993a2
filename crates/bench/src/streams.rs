//! Measures large responses: their memory, the behavior under too many requests, and how long other requests wait.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::history;
use super::load::{Answer, Call, connect, quantile};
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::ref_rows::adopt_repository;

/// The number of concurrent requests, and of archive downloads while other requests are measured.
const ARCHIVES: usize = 64;
const DOWNLOADS: usize = 32;

/// The plan of a measurement.
pub struct Plan<'a> {
    /// The path of the server program.
    pub program: &'a Path,
    /// The size of the large file in megabytes.
    pub megabytes: u64,
    /// The duration of the archive downloads.
    pub time: Duration,
    /// Measures only calls for the large file whose names contain this.
    pub only: &'a str,
}

/// Runs the measurements, and reports each figure with its goal as soon as it is known.
pub fn measure(
    database: &TestDatabase,
    plan: &Plan<'_>,
    report: &mut dyn FnMut(&str, String),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let start = || Program::start(plan.program, folder.path(), &database.url);
    let program = start()?;
    let layout = Layout::new(folder.path());
    for name in ["large", "many"] {
        let form = [("name", name)];
        program.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    }
    let commits = history::make(&layout.repository(ProjectId(2)))?;
    adopt_repository(database, 2, &layout.repository(ProjectId(2)));
    measure_concurrent_archives(&program, &commits, report);
    measure_other_requests(&program, &commits, plan.time, report);
    let id = history::make_large(&layout.repository(ProjectId(1)), plan.megabytes << 20)?;
    adopt_repository(database, 1, &layout.repository(ProjectId(1)));
    let raw = format!("raw_blobs/{id}");
    // The process keeps memory from the earlier measurements, so it is measured first and then restarted.
    for call in [&*raw, "archive.tar"] {
        measure_large_response(&program, plan, call, "after all that", report);
    }
    drop(program);
    for call in
        [&*raw, "blobs/master?filepath=large", "archive.tar", "archive.zip", "archive.tar.gz"]
    {
        // A cached archive would be sent like any other file.
        let _ = std::fs::remove_dir_all(folder.path().join("cache"));
        measure_large_response(&start()?, plan, call, "just started", report);
    }
    Ok(())
}

/// Measures the memory and the rate of a large response.
fn measure_large_response(
    program: &Program,
    plan: &Plan<'_>,
    call: &str,
    when: &str,
    report: &mut dyn FnMut(&str, String),
) {
    if !call.contains(plan.only) {
        return;
    }
    program.reset_peak_memory();
    let before = program.memory();
    let (call, started) = (call_to(1, call), Instant::now());
    let answer = send(program, &call);
    assert!(answer.status == 200 && answer.length >= plan.megabytes << 20, "{}", call.name);
    let speed = (answer.length >> 20) as f64 / started.elapsed().as_secs_f64();
    let peak = program.peak_memory();
    let memory = format!("{before:.0} MB before, {peak:.0} MB at most (goal 100)");
    report(&call.name, format!("{when}: {memory}, {speed:.0} MB/s"));
}

fn call_to(project: i64, call: &str) -> Call {
    Call {
        name: call.to_owned(),
        target: format!("/api/v3/projects/{project}/repository/{call}"),
        token: ROOT.to_owned(),
    }
}

fn send(program: &Program, call: &Call) -> Answer {
    let mut reader = connect(program.address);
    let request = call.bytes(program.address);
    reader.get_mut().write_all(request.as_bytes()).expect("the server reads");
    Answer::read(&mut reader, &mut |_| ())
}

/// Downloads archives of different commits concurrently.
fn measure_concurrent_archives(
    program: &Program,
    commits: &[String],
    report: &mut dyn FnMut(&str, String),
) {
    program.reset_peak_memory();
    let started = Instant::now();
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let workers: Vec<_> = commits[commits.len() - ARCHIVES..]
            .iter()
            .map(|commit| call_to(2, &format!("archive.tar.bz2?sha={commit}")))
            .map(|call| scope.spawn(move || send(program, &call)))
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("all are answered")).collect()
    });
    let mut statuses = BTreeMap::<u16, usize>::new();
    for answer in &answers {
        *statuses.entry(answer.status).or_default() += 1;
        assert_eq!(answer.retry_after, answer.status == 503);
    }
    let (peak, time) = (program.peak_memory(), started.elapsed());
    report(
        &format!("{ARCHIVES} archives of different commits at once"),
        format!("{peak:.0} MB at most, statuses {statuses:?}, {time:.1?}"),
    );
}

/// Measures how long other requests take during archive downloads.
fn measure_other_requests(
    program: &Program,
    commits: &[String],
    time: Duration,
    report: &mut dyn FnMut(&str, String),
) {
    let user = user_call();
    let alone = repeat_call(program, &user, &mut |passed| passed < time / 2);
    let (over, pulled, next) =
        (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(ARCHIVES + 1));
    let meanwhile = std::thread::scope(|scope| {
        for _ in 0..DOWNLOADS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed) % commits.len();
                    let commit = &commits[commits.len() - 1 - number];
                    let call = call_to(2, &format!("archive.tar.gz?sha={commit}"));
                    if send(program, &call).status == 200 {
                        pulled.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        let times = repeat_call(program, &user, &mut |passed| passed < time);
        over.store(true, Ordering::Relaxed);
        times
    });
    let quantiles = |times: &[Duration]| {
        format!("p50 {:.1?}, p99 {:.1?}", quantile(times, 0.5), quantile(times, 0.99))
    };
    report("GET /user alone", quantiles(&alone));
    let pulled = pulled.into_inner();
    let figures = quantiles(&meanwhile);
    report(
        &format!("GET /user while {DOWNLOADS} pull archives"),
        format!("{figures} (goal 50 ms), {} answers, {pulled} archives", meanwhile.len()),
    );
}

/// A cheap request.
pub(super) fn user_call() -> Call {
    Call { name: "GET /user".to_owned(), target: "/api/v3/user".to_owned(), token: ROOT.to_owned() }
}

/// Repeats a request while `go_on` returns true. Returns the sorted response times.
pub(super) fn repeat_call(
    program: &Program,
    call: &Call,
    go_on: &mut dyn FnMut(Duration) -> bool,
) -> Vec<Duration> {
    let mut reader = connect(program.address);
    let (started, mut times) = (Instant::now(), Vec::new());
    while go_on(started.elapsed()) {
        let asked = Instant::now();
        let request = call.bytes(program.address);
        reader.get_mut().write_all(request.as_bytes()).expect("the server reads");
        assert_eq!(Answer::read(&mut reader, &mut |_| ()).status, 200);
        times.push(asked.elapsed());
        // The pause keeps this client from being a load itself.
        std::thread::sleep(Duration::from_millis(2));
    }
    times.sort_unstable();
    times
}
