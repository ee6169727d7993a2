//! Measures how much a hostile user and a hostile address at full load slow down ordinary users.

mod attack;
mod ordinary;
mod packs;
mod requests;
mod ssh;
mod wire;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::testing::TestDatabase;

pub use attack::run as attack;

use super::history;
use super::load::processor_time;
use attack::{READY, Target};
use hexforge_tests::program::Program;
use hexforge_tests::receiver::Receiver;
use hexforge_tests::ref_rows::adopt_repository;
pub(crate) use ordinary::sign_up;
use ordinary::{Figures, Kinds, Ordinary, new_project};

/// How long ordinary users work alone: first without measuring, until caches are filled, then measured. A call needs
/// many samples in the measured time: with 300 of them the 99th percentile is the third largest.
const WARM_UP: Duration = Duration::from_secs(5);
const QUIET: Duration = Duration::from_secs(90);
/// How long the attack runs before the measurement begins.
const GATHERING: Duration = Duration::from_secs(3);
/// The most by which the 99th percentile of a call may grow, compared with the quiet phase.
const SLOWER: f64 = 3.0;
/// The most memory that the server may use, in megabytes.
const MEMORY: f64 = 1024.0;
/// The size of the hostile user's large file in bytes: more than all buffers between server and client.
const LARGE: u64 = 48 << 20;
/// The number of hooks of the hostile user, whose receivers never answer.
const HOOKS: usize = 20;
const SAMPLING: Duration = Duration::from_millis(250);

/// The plan of a run.
pub struct Plan<'a> {
    pub program: &'a Path,
    /// The duration of the attack.
    pub time: Duration,
    /// Runs only attacks whose names contain this.
    pub only: &'a str,
    /// The limit of requests per minute for each token and each address; 0 for no limit.
    pub rate_limit: u32,
}

/// Measures ordinary users alone and then beside the attackers. Reports the lines of the result,
/// and returns the missed goals.
pub fn measure(
    database: &TestDatabase,
    plan: &Plan<'_>,
    report: &mut dyn FnMut(String),
) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let limit = plan.rate_limit.to_string();
    let settings = [
        ("HEXFORGE_SSH_LISTEN", "127.0.0.1:0"),
        ("HEXFORGE_ALLOW_LOCAL_REQUESTS", "true"),
        ("HEXFORGE_RATE_LIMIT_PER_TOKEN", &limit),
        ("HEXFORGE_RATE_LIMIT_PER_ADDRESS", &limit),
        // Debug builds verify each fetch by a walk over the whole history.
        ("HEXFORGE_VERIFY_FETCHES", "false"),
        ("HEXFORGE_LOG", "error"),
    ];
    let server = Program::start_with(
        plan.program,
        folder.path(),
        &database.url,
        Stdio::inherit(),
        &settings,
    )?;
    let ordinary = Ordinary::new(&server)?;
    let hanging = Receiver::hanging(Duration::from_secs(60));
    let target = create_hostile_user(&server, database, folder.path(), &hanging)?;
    ordinary.work(WARM_UP);
    let (quiet, stolen_before) = with_stolen_time(|| ordinary.work(QUIET));
    server.reset_peak_memory();
    let cpu = || [server.pid(), std::process::id()].map(|pid| processor_time(&[pid]));
    let attackers = Attackers::start(folder.path(), &target, plan.only)?;
    std::thread::sleep(GATHERING);
    let (before, cpu_of_attackers) = (cpu(), processor_time(&[attackers.pid()]));
    let ((hostile, memory), stolen) =
        with_stolen_time(|| sample_memory(&server, || ordinary.work(plan.time)));
    let after = cpu();
    let cpu_of_attackers = processor_time(&[attackers.pid()]).saturating_sub(cpu_of_attackers);
    let outcomes = attackers.stop()?;
    let mut missed = compare(&quiet, &hostile, report);
    let peak = server.peak_memory();
    report(format!(
        "memory: {peak:.0} MB at most, of that beside mapped files {memory:.0} MB (goal: below {MEMORY:.0} MB in all)"
    ));
    if peak >= MEMORY {
        missed.push(format!("the server held {peak:.0} MB of memory"));
    }
    let part = |cpu: Duration| 100.0 * cpu.as_secs_f64() / plan.time.as_secs_f64();
    report(format!(
        "processors: server {:.0} %, attackers {:.0} %, ordinary users and their git {:.0} % of one",
        part(after[0].saturating_sub(before[0])),
        part(cpu_of_attackers),
        part(after[1].saturating_sub(before[1])),
    ));
    report(format!(
        "other machines took {stolen_before:.1} % of all processors in quiet, {stolen:.1} % during the attack"
    ));
    for line in outcomes.lines() {
        report(format!("attack by {line}"));
    }
    ensure!(
        server.request("GET", "/version").token(hexforge_tests::program::ROOT).try_send().is_some()
    );
    Ok(missed)
}

