//! What lies between two commits.

use crate::commit::Commit;

/// What one commit has that another has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Reachable from the one and not from the other, oldest first.
    pub commits: Vec<Commit>,
    /// What changed in files since both had the same, by path.
    pub diffs: Vec<FileDiff>,
    /// Whether there is more than people can read. Everything is here nevertheless, unless it was more than a
    /// server can put together in time.
    pub overflow: bool,
}

/// A file with its change longer than this is shown without it.
pub const LONGEST_FILE_DIFF: usize = 100 * 1024;

impl Comparison {
    const MANY_FILES: usize = 100;
    const MANY_LINES: usize = 5000;
    const MANY_BYTES: usize = 512_000;

    /// Puts a comparison together and decides whether it is more than people can read.
    pub fn new(commits: Vec<Commit>, diffs: Vec<FileDiff>) -> Self {
        let bytes: usize = diffs.iter().map(|diff| diff.text.len()).sum();
        let lines: usize = diffs.iter().map(|diff| diff.text.lines().count()).sum();
        let overflow = diffs.len() > Self::MANY_FILES
            || lines >= Self::MANY_LINES
            || bytes >= Self::MANY_BYTES;
        Self { commits, diffs, overflow }
    }
}

/// What changed in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// Where it was; for a new file where it is.
    pub old_path: String,
    /// Where it is; for a removed file where it was.
    pub new_path: String,
    /// The mode it had; `None` for a new file.
    pub old_mode: Option<u32>,
    /// The mode it has; `None` for a removed file.
    pub new_mode: Option<u32>,
    /// Whether it was moved.
    pub renamed: bool,
    /// The change as text, from the `---` line on; empty where there is none, or it is too long.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_people_can_read() {
        let diff = |text: &str| FileDiff {
            old_path: "x".into(),
            new_path: "x".into(),
            old_mode: None,
            new_mode: Some(0o100_644),
            renamed: false,
            text: text.to_owned(),
        };
        for (files, text, overflow) in [
            (100, "", false),
            (101, "", true),
            (1, &*"+\n".repeat(4999), false),
            (1, &*"+\n".repeat(5000), true),
            (6, &*"x".repeat(85_333), false),
            (6, &*"x".repeat(85_334), true),
        ] {
            let diffs = (0..files).map(|_| diff(text)).collect();
            assert_eq!(
                Comparison::new(vec![], diffs).overflow,
                overflow,
                "{files} × {}",
                text.len()
            );
        }
    }
}
