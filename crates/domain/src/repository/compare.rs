//! Comparison of two commits.

use crate::commit::Commit;

/// The commits and file changes that one commit has and another lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The commits that are reachable from the one commit and not from the other, oldest first.
    pub commits: Vec<Commit>,
    /// The file changes since the merge base, ordered by path.
    pub diffs: Vec<FileDiff>,
    /// Whether the diff is too large to display. It is complete nevertheless, unless computing it
    /// would have taken too long.
    pub overflow: bool,
}

/// The maximum size of the diff of a file in bytes. A larger diff is left out; the file is still
/// listed.
pub const LONGEST_FILE_DIFF: usize = 100 * 1024;

impl Comparison {
    /// The limits above which a comparison is too large to display.
    const MANY_FILES: usize = 100;
    const MANY_LINES: usize = 5000;
    const MANY_BYTES: usize = 512_000;

    /// Creates a comparison and decides whether it is too large to display.
    pub fn new(commits: Vec<Commit>, diffs: Vec<FileDiff>) -> Self {
        let bytes: usize = diffs.iter().map(|diff| diff.text.len()).sum();
        let lines: usize = diffs.iter().map(|diff| diff.text.lines().count()).sum();
        let overflow = diffs.len() > Self::MANY_FILES
            || lines >= Self::MANY_LINES
            || bytes >= Self::MANY_BYTES;
        Self { commits, diffs, overflow }
    }
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The previous path; for a new file the new path.
    pub old_path: String,
    /// The new path; for a deleted file the previous path.
    pub new_path: String,
    /// The previous mode; `None` for a new file.
    pub old_mode: Option<u32>,
    /// The new mode; `None` for a deleted file.
    pub new_mode: Option<u32>,
    /// Whether the file was renamed.
    pub renamed: bool,
    /// The unified diff from the `---` line on; empty when there is no textual change or the diff
    /// is too long.
    pub text: String,
    /// Whether the text is left out because it is too long.
    pub too_large: bool,
}

/// The kind of a changed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSide {
    /// A line of the new file that was added.
    New,
    /// A line of the old file that was removed.
    Old,
}

/// A line of a diff, with its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedLine {
    /// The number of the line in the old file. For an added line it is the number of the next line of the old file; 0 if
    /// the old file has no lines.
    pub old: u32,
    /// The number of the line in the new file. For a removed line it is the number of the next line of the new file; 0 if
    /// the new file has no lines.
    pub new: u32,
    /// The diff of the file.
    pub diff: FileDiff,
}

/// The part of a commit's diff that the API shows: at most 100 files, and only as long as the texts have fewer than
/// 5,000 lines and 512,000 bytes in total.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownDiffs {
    diffs: Vec<FileDiff>,
    lines: usize,
    bytes: usize,
}

impl ShownDiffs {
    /// Adds the next file. Returns `false` when it is over the limits; then it and all following files are left out.
    pub fn push(&mut self, diff: FileDiff) -> bool {
        let lines = self.lines + diff.text.lines().count();
        let bytes = self.bytes + diff.text.len();
        if self.diffs.len() >= Comparison::MANY_FILES
            || lines >= Comparison::MANY_LINES
            || bytes >= Comparison::MANY_BYTES
        {
            return false;
        }
        (self.lines, self.bytes) = (lines, bytes);
        self.diffs.push(diff);
        true
    }

    /// The files.
    pub fn into_diffs(self) -> Vec<FileDiff> {
        self.diffs
    }
}

/// The number of changed lines of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitStats {
    /// The number of added lines.
    pub additions: u64,
    /// The number of removed lines.
    pub deletions: u64,
    /// Whether all files were counted. Counting a huge commit may take too long.
    pub complete: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_comparisons_overflow() {
        let diff = |text: &str| FileDiff {
            old_path: "x".into(),
            new_path: "x".into(),
            old_mode: None,
            new_mode: Some(0o100_644),
            renamed: false,
            text: text.to_owned(),
            too_large: false,
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
    #[test]
    fn the_file_that_reaches_a_limit_and_all_after_it_are_left_out() {
        let diff = |text: String| FileDiff {
            old_path: "x".into(),
            new_path: "x".into(),
            old_mode: None,
            new_mode: Some(0o100_644),
            renamed: false,
            text,
            too_large: false,
        };
        for (texts, shown) in [
            (vec![String::new(); 101], 100),
            (vec!["+\n".repeat(5000)], 0),
            (vec!["+\n".repeat(4999), String::new(), "+\n".into(), String::new()], 2),
            (vec!["x".repeat(511_999), "x".into()], 1),
        ] {
            let mut diffs = ShownDiffs::default();
            let pushed =
                texts.into_iter().take_while(|text| diffs.push(diff(text.clone()))).count();
            assert_eq!((pushed, diffs.into_diffs().len()), (shown, shown));
        }
    }
}
