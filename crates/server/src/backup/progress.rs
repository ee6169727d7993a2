//! Prints the progress of a backup.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::Summary;

/// The shortest time between two updates of the line on a terminal.
const OFTEN: Duration = Duration::from_millis(200);

/// Prints to standard error: on a terminal one line that is updated, elsewhere a line for each
/// step. Standard output is for the result.
pub(super) struct Progress {
    is_terminal: bool,
    step: &'static str,
    last_report: Instant,
}

impl Progress {
    pub fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { is_terminal, step: "", last_report: Instant::now() }
    }

    /// Begins the next step.
    pub fn step(&mut self, step: &'static str) {
        self.step = step;
        match self.is_terminal {
            true => self.line(""),
            false => self.write(&format!("{step}\n")),
        }
    }

    /// Updates the line with the bytes and files done so far.
    pub fn done(&mut self, summary: &Summary) {
        if self.is_terminal && self.last_report.elapsed() >= OFTEN {
            self.line(&format!(": {summary}"));
        }
    }

    fn line(&mut self, more: &str) {
        self.last_report = Instant::now();
        self.write(&format!("\r\x1b[K{}{more}", self.step));
    }

    fn write(&self, text: &str) {
        // A failure to write is ignored.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_terminal {
            self.write("\r\x1b[K");
        }
    }
}
