//! All calls of the API, by section.

use super::Call;
use crate::dialect::Dialect;

/// The calls that the files of `routes` declare, in the order in which OpenAPI shows them.
pub(crate) struct Calls {
    dialect: Dialect,
    section: &'static str,
    calls: Vec<(&'static str, Call)>,
}

impl Calls {
    /// Starts with no calls, for responses in this dialect.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, section: "", calls: Vec::new() }
    }

    /// The dialect of the responses.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Begins a section.
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

    /// One line for each call, in the format of `tests/endpoints.txt`.
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
