//! The position of a note in the diff of a commit.

/// The changed line that a note is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotePosition {
    /// The path of the file after the commit.
    pub path: String,
    /// The line.
    pub line: NoteLine,
}

/// A changed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteLine {
    /// An added line, with its number in the new file.
    Added(u32),
    /// A removed line. It has no number in the new file.
    Removed,
}

impl NoteLine {
    /// The number of the line in the new file.
    pub fn number(self) -> Option<u32> {
        match self {
            NoteLine::Added(number) => Some(number),
            NoteLine::Removed => None,
        }
    }

    /// The value of `line_type` in the API.
    pub fn type_name(self) -> &'static str {
        match self {
            NoteLine::Added(_) => "new",
            NoteLine::Removed => "old",
        }
    }
}
