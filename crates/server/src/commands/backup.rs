//! `hexforge backup`, `backups`, `verify` and `restore`.

use std::process::ExitCode;

use anyhow::Result;

use super::print;
use crate::backup::{self, BackupResult};
use crate::config::Config;

/// Writes a backup.
pub fn make(config: &Config, place: &str, keep: Option<u32>) -> Result<ExitCode> {
    let BackupResult { summary, snapshot, removed } =
        backup::make(config, place, keep.map(|keep| keep as usize))?;
    match snapshot {
        None => print(&format!("{place} has {summary}\n"))?,
        Some(snapshot) => print(&format!("{place} has {summary} in the snapshot {snapshot}\n"))?,
    }
    if removed > 0 {
        print(&format!("{removed} older snapshots are removed\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the snapshots in a place.
pub fn list(place: &str) -> Result<ExitCode> {
    for snapshot in backup::list(place)? {
        print(&format!("{snapshot}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Verifies a backup.
pub fn verify(place: &str, at: Option<&str>) -> Result<ExitCode> {
    let (made, summary) = backup::verify(place, at)?;
    print(&format!("{place} is whole: of {made}, with {summary}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Restores a backup.
pub fn restore(config: &Config, place: &str, at: Option<&str>) -> Result<ExitCode> {
    let summary = backup::restore(config, place, at)?;
    let (data, database) = (config.data_dir.display(), &config.database_url);
    print(&format!("{summary} are in {data} and {database}; `hexforge serve` serves them\n"))?;
    Ok(ExitCode::SUCCESS)
}
