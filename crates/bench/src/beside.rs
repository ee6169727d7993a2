//! What a command of the real git costs, to compare with.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::history;

/// A command is run for so long, and so often at least.
const TIME: Duration = Duration::from_millis(1500);
const FEWEST: u32 = 3;

/// What one run of a command takes.
#[derive(Clone, Copy, Debug)]
pub struct GitCost {
    /// Of all processors.
    pub cpu: Duration,
    /// From its start to its end.
    pub whole: Duration,
}

/// Runs each of some commands of git again and again; what they print is not read.
pub fn git(bare: &Path, commands: &[Vec<String>]) -> Result<GitCost> {
    let (before, started) = (children_time(), Instant::now());
    let mut runs = 0;
    while runs < FEWEST || started.elapsed() < TIME {
        let arguments = &commands[runs as usize % commands.len()];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = history::command(bare, &arguments);
        ensure!(command.stdout(Stdio::null()).status()?.success(), "{arguments:?}");
        runs += 1;
    }
    let cpu = children_time().saturating_sub(before) / runs;
    Ok(GitCost { cpu, whole: started.elapsed() / runs })
}

/// The time that half of some small writes took until they were on disk.
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

/// Processor time of all children that ended, in hundredths.
fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
