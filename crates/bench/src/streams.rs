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
use hexforge_tests::ref_rows::adopt;

/// The number of concurrent requests, and of archive downloads while other requests are measured.
const CROWD: usize = 64;
const PULLING: usize = 32;

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
    tell: &mut dyn FnMut(&str, String),
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
    adopt(database, 2, &layout.repository(ProjectId(2)));
    crowd(&program, &commits, tell);
    others(&program, &commits, plan.time, tell);
    let id = history::make_large(&layout.repository(ProjectId(1)), plan.megabytes << 20)?;
    adopt(database, 1, &layout.repository(ProjectId(1)));
    let raw = format!("raw_blobs/{id}");
    // The process keeps memory from the earlier measurements, so it is measured first and then restarted.
    for call in [&*raw, "archive.tar"] {
        large(&program, plan, call, "after all that", tell);
    }
    drop(program);
    for call in
        [&*raw, "blobs/master?filepath=large", "archive.tar", "archive.zip", "archive.tar.gz"]
    {
        // A cached archive would be sent like any other file.
        let _ = std::fs::remove_dir_all(folder.path().join("cache"));
        large(&start()?, plan, call, "just started", tell);
    }
    Ok(())
}

/// Measures the memory and the rate of a large response.
fn large(
    program: &Program,
    plan: &Plan<'_>,
    call: &str,
    when: &str,
    tell: &mut dyn FnMut(&str, String),
) {
    if !call.contains(plan.only) {
        return;
    }
    program.forget_peak();
    let before = program.memory();
    let (call, started) = (call_to(1, call), Instant::now());
    let answer = ask(program, &call);
    assert!(answer.status == 200 && answer.length >= plan.megabytes << 20, "{}", call.name);
    let speed = (answer.length >> 20) as f64 / started.elapsed().as_secs_f64();
    let peak = program.peak_memory();
    let memory = format!("{before:.0} MB before, {peak:.0} MB at most (goal 100)");
    tell(&call.name, format!("{when}: {memory}, {speed:.0} MB/s"));
}

fn call_to(project: i64, call: &str) -> Call {
    Call {
        name: call.to_owned(),
        target: format!("/api/v3/projects/{project}/repository/{call}"),
        token: ROOT.to_owned(),
    }
}

fn ask(program: &Program, call: &Call) -> Answer {
    let mut reader = connect(program.address);
    let request = call.bytes(program.address);
    reader.get_mut().write_all(request.as_bytes()).expect("the server reads");
    Answer::read(&mut reader, &mut |_| ())
}

/// Downloads archives of different commits concurrently.
fn crowd(program: &Program, commits: &[String], tell: &mut dyn FnMut(&str, String)) {
    program.forget_peak();
    let started = Instant::now();
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let workers: Vec<_> = commits[commits.len() - CROWD..]
            .iter()
            .map(|commit| call_to(2, &format!("archive.tar.bz2?sha={commit}")))
            .map(|call| scope.spawn(move || ask(program, &call)))
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("all are answered")).collect()
    });
    let mut statuses = BTreeMap::<u16, usize>::new();
    for answer in &answers {
        *statuses.entry(answer.status).or_default() += 1;
        assert_eq!(answer.retry_after, answer.status == 503);
    }
    let (peak, time) = (program.peak_memory(), started.elapsed());
    tell(
        &format!("{CROWD} archives of different commits at once"),
        format!("{peak:.0} MB at most, statuses {statuses:?}, {time:.1?}"),
    );
}

/// Measures how long other requests take during archive downloads.
fn others(
    program: &Program,
    commits: &[String],
    time: Duration,
    tell: &mut dyn FnMut(&str, String),
) {
    let user = user();
    let alone = asked_for(program, &user, &mut |passed| passed < time / 2);
    let (over, pulled, next) =
        (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(CROWD + 1));
    let meanwhile = std::thread::scope(|scope| {
        for _ in 0..PULLING {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed) % commits.len();
                    let commit = &commits[commits.len() - 1 - number];
                    let call = call_to(2, &format!("archive.tar.gz?sha={commit}"));
                    if ask(program, &call).status == 200 {
                        pulled.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        let times = asked_for(program, &user, &mut |passed| passed < time);
        over.store(true, Ordering::Relaxed);
        times
    });
    let quantiles = |times: &[Duration]| {
        format!("p50 {:.1?}, p99 {:.1?}", quantile(times, 0.5), quantile(times, 0.99))
    };
    tell("GET /user alone", quantiles(&alone));
    let pulled = pulled.into_inner();
    let figures = quantiles(&meanwhile);
    tell(
        &format!("GET /user while {PULLING} pull archives"),
        format!("{figures} (goal 50 ms), {} answers, {pulled} archives", meanwhile.len()),
    );
}

/// A cheap request.
pub(super) fn user() -> Call {
    Call { name: "GET /user".to_owned(), target: "/api/v3/user".to_owned(), token: ROOT.to_owned() }
}

/// Repeats a request while `go_on` returns true. Returns the sorted response times.
pub(super) fn asked_for(
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
