//! `hexforge`: see `hexforge --help`.

use std::process::ExitCode;

use clap::Parser;
use hexforge_server::cli::Cli;
use hexforge_server::commands;

fn main() -> ExitCode {
    match commands::run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            // `{:#}` prints the whole chain of causes on one line.
            commands::print_error(&format!("hexforge: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
