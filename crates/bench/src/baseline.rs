//! Measures the cost of git commands, for comparison.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::history;

/// The least time for which a command is repeated, and the least number of runs.
const MIN_TIME: Duration = Duration::from_millis(1500);
const MIN_RUNS: u32 = 3;

/// The cost of one run of a command.
#[derive(Clone, Copy, Debug)]
pub struct GitCost {
    /// Processor time on all processors.
    pub cpu: Duration,
    /// Wall time.
    pub whole: Duration,
}

/// Runs the commands in turn, repeatedly, and ignores their output.
pub fn git(bare: &Path, commands: &[Vec<String>]) -> Result<GitCost> {
    let (before, started) = (children_time(), Instant::now());
    let mut runs = 0;
    while runs < MIN_RUNS || started.elapsed() < MIN_TIME {
        let arguments = &commands[runs as usize % commands.len()];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = history::command(bare, &arguments);
        ensure!(command.stdout(Stdio::null()).status()?.success(), "git {arguments:?} failed");
        runs += 1;
    }
    let cpu = children_time().saturating_sub(before) / runs;
    Ok(GitCost { cpu, whole: started.elapsed() / runs })
}

/// The median time of a small write with a sync.
pub fn synced_write(folder: &Path) -> Duration {
    let one = || -> std::io::Result<Duration> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let started = Instant::now();
        file.write_all(b"some bytes\n")?;
        file.as_file().sync_all()?;
        Ok(started.elapsed())
    };
    let mut times: Vec<Duration> = (0..50).filter_map(|_| one().ok()).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The processor time of all child processes that ended, in steps of 10 ms.
fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
