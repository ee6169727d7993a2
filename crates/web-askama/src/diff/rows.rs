//! The lines of a unified diff, as rows of a table.

use std::collections::HashSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use super::expand::{Hidden, Numbers};
use super::notes::LineNote;
use crate::{address, visible};

/// The time in which lines that differ only in white space are found, for each file.
const TIME_FOR_WHITE_SPACE: Duration = Duration::from_millis(100);

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Added,
    Removed,
    Same,
    /// The header of a hunk.
    Hunk,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Added => "added",
            Kind::Removed => "removed",
            Kind::Same => "same",
            Kind::Hunk => "hunk",
        }
    }

    pub(super) fn sign(self) -> &'static str {
        match self {
            Kind::Added => "+",
            Kind::Removed => "-",
            Kind::Same => " ",
            Kind::Hunk => "",
        }
    }
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) old: Option<u32>,
    pub(super) new: Option<u32>,
    /// For a removed line, the number of the next line of the new file; 0 if the new file has no lines.
    next: Option<u32>,
    /// For the header of a hunk of the diff, the first line numbers of the hunk.
    pub(super) start: Option<(u32, u32)>,
    /// For a header, the lines above it that are not shown.
    pub(super) hidden: Option<Hidden>,
    /// Whether the line is between the hunks of the diff.
    is_between: bool,
    /// The text, as far as it is shown.
    pub(super) text: String,
    /// The changed parts of the text.
    pub(super) marks: Vec<Range<usize>>,
    /// The number of characters that are not shown.
    missing: usize,
    is_last_without_newline: bool,
}

impl Line {
    fn new(kind: Kind, old: Option<u32>, new: Option<u32>, text: &str) -> Self {
        let (text, missing) = visible::cut(text);
        let (text, marks) = (text.to_owned(), vec![]);
        Self {
            kind,
            old,
            new,
            next: None,
            start: None,
            hidden: None,
            is_between: false,
            text,
            marks,
            missing,
            is_last_without_newline: false,
        }
    }

    /// The header above lines that begin with these numbers.
    pub(super) fn header(old: u32, new: u32) -> Self {
        Self::new(Kind::Hunk, None, None, &format!("@@ -{old} +{new} @@"))
    }

    /// The same header below lines that are not shown.
    pub(super) fn below(self, hidden: Option<Hidden>) -> Self {
        Self { hidden, ..self }
    }

    /// A line between the hunks of the diff.
    pub(super) fn shown_between(old: u32, new: u32, text: &str) -> Self {
        Self { is_between: true, ..Self::new(Kind::Same, Some(old), Some(new), text) }
    }

    /// Reads a unified diff. If white space is ignored, lines that differ only in it are the same, and hunks without
    /// other changes are left out.
    pub(super) fn parse(text: &str, ignores_white_space: bool) -> Vec<Self> {
        let lines = parse(text);
        if ignores_white_space { without_white_space(lines) } else { lines }
    }
}

/// The numbers of added and of removed lines of a unified diff.
pub(super) fn count(text: &str) -> (usize, usize) {
    let (mut added, mut removed, mut is_in_hunk) = (0, 0, false);
    for line in text.lines() {
        match line.as_bytes().first() {
            Some(b'@') => is_in_hunk = true,
            Some(b'+') if is_in_hunk => added += 1,
            Some(b'-') if is_in_hunk => removed += 1,
            _ => (),
        }
    }
    (added, removed)
}

