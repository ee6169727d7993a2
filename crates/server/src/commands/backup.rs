//! `hexforge backup`, `backups`, `verify` and `restore`.

use std::process::ExitCode;

use anyhow::{Result, ensure};

use super::say;
use crate::backup;
use crate::config::Config;

/// Writes a backup.
pub fn make(config: &Config, place: &str, keep: Option<u32>) -> Result<ExitCode> {
    let (moment, summary) = backup::make(config, place)?;
    match moment {
        None => {
            ensure!(keep.is_none(), "the backup is made; --keep is for folders and object stores");
            say(&format!("{place} has {summary}\n"))?;
        }
        Some(moment) => say(&format!("{place} has {summary} of {moment}\n"))?,
    }
    if let Some(keep) = keep {
        let removed = backup::keep_newest(place, keep as usize)?;
        say(&format!("{removed} older moments are removed\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the moments of backups.
pub fn list(place: &str) -> Result<ExitCode> {
    for moment in backup::moments(place)? {
        say(&format!("{moment}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks a backup.
pub fn verify(place: &str, at: Option<&str>) -> Result<ExitCode> {
    let (made, summary) = backup::verify(place, at)?;
    say(&format!("{place} is whole: of {made}, with {summary}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Brings a backup back.
pub fn restore(config: &Config, place: &str, at: Option<&str>) -> Result<ExitCode> {
    let summary = backup::restore(config, place, at)?;
    let (data, database) = (config.data_dir.display(), &config.database_url);
    say(&format!("{summary} are in {data} and {database}; `hexforge serve` serves them\n"))?;
    Ok(ExitCode::SUCCESS)
}
