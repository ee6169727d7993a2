//! Measures git clients with hexforge, with `git http-backend` and without a server, on copies of one repository.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::backend::Backend;
use super::load::{Cost, processor_time, quantile};
use super::sizes::Plan;
use super::{history, transport};

const OPERATIONS: [&str; 4] = ["git clone", "git ls-remote", "git fetch of nothing", "git push"];

/// Receives for each operation its cost with hexforge, and the median times of the two others.
pub type ReportOperation<'a> = dyn FnMut(&'static str, Cost, [Duration; 2]) + 'a;

/// Runs each operation on all three sides in turn. `pids` are the processes behind `hexforge`.
pub fn measure(
    folder: &Path,
    source: &Path,
    hexforge: &str,
    pids: &[u32],
    plan: &Plan<'_>,
    report: &mut ReportOperation<'_>,
) -> Result<()> {
    let roots = folder.join("backend");
    std::fs::create_dir_all(&roots)?;
    transport::copy(source, &roots.join("one.git"))?;
    transport::copy(source, &folder.join("plain.git"))?;
    let client = folder.join("client.git");
    transport::copy(source, &client)?;
    let backend = Backend::start(&roots)?;
    let plain = format!("file://{}", folder.join("plain.git").display());
    let urls = [hexforge.to_owned(), format!("http://{}/one.git", backend.address), plain];
    for name in OPERATIONS.into_iter().filter(|name| name.contains(plan.only)) {
        let mut times = [const { Vec::new() }; 3];
        let mut cpu = Duration::ZERO;
        for round in 0..plan.rounds.max(1) {
            for turn in 0..3 {
                // The side that goes first rotates.
                let side = (round + turn) % 3;
                let run = Run { name, url: &urls[side], folder, client: &client };
                let before = processor_time(pids);
                times[side].push(run.time(round)?);
                if side == 0 {
                    // Waits until the server has cleaned up.
                    std::thread::sleep(Duration::from_millis(20));
                    cpu += processor_time(pids).saturating_sub(before);
                }
            }
        }
        times.iter_mut().for_each(|times| times.sort_unstable());
        let [ours, theirs, alone] = &times;
        let total: Duration = ours.iter().sum();
        let cost = Cost {
            per_second: ours.len() as f64 / total.as_secs_f64(),
            p50: quantile(ours, 0.5),
            p99: quantile(ours, 1.0),
            cpu: cpu / ours.len() as u32,
        };
        report(name, cost, [quantile(theirs, 0.5), quantile(alone, 0.5)]);
    }
    Ok(())
}

struct Run<'a> {
    name: &'a str,
    url: &'a str,
    folder: &'a Path,
    client: &'a Path,
}

impl Run<'_> {
    fn time(&self, round: usize) -> Result<Duration> {
        let clone = self.folder.join("clone.git");
        let into = clone.to_string_lossy();
        match self.name {
            "git clone" => {
                if clone.exists() {
                    std::fs::remove_dir_all(&clone)?;
                }
                self.git(&["clone", "-q", "--bare", self.url, &into])
            }
            "git ls-remote" => self.git(&["ls-remote", "-q", self.url]),
            "git push" => {
                let commit = transport::new_commit(self.client, "master")?;
                self.git(&["push", "-q", self.url, &format!("{commit}:refs/heads/pushed-{round}")])
            }
            _ => self.git(&["fetch", "-q", self.url, "master:refs/remotes/origin/master"]),
        }
    }

    fn git(&self, arguments: &[&str]) -> Result<Duration> {
        let quiet = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"];
        let mut command = history::command(self.client, &[&quiet, arguments].concat());
        command.env("GIT_TERMINAL_PROMPT", "0").stdout(Stdio::null());
        let started = Instant::now();
        ensure!(command.status()?.success(), "git {arguments:?} failed");
        Ok(started.elapsed())
    }
}