fn parse(text: &str) -> Vec<Line> {
    let (mut old, mut new) = (0, 0);
    let mut is_in_hunk = false;
    let mut lines: Vec<Line> = Vec::new();
    for line in text.lines() {
        match line.as_bytes().first() {
            Some(b'@') => {
                is_in_hunk = true;
                (old, new) = starts(line);
                let header = Line::new(Kind::Hunk, None, None, line);
                lines.push(Line { start: Some((old, new)), ..header });
            }
            // The names of the files come before the first hunk.
            _ if !is_in_hunk => (),
            Some(b'+') => {
                lines.push(Line::new(Kind::Added, None, Some(new), &line[1..]));
                new += 1;
            }
            Some(b'-') => {
                let line = Line::new(Kind::Removed, Some(old), None, &line[1..]);
                lines.push(Line { next: Some(new), ..line });
                old += 1;
            }
            Some(b' ') => {
                lines.push(Line::new(Kind::Same, Some(old), Some(new), &line[1..]));
                (old, new) = (old + 1, new + 1);
            }
            // `\ No newline at end of file`
            Some(b'\\') => {
                if let Some(last) = lines.last_mut() {
                    last.is_last_without_newline = true;
                }
            }
            _ => (),
        }
    }
    lines
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

/// The end of the run of lines of one kind that begins at a position.
pub(super) fn run_end(lines: &[Line], start: usize, kind: Kind) -> usize {
    let length = lines[start..].iter().take_while(|line| line.kind == kind).count();
    start + length
}

fn without_white_space(lines: Vec<Line>) -> Vec<Line> {
    let deadline = Instant::now() + TIME_FOR_WHITE_SPACE;
    let mut shown: Vec<Line> = Vec::with_capacity(lines.len());
    let mut hunk_start = 0;
    let mut at = 0;
    while at < lines.len() {
        match lines[at].kind {
            Kind::Hunk => {
                drop_unchanged(&mut shown, hunk_start);
                hunk_start = shown.len();
                shown.push(lines[at].clone());
                at += 1;
            }
            Kind::Same => {
                shown.push(lines[at].clone());
                at += 1;
            }
            Kind::Added | Kind::Removed => {
                let middle = run_end(&lines, at, Kind::Removed);
                let end = run_end(&lines, middle, Kind::Added);
                join(&lines[at..middle], &lines[middle..end], deadline, &mut shown);
                at = end;
            }
        }
    }
    drop_unchanged(&mut shown, hunk_start);
    shown
}

/// Removes the last hunk if nothing in it changed.
fn drop_unchanged(shown: &mut Vec<Line>, hunk_start: usize) {
    let is_changed = |line: &Line| matches!(line.kind, Kind::Added | Kind::Removed);
    if !shown[hunk_start..].iter().any(is_changed) {
        shown.truncate(hunk_start);
    }
}

/// Compares removed and added lines without their white space. Lines that are equal then are shown once, as they are
/// after the change.
fn join(removed: &[Line], added: &[Line], deadline: Instant, shown: &mut Vec<Line>) {
    let key = |line: &Line| line.text.split_whitespace().collect::<String>();
    let old: Vec<String> = removed.iter().map(key).collect();
    let new: Vec<String> = added.iter().map(key).collect();
    for op in capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline)) {
        let (tag, old, new) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            for (before, after) in removed[old].iter().zip(&added[new]) {
                shown.push(Line { kind: Kind::Same, old: before.old, ..after.clone() });
            }
        } else {
            shown.extend_from_slice(&removed[old]);
            shown.extend_from_slice(&added[new]);
        }
    }
}

/// A part of a line, which may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) is_changed: bool,
}

/// A row of the unified layout, and one side of the other layout.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// `added`, `removed`, `same` or `hunk`.
    pub(super) kind: &'static str,
    pub(super) old: Option<u32>,
    pub(super) new: Option<u32>,
    next: Option<u32>,
    pub(super) sign: &'static str,
    pub(super) parts: Vec<Part>,
    pub(super) missing: usize,
    pub(super) is_last_without_newline: bool,
    /// The address of the form for a comment on the line.
    pub(super) comment: Option<String>,
    /// The name of the link to it.
    pub(super) comment_name: String,
    /// The comments on the line, oldest first.
    pub(super) notes: Vec<LineNote>,
    /// For a header, the lines above it that are not shown, and the links that show some of them.
    hidden: Option<Hidden>,
    pub(super) expansions: Vec<Expansion>,
    /// The anchor of a line between the hunks.
    pub(super) anchor: Option<String>,
}

/// A link that shows lines between the hunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expansion {
    pub(super) address: String,
    /// `lines 11 to 30`.
    pub(super) lines: String,
}

impl Expansion {
    /// The links for hidden lines. `address` makes the address of a page that shows more lines.
    pub(super) fn all(hidden: &Hidden, address: impl Fn(&Numbers) -> String) -> Vec<Self> {
        let expansion = |lines: Numbers| Self {
            address: format!("{}#N{}", address(&lines), lines.start()),
            lines: match lines.start() == lines.end() {
                true => format!("line {}", lines.start()),
                false => format!("lines {} to {}", lines.start(), lines.end()),
            },
        };
        hidden.steps().into_iter().map(expansion).collect()
    }
}

