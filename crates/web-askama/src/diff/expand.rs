//! Lines between the hunks of a diff. They are the same before and after the change, so the new file has them. The query
//! of the page says which of them are shown, and links add more.

use std::ops::RangeInclusive;
use std::str::Lines;

use super::rows::{Kind, Line};

/// The lines that a link adds.
const STEP: u32 = 20;

/// The ranges that a page reads from its query.
const MAX_RANGES: usize = 100;

/// The lines of context around a change. Fewer lines after the last change are the end of the file.
const CONTEXT: usize = 3;

/// Numbers of lines of the new file.
pub(super) type Numbers = RangeInclusive<u32>;

/// Lines that are not shown, and where others are shown around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hidden {
    first: u32,
    /// `None` if the length of the file is not known.
    last: Option<u32>,
    is_at_start: bool,
    is_at_end: bool,
}

impl Hidden {
    /// The lines that links show: those after the lines above, and those before the lines below.
    pub(super) fn steps(&self) -> Vec<Numbers> {
        let Hidden { first, is_at_start, is_at_end, .. } = *self;
        let last = self.last.unwrap_or(first.saturating_add(STEP - 1));
        if last - first < STEP {
            return vec![first..=last];
        }
        let down = (!is_at_start).then_some(first..=first + (STEP - 1));
        let up = (!is_at_end).then_some(last - (STEP - 1)..=last);
        down.into_iter().chain(up).collect()
    }
}

/// Reads ranges such as `11-30`.
pub(super) fn ranges<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Numbers> {
    let range = |text: &str| {
        let (first, last) = text.split_once('-')?;
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        (1 <= first && first <= last).then_some(first..=last)
    };
    texts.filter_map(range).take(MAX_RANGES).collect()
}

/// A diff with lines between its hunks.
pub(super) struct Expanded {
    pub(super) lines: Vec<Line>,
    /// The lines after the last hunk that are not shown.
    pub(super) end: Option<Hidden>,
}

/// The next line of the old and of the new file.
#[derive(Clone, Copy)]
struct Position {
    old: u32,
    new: u32,
}

impl Position {
    fn pass(&mut self, kind: Kind) {
        match kind {
            Kind::Added => self.new += 1,
            Kind::Removed => self.old += 1,
            Kind::Same => (self.old, self.new) = (self.old + 1, self.new + 1),
            Kind::Hunk => {}
        }
    }
}

/// Adds the wanted lines of the new file between the hunks. Its text is `None` while it is not read: then only the lines
/// that are hidden are known. Stops soon after `limit` lines: memory must not grow with the file, and the caller cuts the
/// rest.
pub(super) fn expand(
    lines: Vec<Line>,
    content: Option<&str>,
    wanted: &[Numbers],
    limit: usize,
) -> Expanded {
    let mut to = Vec::new();
    let mut at = Position { old: 1, new: 1 };
    let mut trailing = 0;
    let length = content.map(|text| u32::try_from(text.lines().count()).unwrap_or(u32::MAX - 1));
    let content = content.map(|text| Content { lines: text.lines(), next: 1 });
    let mut filler = Filler { content, wanted, limit };
    for line in lines {
        if to.len() > limit {
            return Expanded { lines: to, end: None };
        }
        if let Some((old, new)) = line.start {
            let start = Position { old: old.max(1), new: new.max(1) };
            let hidden = filler.fill(at, start.new, start, &mut to);
            let is_joined = hidden.is_none() && start.new > at.new;
            if !is_joined {
                // Lines after the hunk above are shown: the numbers in the header would be wrong.
                let is_split = hidden.as_ref().is_some_and(|hidden| hidden.first > at.new);
                let header = if is_split { Line::header(start.old, start.new) } else { line };
                to.push(header.below(hidden));
            }
            (at, trailing) = (start, 0);
            continue;
        }
        trailing = if line.kind == Kind::Same { trailing + 1 } else { 0 };
        at.pass(line.kind);
        to.push(line);
    }
    let end = match length {
        _ if to.is_empty() => None,
        Some(length) => {
            let hidden = filler.fill(at, length + 1, at, &mut to);
            hidden.map(|hidden| Hidden { is_at_end: true, ..hidden })
        }
        None if trailing >= CONTEXT => {
            Some(Hidden { first: at.new, last: None, is_at_start: false, is_at_end: true })
        }
        None => None,
    };
    Expanded { lines: to, end }
}

/// The lines of a file, which are read once and in order.
struct Content<'a> {
    lines: Lines<'a>,
    /// The number of the next line.
    next: u32,
}

impl<'a> Content<'a> {
    /// The line with this number. Lines before it are not read again.
    fn line(&mut self, number: u32) -> Option<&'a str> {
        let skipped = number.checked_sub(self.next)?;
        self.next = number + 1;
        self.lines.nth(skipped as usize)
    }
}

struct Filler<'a> {
    content: Option<Content<'a>>,
    wanted: &'a [Numbers],
    limit: usize,
}

