//! A progress bar for operations that take minutes.

use std::io::{IsTerminal, Write};

const WIDTH: usize = 30;

/// A bar on a terminal; elsewhere one line at the start.
pub struct Bar {
    what: String,
    total: usize,
    /// The percentage shown last; `None` if standard error is not a terminal.
    shown: Option<usize>,
}

impl Bar {
    /// Shows a bar at 0 percent.
    #[allow(clippy::print_stderr, reason = "who waits for minutes wants to know for what")]
    pub fn new(what: &str, total: usize) -> Self {
        let shown = std::io::stderr().is_terminal().then_some(usize::MAX);
        let mut bar = Self { what: what.to_owned(), total, shown };
        if shown.is_none() {
            eprintln!("  {total} {what}");
        }
        bar.at(0);
        bar
    }

    /// Updates the bar.
    pub fn at(&mut self, done: usize) {
        let hundredths = (done * 100).checked_div(self.total).unwrap_or(100).min(100);
        if self.shown.is_some_and(|shown| shown != hundredths) {
            self.shown = Some(hundredths);
            self.write(&format!("\r{}", line(&self.what, self.total, hundredths)));
        }
    }

    /// Writes to standard error. A failure is ignored, because the bar is only informative.
    fn write(&self, text: &str) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.shown.is_some() {
            self.write("\n");
        }
    }
}

fn line(what: &str, total: usize, hundredths: usize) -> String {
    let full = WIDTH * hundredths / 100;
    let (full, rest) = ("#".repeat(full), ".".repeat(WIDTH - full));
    format!("  [{full}{rest}] {hundredths:>3} % of {total} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_whatever_is_done() {
        assert_eq!(line("rows", 9, 0), format!("  [{}]   0 % of 9 rows", ".".repeat(WIDTH)));
        assert_eq!(line("rows", 9, 100), format!("  [{}] 100 % of 9 rows", "#".repeat(WIDTH)));
        let half = format!("  [{}{}]  50 % of 9 rows", "#".repeat(15), ".".repeat(15));
        assert_eq!(line("rows", 9, 50), half);
    }
}
