//! The log, on standard error.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};

/// The part of the HTTP library that reads requests from connections.
const DISPATCHER: &str = "actix_http::h1::dispatcher";

/// Starts logging as configured.
pub fn start(config: &Config) -> Result<()> {
    let filter = EnvFilter::try_new(&config.log)
        .with_context(|| format!("log is `{}` and has to be a level or a filter", config.log))?;
    // Whatever a client sends that cannot be parsed is an error to it, without an id. hexforge writes a line of its own.
    let filter = if config.log.contains(DISPATCHER) {
        filter
    } else {
        filter.add_directive(format!("{DISPATCHER}=off").parse()?)
    };
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