impl Filler<'_> {
    /// The first wanted line from this one on.
    fn next_wanted(&self, from: u32) -> Option<u32> {
        let ahead = self.wanted.iter().filter(|range| *range.end() >= from);
        ahead.map(|range| (*range.start()).max(from)).min()
    }

    /// Adds the wanted lines from a position up to the line `end` of the new file, with a header before each line that
    /// does not follow the one above. Returns the hidden lines before `end`. `anchor` is a position whose distance
    /// between the two files is that of the lines.
    fn fill(
        &mut self,
        from: Position,
        end: u32,
        anchor: Position,
        to: &mut Vec<Line>,
    ) -> Option<Hidden> {
        let hidden = |first: u32, last: u32| Hidden {
            first,
            last: Some(last),
            is_at_start: first == 1,
            is_at_end: false,
        };
        let mut next = from.new;
        while to.len() <= self.limit {
            let Some(number) = self.next_wanted(next).filter(|number| *number < end) else { break };
            let line = self.content.as_mut().and_then(|content| content.line(number));
            let Some(text) = line else { break };
            let old = (number + anchor.old).saturating_sub(anchor.new);
            if next < number {
                let hidden = hidden(next, number - 1);
                to.push(Line::header(old, number).below(Some(hidden)));
            }
            to.push(Line::shown_between(old, number, text));
            next = number + 1;
        }
        (next < end).then(|| hidden(next, end - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -41,3 +41,4 @@ fn x\n l41\n+new\n l42\n l43\n";

    fn content() -> String {
        (1..=100).map(|number| format!("l{number}\n")).collect::<String>()
    }

    fn shown(wanted: &[Numbers], content: Option<&str>) -> (Vec<String>, Option<Vec<Numbers>>) {
        let expanded = expand(Line::parse(DIFF, false), content, wanted, 1000);
        let line = |line: &Line| match (&line.hidden, line.kind) {
            (Some(hidden), _) => format!("{} {:?}", line.text, hidden.steps()),
            (None, Kind::Hunk) => line.text.clone(),
            (None, _) => format!("{:?} {:?}", line.old.unwrap_or(0), line.new.unwrap_or(0)),
        };
        let end = expanded.end.map(|end| end.steps());
        (expanded.lines.iter().map(line).collect(), end)
    }

    #[test]
    fn links_show_the_lines_around_a_hunk() {
        let (lines, end) = shown(&[], None);
        assert_eq!(lines[0], "@@ -41,3 +41,4 @@ fn x [21..=40]");
        assert_eq!(lines.len(), 5);
        assert_eq!(end, None, "two lines of context are the end of the file");
        let content = content();
        let (_, end) = shown(&[], Some(&content));
        assert_eq!(end, Some(vec![45..=64]));
    }

    #[test]
    fn wanted_lines_join_their_hunk() {
        let content = content();
        let (lines, end) = shown(&[39..=40, 45..=46], Some(&content));
        assert_eq!(
            lines,
            [
                "@@ -39 +39 @@ [19..=38]",
                "39 39",
                "40 40",
                "41 41",
                "0 42",
                "42 43",
                "43 44",
                "44 45",
                "45 46"
            ]
        );
        assert_eq!(end, Some(vec![47..=66]));
        let (lines, end) = shown(&[1..=200], Some(&content));
        assert_eq!((lines.len(), end), (100, None));
        assert_eq!((lines[0].as_str(), lines[99].as_str()), ("1 1", "99 100"));
        let (lines, _) = shown(&[10..=11], Some(&content));
        assert_eq!(lines[..3], ["@@ -10 +10 @@ [1..=9]", "10 10", "11 11"]);
        assert_eq!(lines[3], "@@ -41 +41 @@ [12..=31, 21..=40]");
    }

    #[test]
    fn long_files_are_not_read_beyond_what_is_shown() {
        let content = "x\n".repeat(1_000_000);
        let diff = "--- a/x\n+++ b/x\n@@ -999998,3 +999998,3 @@\n x\n x\n-y\n+x\n";
        let kept = |wanted, limit| {
            let expanded = expand(Line::parse(diff, false), Some(&content), &[wanted], limit);
            (expanded.lines.len(), expanded.lines.capacity(), expanded.end)
        };
        let (lines, capacity, end) = kept(1..=1_048_576, 100);
        assert_eq!(end, None);
        assert!(lines > 100 && capacity < 1000, "{lines} {capacity}");
        assert_eq!(kept(1..=3, 100).0, 8, "three lines, a header, and the hunk");
        assert!((2..5).contains(&kept(1..=3, 1).0));
    }

    #[test]
    fn ranges_are_numbers_of_lines() {
        let texts = ["1-2", "x", "0-4", "5-4", "7-7", "1-99999999999"];
        assert_eq!(ranges(texts.into_iter()), [1..=2, 7..=7]);
    }
}