/// Creates the hostile user with its projects and hooks.
fn create_hostile_user(
    server: &Program,
    database: &TestDatabase,
    data: &Path,
    receiver: &Receiver,
) -> Result<Target> {
    let (_, token) = sign_up(server, "eve");
    let [trap, noise] = ["trap", "noise"].map(|name| new_project(server, &token, name));
    let layout = Layout::new(data);
    let repository = layout.repository(ProjectId(trap));
    let commits = history::make(&repository)?;
    adopt_repository(database, trap, &repository);
    let repository = layout.repository(ProjectId(noise));
    let blob = history::make_large(&repository, LARGE)?;
    adopt_repository(database, noise, &repository);
    let tip = history::git(&repository, &["rev-parse", "master"])?;
    for hook in 0..HOOKS {
        let url = receiver.url(&format!("/{hook}"));
        let form = [("url", &*url), ("issues_events", "true")];
        let path = format!("/projects/{trap}/hooks");
        server.request("POST", &path).token(&token).form(&form).send().expect(201);
    }
    let ssh = server.ssh.context("the server has no SSH address")?;
    Ok(Target { http: server.address, ssh, token, trap, commits, noise, tip, blob })
}

/// The process of the attackers. It runs only on idle processors, because attackers on another
/// machine would not take processor time from the server.
struct Attackers {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Attackers {
    fn start(folder: &Path, target: &Target, only: &str) -> Result<Self> {
        let file = folder.join("target.json");
        let mut written = std::fs::File::create(&file)?;
        write!(written, "{}", target.to_json())?;
        let mut child = Command::new("chrt")
            .args(["--idle", "0"])
            .arg(std::env::current_exe()?)
            .arg("--attack")
            .arg(&file)
            .args(["--only", only])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("chrt cannot be started")?;
        let output = child.stdout.take().context("the attackers have no output pipe")?;
        let mut attackers = Self { child, output: BufReader::new(output) };
        let mut line = String::new();
        attackers.output.read_line(&mut line)?;
        ensure!(line.trim_end() == READY, "the attackers did not report that they are ready");
        Ok(attackers)
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops the attack, and returns the outcome of each kind.
    fn stop(mut self) -> Result<String> {
        ensure!(self.child.try_wait()?.is_none(), "the attackers ended before the attack was over");
        drop(self.child.stdin.take());
        let mut said = String::new();
        self.output.read_to_string(&mut said)?;
        Ok(said)
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `work`. Also returns the percentage of processor time that the hypervisor gave to other
/// machines meanwhile: a few percent already change the 99th percentiles.
fn with_stolen_time<T>(work: impl FnOnce() -> T) -> (T, f64) {
    // The first line has the times of all processors: user, nice, system, idle, iowait, irq, softirq, steal.
    let times = || -> Vec<u64> {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        line.split_ascii_whitespace().skip(1).take(8).map_while(|part| part.parse().ok()).collect()
    };
    let before = times();
    let done = work();
    let passed: Vec<u64> = times().iter().zip(&before).map(|(now, then)| now - then).collect();
    let all: u64 = passed.iter().sum();
    (done, 100.0 * passed.get(7).copied().unwrap_or(0) as f64 / all.max(1) as f64)
}

/// Runs `work`. Also returns the most memory of the server meanwhile in megabytes, without mapped files.
fn sample_memory<T>(server: &Program, work: impl FnOnce() -> T) -> (T, f64) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sampling = scope.spawn(|| {
            let mut most: f64 = 0.0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(server.own_memory());
                std::thread::sleep(SAMPLING);
            }
            most
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        (done, sampling.join().expect("it does not panic"))
    })
}

/// Reports a line for each kind of call, and returns the missed goals.
fn compare(quiet: &Kinds, hostile: &Kinds, report: &mut dyn FnMut(String)) -> Vec<String> {
    report(format!(
        "{:<20} {:>7} {:>9} {:>9} {:>7} {:>9} {:>9} {:>6} {:>8}",
        "call", "quiet", "p50 ms", "p99 ms", "hostile", "p50 ms", "p99 ms", "x", "failures"
    ));
    let mut missed = Vec::new();
    let none = Figures::default();
    for (name, alone) in quiet {
        let beside = hostile.get(name).unwrap_or(&none);
        let slower =
            beside.quantile(0.99).as_secs_f64() / alone.quantile(0.99).as_secs_f64().max(1e-9);
        let milliseconds =
            |figures: &Figures, part: f64| figures.quantile(part).as_secs_f64() * 1e3;
        let failures = alone.failures + beside.failures;
        report(format!(
            "{name:<20} {:>7} {:>9.1} {:>9.1} {:>7} {:>9.1} {:>9.1} {slower:>6.1} {failures:>8}",
            alone.calls(),
            milliseconds(alone, 0.5),
            milliseconds(alone, 0.99),
            beside.calls(),
            milliseconds(beside, 0.5),
            milliseconds(beside, 0.99),
        ));
        if slower > SLOWER {
            missed.push(format!("{name}: p99 is {slower:.1} times the quiet figure"));
        }
        if beside.calls() == 0 {
            missed.push(format!("{name}: nobody did it during the attack"));
        }
        let first = alone.first_failure.as_ref().or(beside.first_failure.as_ref());
        if let Some(reason) = first {
            missed.push(format!("{name}: {failures} failed, the first one {reason}"));
        }
    }
    missed
}
