//! All calls of the interface, section by section.

use super::Call;
use crate::dialect::Dialect;

/// The calls that the files of `routes` declare, in the order of the description.
pub(crate) struct Calls {
    dialect: Dialect,
    section: &'static str,
    calls: Vec<(&'static str, Call)>,
}

impl Calls {
    /// No calls yet, of an interface that answers in this dialect.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, section: "", calls: Vec::new() }
    }

    /// The dialect of the answers.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Begins a section of the description.
    pub(crate) fn section(&mut self, title: &'static str) {
        self.section = title;
    }

    /// Adds a call to the section.
    pub(crate) fn add(&mut self, call: Call) {
        self.calls.push((self.section, call));
    }

    /// All calls with the titles of their sections.
    pub(crate) fn into_sections(self) -> Vec<(&'static str, Call)> {
        self.calls
    }

    /// Each call in a line, as `tests/endpoints.txt` lists them.
    pub(crate) fn lines(self) -> String {
        let (mut text, mut section) = (String::new(), "");
        for (title, call) in self.calls {
            if title != section {
                text.push_str(&format!("\n# {title}\n"));
                section = title;
            }
            let path = call.path().replace('{', ":").replace('}', "");
            text.push_str(&format!("{:<6} {path}\n", call.method.as_str()));
        }
        text
    }
}
