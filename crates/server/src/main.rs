//! `hexforge`: see `hexforge --help`.

use std::process::ExitCode;

use hexforge_server::cli::Cli;
use hexforge_server::commands;

fn main() -> ExitCode {
    // The runner starts this program between itself and each command of a build, so it has to start fast.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == hexforge_runner::supervisor::ARGUMENT)
    {
        return hexforge_runner::supervisor::main();
    }
    match commands::run(Cli::from_command_line()) {
        Ok(code) => code,
        Err(error) => {
            // `{:#}` prints the whole chain of causes on one line.
            commands::print_error(&format!("hexforge: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
