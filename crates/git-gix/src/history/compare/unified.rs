//! Writes the diff of one file: a unified diff as git writes it, from its `---` line on.

use std::io::Write;
use std::ops::Range;

use gix::diff::blob::{Algorithm, Hunk, InternedInput, diff_with_slider_heuristics};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::compare::LONGEST_FILE_DIFF;

use super::content::{self, Content, Entry};
use super::distance::differ_too_much;
use super::quote::quoted;

/// The number of unchanged lines around a change.
const CONTEXT: u32 = 3;

/// The maximum length of the heading in a hunk header.
const LONGEST_HEADING: usize = 80;

const MISSING: &str = "/dev/null";

/// The diff of a file.
pub(super) enum DiffText {
    /// The diff. It is empty when only the name or the mode changed.
    Text(Vec<u8>),
    /// The diff is too long.
    TooLarge,
}

/// Returns the diff of a file.
pub(super) fn text(
    repo: &gix::Repository,
    old: Option<&Entry>,
    new: Option<&Entry>,
) -> Result<DiffText, GitError> {
    if old.map(|entry| entry.id) == new.map(|entry| entry.id) {
        return Ok(DiffText::Text(Vec::new()));
    }
    let label = |prefix, entry: Option<&Entry>| match entry {
        Some(entry) => quoted(prefix, &entry.path),
        None => MISSING.to_owned(),
    };
    let (old_label, new_label) = (label("a/", old), label("b/", new));
    let read = |entry: Option<&Entry>| match entry {
        Some(entry) => content::read(repo, entry),
        None => Ok(Content::Text(Vec::new())),
    };
    let (Content::Text(old), Content::Text(new)) = (read(old)?, read(new)?) else {
        let text = format!("Binary files {old_label} and {new_label} differ\n");
        return Ok(DiffText::Text(text.into_bytes()));
    };
    let Some(hunks) = hunks(&old, &new) else { return Ok(DiffText::TooLarge) };
    if hunks.is_empty() {
        return Ok(DiffText::Text(hunks));
    }
    let mut text = Vec::with_capacity(hunks.len() + old_label.len() + new_label.len() + 12);
    for (sign, label) in [("---", old_label), ("+++", new_label)] {
        // As in git: without the tab, other programs read the text after a space as a date.
        let end = if label.contains(' ') { "\t" } else { "" };
        text.extend_from_slice(format!("{sign} {label}{end}\n").as_bytes());
    }
    text.extend_from_slice(&hunks);
    Ok(DiffText::Text(text))
}

/// Returns the hunks, or `None` when they are too long.
fn hunks(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    // At least the difference in length was added or removed.
    if old.len().abs_diff(new.len()) >= LONGEST_FILE_DIFF {
        return None;
    }
    let input = InternedInput::new(old, new);
    if differ_too_much(&input.before, &input.after) {
        return None;
    }
    let diff = diff_with_slider_heuristics(Algorithm::Myers, &input);
    let mut writer =
        Writer { input: &input, text: Vec::new(), size: 0, heading: None, searched: 0 };
    let mut group: Vec<Hunk> = Vec::new();
    for hunk in diff.hunks() {
        // Changes whose context lines overlap or touch form one hunk.
        if group.last().is_some_and(|last| hunk.before.start - last.before.end > 2 * CONTEXT) {
            writer.write_hunk(&group);
            group.clear();
        }
        group.push(hunk);
        if writer.size >= LONGEST_FILE_DIFF {
            return None;
        }
    }
    if !group.is_empty() {
        writer.write_hunk(&group);
    }
    (writer.size < LONGEST_FILE_DIFF).then_some(writer.text)
}

struct Writer<'a> {
    input: &'a InternedInput<&'a [u8]>,
    text: Vec<u8>,
    /// The number of bytes in the written lines, without their signs.
    size: usize,
    /// The last heading found, such as the first line of a function.
    heading: Option<&'a [u8]>,
    /// The number of lines of the old text that were searched for a heading.
    searched: u32,
}

impl Writer<'_> {
    /// Writes a hunk: changes that are close to each other, with their context.
    fn write_hunk(&mut self, changes: &[Hunk]) {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return };
        let old_end = self.input.before.len() as u32;
        let before = first.before.start.min(CONTEXT);
        let after = (old_end - last.before.end).min(CONTEXT);
        let old = first.before.start - before..last.before.end + after;
        let new = first.after.start - before..last.after.end + after;
        self.write_header(&old, &new);
        let mut at = old.start;
        for change in changes {
            self.write_old_lines(b' ', at..change.before.start);
            self.write_old_lines(b'-', change.before.clone());
            for line in change.after.clone() {
                self.write_line(b'+', self.input.interner[self.input.after[line as usize]]);
            }
            at = change.before.end;
        }
        self.write_old_lines(b' ', at..old.end);
    }

    fn write_header(&mut self, old: &Range<u32>, new: &Range<u32>) {
        self.find_heading(old.start);
        let _ = write!(self.text, "@@ -{} +{} @@", format_range(old), format_range(new));
        if let Some(heading) = self.heading {
            self.text.push(b' ');
            self.text.extend_from_slice(heading);
        }
        self.text.push(b'\n');
    }

    /// Finds the last line before a hunk that starts with a letter, `_` or `$`. If there is none, the heading of the
    /// previous hunk stays.
    fn find_heading(&mut self, before: u32) {
        let lines = (self.searched..before).rev();
        let mut lines = lines.map(|line| self.input.interner[self.input.before[line as usize]]);
        let heading = lines.find(|line| {
            line.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || b"_$".contains(&byte))
        });
        self.searched = before;
        if let Some(line) = heading {
            self.heading = Some(truncate_heading(line));
        }
    }

    fn write_old_lines(&mut self, sign: u8, lines: Range<u32>) {
        for line in lines {
            self.write_line(sign, self.input.interner[self.input.before[line as usize]]);
        }
    }

    fn write_line(&mut self, sign: u8, line: &[u8]) {
        self.size += line.len();
        self.text.push(sign);
        self.text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            self.text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// Cuts a heading to its maximum length and to valid UTF-8.
fn truncate_heading(line: &[u8]) -> &[u8] {
    let line = &line[..line.len().min(LONGEST_HEADING)];
    let end = line.iter().rposition(|byte| !b" \t\r\n".contains(byte)).map_or(0, |last| last + 1);
    let line = &line[..end];
    match std::str::from_utf8(line) {
        Ok(_) => line,
        Err(error) => &line[..error.valid_up_to()],
    }
}

/// Formats a line range for a hunk header. An empty range names the line before it.
fn format_range(lines: &Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        length => format!("{},{length}", lines.start + 1),
    }
}
