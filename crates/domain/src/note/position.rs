//! The position of a note in the diff of a commit or merge request.

/// The line that a note is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotePosition {
    /// The path of the file after the change.
    pub path: String,
    /// The line.
    pub line: NoteLine,
}

/// A line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteLine {
    /// An added or unchanged line, with its number in the new file.
    Added(u32),
    /// A removed line, with its number in the old file. `None` for notes of earlier releases, which did not store it.
    Removed(Option<u32>),
}

impl NoteLine {
    /// The number of the line in the new file.
    pub fn number(self) -> Option<u32> {
        match self {
            NoteLine::Added(number) => Some(number),
            NoteLine::Removed(_) => None,
        }
    }

    /// The number of a removed line in the old file.
    pub fn old_number(self) -> Option<u32> {
        match self {
            NoteLine::Added(_) => None,
            NoteLine::Removed(number) => number,
        }
    }

    /// The value of `line_type` in the API.
    pub fn type_name(self) -> &'static str {
        match self {
            NoteLine::Added(_) => "new",
            NoteLine::Removed(_) => "old",
        }
    }
}
