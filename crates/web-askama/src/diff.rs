//! Diffs as rows of a table.

use hexforge_domain::repository::FileDiff;

use crate::pages::visible;

/// A file with more changed lines than this is folded.
const MAX_CHANGED: usize = 400;

/// The changes of one file.
pub(crate) struct FileChange {
    /// The name of the region: the path, or both paths of a renamed file.
    pub(crate) name: String,
    /// The path after the change.
    pub(crate) path: String,
    pub(crate) note: Option<&'static str>,
    pub(crate) rows: Vec<Row>,
    pub(crate) is_folded: bool,
    pub(crate) additions: usize,
    pub(crate) deletions: usize,
}

/// A row of a diff.
pub(crate) struct Row {
    /// `added`, `removed`, `same` or `hunk`.
    pub(crate) kind: &'static str,
    pub(crate) old: Option<u32>,
    pub(crate) new: Option<u32>,
    pub(crate) sign: &'static str,
    pub(crate) text: String,
}

impl FileChange {
    /// Reads a unified diff. It is folded if it has more lines than are left on the page.
    pub(crate) fn new(diff: &FileDiff, left: usize) -> Self {
        let rows = rows(&diff.text);
        let count = |kind: &str| rows.iter().filter(|row| row.kind == kind).count();
        let (additions, deletions) = (count("added"), count("removed"));
        let is_folded = rows.len() > left || additions + deletions > MAX_CHANGED;
        let name = match diff.renamed {
            true => format!("{} → {}", diff.old_path, diff.new_path),
            false => diff.new_path.clone(),
        };
        let note = match (diff.old_mode, diff.new_mode) {
            _ if diff.too_large => Some("This diff is too large to show."),
            (None | Some(0), _) if rows.is_empty() => Some("Empty or binary file added."),
            (_, None | Some(0)) if rows.is_empty() => Some("Empty or binary file removed."),
            _ if rows.is_empty() => {
                Some("No text changed: the file is binary, or was renamed only.")
            }
            (old, new) if old.is_some() && new.is_some() && old != new => {
                Some("The mode of the file changed.")
            }
            _ => None,
        };
        Self {
            name,
            path: diff.new_path.clone(),
            note,
            rows: if is_folded { vec![] } else { rows },
            is_folded,
            additions,
            deletions,
        }
    }

    /// The number of rows that are shown.
    pub(crate) fn lines(&self) -> usize {
        self.rows.len()
    }
}

fn rows(text: &str) -> Vec<Row> {
    let (mut old, mut new) = (0, 0);
    let mut is_in_hunk = false;
    let mut rows = Vec::new();
    for line in text.lines() {
        let row = match line.as_bytes().first() {
            Some(b'@') => {
                is_in_hunk = true;
                (old, new) = starts(line);
                Row { kind: "hunk", old: None, new: None, sign: "", text: visible(line) }
            }
            // The names of the files come before the first hunk.
            _ if !is_in_hunk => continue,
            Some(b'+') => {
                new += 1;
                let (new, text) = (Some(new - 1), visible(&line[1..]));
                Row { kind: "added", old: None, new, sign: "+", text }
            }
            Some(b'-') => {
                old += 1;
                let (old, text) = (Some(old - 1), visible(&line[1..]));
                Row { kind: "removed", old, new: None, sign: "-", text }
            }
            Some(b' ') => {
                (old, new) = (old + 1, new + 1);
                let text = visible(&line[1..]);
                Row { kind: "same", old: Some(old - 1), new: Some(new - 1), sign: " ", text }
            }
            _ => continue,
        };
        rows.push(row);
    }
    rows
}

/// The first line numbers of a hunk: `@@ -1,2 +3,4 @@`.
fn starts(line: &str) -> (u32, u32) {
    let number = |sign: char| {
        let (_, rest) = line.split_once(sign)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok()
    };
    (number('-').unwrap_or(0), number('+').unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_on_both_sides() {
        let text =
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+++ c\n d\n\\ No newline at end of file\n";
        let shown: Vec<_> =
            rows(text).into_iter().map(|row| (row.kind, row.old, row.new, row.text)).collect();
        let line = |kind, old, new, text: &str| (kind, old, new, text.to_owned());
        assert_eq!(
            shown,
            [
                line("hunk", None, None, "@@ -1,3 +1,3 @@"),
                line("same", Some(1), Some(1), "a"),
                line("removed", Some(2), None, "b"),
                line("added", None, Some(2), "++ c"),
                line("same", Some(3), Some(3), "d"),
            ]
        );
    }
}
