//! Telling people how far it is.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::Summary;

/// How often a line on a terminal is written anew.
const OFTEN: Duration = Duration::from_millis(200);

/// On a terminal a line that changes, elsewhere a line for each step. On standard error: what is asked for is on
/// standard output.
pub(super) struct Progress {
    is_terminal: bool,
    step: &'static str,
    told: Instant,
}

impl Progress {
    pub fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { is_terminal, step: "", told: Instant::now() }
    }

    /// Something else is done from here on.
    pub fn step(&mut self, step: &'static str) {
        self.step = step;
        match self.is_terminal {
            true => self.line(""),
            false => self.write(&format!("{step}\n")),
        }
    }

    /// So much is done.
    pub fn done(&mut self, summary: &Summary) {
        if self.is_terminal && self.told.elapsed() >= OFTEN {
            self.line(&format!(": {summary}"));
        }
    }

    fn line(&mut self, more: &str) {
        self.told = Instant::now();
        self.write(&format!("\r\x1b[K{}{more}", self.step));
    }

    fn write(&self, text: &str) {
        // There is nobody to tell when even that fails.
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
