//! `hexforge backup`, `verify` and `restore`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use super::say;
use crate::backup;
use crate::config::Config;

/// Writes a backup.
pub fn make(config: &Config, file: &Path) -> Result<ExitCode> {
    let summary = backup::make(config, file)?;
    say(&format!("{} has {summary}\n", file.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Checks a backup.
pub fn verify(file: &Path) -> Result<ExitCode> {
    let (made, summary) = backup::verify(file)?;
    say(&format!("{} is whole: of {made}, with {summary}\n", file.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Brings a backup back.
pub fn restore(config: &Config, file: &Path) -> Result<ExitCode> {
    let summary = backup::restore(config, file)?;
    let (data, database) = (config.data_dir.display(), &config.database_url);
    say(&format!("{summary} are in {data} and {database}; `hexforge serve` serves them\n"))?;
    Ok(ExitCode::SUCCESS)
}
