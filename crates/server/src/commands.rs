//! Runs the commands of the command line.

mod backup;
mod broadcast;
mod deployments;
mod doctor;
mod environments;
mod runner;
mod runners;
mod settings;
mod token;
mod user;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use hexforge_domain::Timestamp;
use hexforge_domain::paging::Page;
use hexforge_http_actix::openapi;
use hexforge_persistence_diesel::store;

use crate::cli::{BackupFile, Cli, Command, MakeBackup, Migrate, Serve};
use crate::config::Config;
use crate::system::permissions;
use crate::{logging, memory, serve, wiring};

/// Runs the command that was given.
pub fn run(cli: Cli) -> Result<ExitCode> {
    permissions::restrict_new_files();
    if let Some(Command::Runner(command)) = cli.command {
        // The file of the flag is that of the runner. The variable names the file of the server.
        let file = cli.config.filter(|_| cli.is_config_given);
        let config = Config::load(cli.overrides, None)?;
        logging::start(&config)?;
        return runner::run(command, file);
    }
    let config = Config::load(cli.overrides, cli.config.as_deref())?;
    match cli.command.unwrap_or(Command::Serve(Serve::default())) {
        Command::Serve(Serve { print_config: true, .. }) => {
            print(&config.to_string())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Serve(Serve { print_config: false, with_runner }) => {
            logging::start(&config)?;
            memory::restart_with_settings();
            serve::run(&config, with_runner, &mut std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Migrate(Migrate { check }) => migrate(&config, check),
        Command::Doctor { deep } => doctor::run(&config, deep),
        Command::Openapi => {
            print(&format!("{:#}\n", openapi::document(config.dialect)))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Backup(MakeBackup { place, keep }) => backup::make(&config, &place, keep),
        Command::Backups { place } => backup::list(&place),
        Command::Verify(BackupFile { place, at }) => backup::verify(&place, at.as_deref()),
        Command::Restore(BackupFile { place, at }) => {
            backup::restore(&config, &place, at.as_deref())
        }
        Command::User(command) => user::run(&wiring::app(&config)?, command),
        Command::Token(command) => token::run(&wiring::app(&config)?, command),
        Command::Runners(command) => runners::run(&wiring::app(&config)?, command),
        Command::Runner(command) => {
            runner::run(command, cli.config.filter(|_| cli.is_config_given))
        }
        Command::Settings(command) => settings::run(&wiring::app(&config)?, command),
        Command::Broadcast(command) => broadcast::run(&wiring::app(&config)?, command),
        Command::Environments(command) => environments::run(&wiring::app(&config)?, command),
        Command::Deployments(command) => deployments::run(&wiring::app(&config)?, command),
    }
}

fn migrate(config: &Config, check: bool) -> Result<ExitCode> {
    if check {
        let pending = store::pending_migrations(&config.database_url)?;
        for name in &pending {
            print(&format!("pending {name}\n"))?;
        }
        return Ok(if pending.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    wiring::prepare_data_dir(config)?;
    let done = store::migrate(&config.database_url)?;
    for name in &done {
        print(&format!("applied {name}\n"))?;
    }
    print("the database is up to date\n")?;
    Ok(ExitCode::SUCCESS)
}

/// Writes to standard output. A closed pipe is not an error.
fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => bail!(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// How many rows of a list are read and printed at once, because their number is unlimited.
const AT_ONCE: u64 = 100;

/// Prints a list page by page. `read_lines` returns one line for each row of a page.
fn print_list(read_lines: impl Fn(Page) -> Result<Vec<String>>) -> Result<()> {
    let mut number = 1;
    loop {
        let lines = read_lines(Page::Numbered { number, size: AT_ONCE })?;
        print(&lines.concat())?;
        if (lines.len() as u64) < AT_ONCE {
            return Ok(());
        }
        number += 1;
    }
}

/// Formats the details of one row: a line for each, with the name and the value separated by a tab.
fn detail_lines(details: &[(&str, String)]) -> String {
    details
        .iter()
        .map(|(name, value)| format!("{name}\t{}\n", remove_control_characters(value)))
        .collect()
}

/// Removes control characters from a text, so that a value stays on one line and cannot control the terminal.
fn remove_control_characters(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Returns a column of the output: the text of an optional value, or `-` for a missing one.
fn text_or_dash(text: Option<&str>) -> String {
    text.unwrap_or("-").to_owned()
}

fn format_time(time: Timestamp) -> String {
    time.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// Writes to standard error. A failure to write is ignored.
pub fn print_error(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
