//! Writes the diff of one file: a unified diff as git writes it, from its `---` line on.

use std::io::Write;
use std::ops::Range;

use gix::diff::blob::{Algorithm, Hunk, InternedInput, diff_with_slider_heuristics};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::LineSide;
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
    let (Content::Text(old), Content::Text(new)) = (read(repo, old)?, read(repo, new)?) else {
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

fn read(repo: &gix::Repository, entry: Option<&Entry>) -> Result<Content, GitError> {
    match entry {
        Some(entry) => content::read(repo, entry),
        None => Ok(Content::Text(Vec::new())),
    }
}

/// Finds the first line of a side with this number in the new file. Returns its numbers in the old and in the new file,
/// as [`ChangedLine`](hexforge_domain::repository::ChangedLine) defines them.
pub(super) fn find_line(
    repo: &gix::Repository,
    (old, new): (Option<&Entry>, Option<&Entry>),
    side: LineSide,
    number: u32,
) -> Result<Option<(u32, u32)>, GitError> {
    if old.map(|entry| entry.id) == new.map(|entry| entry.id) {
        return Ok(None);
    }
    let (Content::Text(old), Content::Text(new)) = (read(repo, old)?, read(repo, new)?) else {
        return Ok(None);
    };
    Ok(line_numbers(&old, &new, side, number))
}

fn line_numbers(old: &[u8], new: &[u8], side: LineSide, number: u32) -> Option<(u32, u32)> {
    let input = InternedInput::new(old, new);
    if differ_too_much(&input.before, &input.after) {
        return None;
    }
    let next_old = |line: u32| if input.before.is_empty() { 0 } else { line + 1 };
    let next_new = |line: u32| if input.after.is_empty() { 0 } else { line + 1 };
    let diff = diff_with_slider_heuristics(Algorithm::Myers, &input);
    diff.hunks().find_map(|hunk| match side {
        LineSide::Old => {
            let is_here = !hunk.before.is_empty() && next_new(hunk.after.start) == number;
            is_here.then_some((hunk.before.start + 1, number))
        }
        LineSide::New => {
            let is_here = number > 0 && hunk.after.contains(&(number - 1));
            is_here.then(|| (next_old(hunk.before.end), number))
        }
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// commits_files.md section 4.2: a removed line has the number of the next line of the new file.
    #[test]
    fn changed_lines_are_found_by_their_number_in_the_new_file() {
        use LineSide::{New, Old};
        let (old, new) = ("a\nb\nc\nd\ne\n", "A\nb\nc\nx\ny\nd\n");
        for (side, number, expected) in [
            (Old, 1, Some((1, 1))),
            (New, 1, Some((2, 1))),
            (New, 2, None),
            (Old, 2, None),
            (New, 4, Some((4, 4))),
            (New, 5, Some((4, 5))),
            (Old, 4, None),
            (New, 6, None),
            (Old, 7, Some((5, 7))),
            (New, 0, None),
            (Old, 0, None),
            (New, u32::MAX, None),
        ] {
            let found = line_numbers(old.as_bytes(), new.as_bytes(), side, number);
            assert_eq!(found, expected, "{side:?} {number}");
        }
    }

    #[test]
    fn a_file_without_lines_has_the_number_zero() {
        let lines = b"a\nb\n";
        assert_eq!(line_numbers(b"", lines, LineSide::New, 2), Some((0, 2)));
        assert_eq!(line_numbers(lines, b"", LineSide::Old, 0), Some((1, 0)));
        assert_eq!(line_numbers(lines, b"", LineSide::Old, 1), None);
    }
}
