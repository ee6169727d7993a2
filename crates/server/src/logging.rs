//! Configures the log on standard error.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};

/// Modules of libraries whose log lines mislead. They are silent unless the filter names them.
const SILENT: [&str; 2] = [
    // It logs every request that cannot be parsed as an error, without a request id. hexforge logs a line of its own.
    "actix_http::h1::dispatcher",
    // A pack that was merged into another is unlinked while a reader of older refs may still look
    // for it. Its objects are in the new pack, which is found next.
    "gix_odb::store_impls::dynamic::load_index",
];

/// Starts logging as configured.
pub fn start(config: &Config) -> Result<()> {
    let mut filter = EnvFilter::try_new(&config.log)
        .with_context(|| format!("log is `{}` and has to be a level or a filter", config.log))?;
    for part in SILENT.into_iter().filter(|part| !config.log.contains(part)) {
        filter = filter.add_directive(format!("{part}=off").parse()?);
    }
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match config.log_format {
        LogFormat::Text => subscriber.try_init(),
        LogFormat::Json => subscriber.json().try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("logging cannot be started: {error}"))
}