impl From<Line> for Row {
    fn from(line: Line) -> Self {
        let Line { kind, old, new, next, text, marks, missing, .. } = line;
        let Line { hidden, is_between, is_last_without_newline, .. } = line;
        let (mut parts, mut end) = (Vec::new(), 0);
        let mut push = |range: Range<usize>, is_changed| {
            if !range.is_empty() {
                parts.push(Part { text: visible::reveal(&text[range]), is_changed });
            }
        };
        for mark in marks {
            push(end..mark.start, false);
            end = mark.end;
            push(mark, true);
        }
        push(end..text.len(), false);
        let (kind, sign) = (kind.name(), kind.sign());
        Self {
            kind,
            old,
            new,
            next,
            sign,
            parts,
            missing,
            is_last_without_newline,
            comment: None,
            comment_name: String::new(),
            notes: vec![],
            hidden,
            expansions: vec![],
            anchor: new.filter(|_| is_between).map(|number| format!("N{number}")),
        }
    }
}

impl Row {
    /// Links a header to pages that show lines above it.
    pub(super) fn link_expansions(&mut self, address: impl Fn(&Numbers) -> String) {
        self.expansions =
            self.hidden.as_ref().map_or(vec![], |hidden| Expansion::all(hidden, address));
    }

    /// Links the line to a form for a comment on it.
    pub(super) fn link_comment(&mut self, form: &str, path: &str) {
        if self.kind == "hunk" {
            return;
        }
        let numbers = [("old", self.old), ("new", self.new), ("next", self.next)];
        let numbers: Vec<(&str, String)> = numbers
            .into_iter()
            .filter_map(|(name, number)| Some((name, number?.to_string())))
            .collect();
        let numbers = numbers.iter().map(|(name, number)| (*name, number.as_str()));
        let query = address::query([("path", path)].into_iter().chain(numbers));
        let mark = if form.contains('?') { '&' } else { '?' };
        self.comment = Some(format!("{form}{mark}{query}"));
    }

    /// Names the link for comments. `names` has those of the lines above, because names are unique on a page.
    pub(super) fn name_comment(&mut self, path: &str, names: &mut HashSet<String>) {
        let mut name = format!("Comment on {}", self.line_name());
        if !names.insert(name.clone()) {
            name = format!("{name} of {path}");
        }
        self.comment_name = name;
    }

    /// `line 7` or `removed line 7`.
    pub(super) fn line_name(&self) -> String {
        let kind = if self.kind == "removed" { "removed line" } else { "line" };
        format!("{kind} {}", self.new.or(self.old).unwrap_or_default())
    }
}

/// A row of the layout side by side.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// The kind of the right side, or that of the left side if there is no right one.
    pub(super) kind: &'static str,
    pub(super) left: Option<Row>,
    pub(super) right: Option<Row>,
}

impl Pair {
    fn new(left: Option<Row>, right: Option<Row>) -> Self {
        let kind = right.as_ref().or(left.as_ref()).map_or("same", |row| row.kind);
        Self { kind, left, right }
    }

    /// Puts removed lines beside the added ones that replace them.
    pub(super) fn side_by_side(lines: Vec<Line>) -> Vec<Self> {
        let mut pairs = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            match lines[at].kind {
                Kind::Hunk => {
                    pairs.push(Self::new(Some(lines[at].clone().into()), None));
                    at += 1;
                }
                Kind::Same => {
                    let row = Row::from(lines[at].clone());
                    pairs.push(Self::new(Some(row.clone()), Some(row)));
                    at += 1;
                }
                Kind::Added | Kind::Removed => {
                    let middle = run_end(&lines, at, Kind::Removed);
                    let end = run_end(&lines, middle, Kind::Added);
                    let (removed, added) = (&lines[at..middle], &lines[middle..end]);
                    for place in 0..removed.len().max(added.len()) {
                        let row = |side: &[Line]| side.get(place).cloned().map(Row::from);
                        pairs.push(Self::new(row(removed), row(added)));
                    }
                    at = end;
                }
            }
        }
        pairs
    }
}
