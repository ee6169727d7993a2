//! Merges the lines of three versions of a file, as xdiff does for `git merge`: with the histogram diff, and with
//! conflicts reduced to the lines in which the sides differ.

use std::ops::Range;

use gix::diff::blob::{Hunk, InternedInput};

use super::histogram;
use crate::history::compare::Effort;
use crate::history::compare::distance::differ_too_much;

/// The number of lines between two conflicts up to which they become one.
const CLOSE: usize = 3;

/// The markers around a conflict.
pub(super) struct Markers<'a> {
    pub(super) size: usize,
    pub(super) ours: &'a [u8],
    pub(super) theirs: &'a [u8],
}

/// The result of merging three texts.
pub(super) struct MergedText {
    pub(super) bytes: Vec<u8>,
    pub(super) is_clean: bool,
}

/// Merges two texts with their common base. Conflicts are in the result, between markers. Returns `None` for long texts
/// that have too little in common to compare them in time, and when the time is up.
pub(super) fn merge(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    markers: &Markers<'_>,
    effort: &Effort,
) -> Option<MergedText> {
    let (one, two) = (changes(base, ours, effort)?, changes(base, theirs, effort)?);
    if one.is_empty() {
        return Some(MergedText { bytes: theirs.to_vec(), is_clean: true });
    }
    if two.is_empty() {
        return Some(MergedText { bytes: ours.to_vec(), is_clean: true });
    }
    let texts = Texts { base: lines(base), ours: lines(ours), theirs: lines(theirs) };
    let mut regions = texts.refine(&texts.regions(&one, &two), effort);
    join_close_conflicts(&mut regions);
    Some(MergedText {
        is_clean: regions.iter().all(|region| region.side != Side::Conflict),
        bytes: texts.write(&regions, markers),
    })
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The changed ranges of lines; `None` when there are too many. The slider heuristic for indentation is not used in merges.
fn changes(before: &[u8], after: &[u8], effort: &Effort) -> Option<Vec<Hunk>> {
    let input = InternedInput::new(before, after);
    if differ_too_much(&input.before, &input.after) {
        return None;
    }
    Some(histogram::diff(&input, effort)?.hunks().collect())
}

/// Where the lines of a region come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Ours,
    Theirs,
    /// Both sides have the same lines.
    Both,
    Conflict,
}

/// Lines of both sides that differ from the base.
#[derive(Clone, Debug)]
struct Region {
    side: Side,
    ours: Range<usize>,
    theirs: Range<usize>,
}

struct Texts<'a> {
    base: Vec<&'a [u8]>,
    ours: Vec<&'a [u8]>,
    theirs: Vec<&'a [u8]>,
}

impl Texts<'_> {
    /// Joins the changes of both sides. Changes that touch each other are a conflict, unless they are the same.
    fn regions(&self, one: &[Hunk], two: &[Hunk]) -> Vec<Region> {
        let mut regions = Vec::new();
        let (mut at_one, mut at_two) = (0, 0);
        // The difference between the line numbers of a side and of the base, after the changes so far.
        let (mut shift_one, mut shift_two) = (0, 0);
        let shift = |hunk: &Hunk| i64::from(hunk.after.end) - i64::from(hunk.before.end);
        loop {
            match (one.get(at_one), two.get(at_two)) {
                (None, None) => return regions,
                (Some(first), second)
                    if second.is_none_or(|second| first.before.end < second.before.start) =>
                {
                    add(
                        &mut regions,
                        Side::Ours,
                        range(&first.after),
                        shifted(&first.before, shift_two),
                    );
                    shift_one = shift(first);
                    at_one += 1;
                }
                (first, Some(second))
                    if first.is_none_or(|first| second.before.end < first.before.start) =>
                {
                    add(
                        &mut regions,
                        Side::Theirs,
                        shifted(&second.before, shift_one),
                        range(&second.after),
                    );
                    shift_two = shift(second);
                    at_two += 1;
                }
                (Some(first), Some(second)) => {
                    if !self.is_same_change(first, second) {
                        let (ours, theirs) = overlap(first, second);
                        add(&mut regions, Side::Conflict, ours, theirs);
                    }
                    if first.before.end >= second.before.end {
                        shift_two = shift(second);
                        at_two += 1;
                    }
                    if second.before.end >= first.before.end {
                        shift_one = shift(first);
                        at_one += 1;
                    }
                }
                (Some(_), None) | (None, Some(_)) => return regions,
            }
        }
    }

    fn is_same_change(&self, one: &Hunk, two: &Hunk) -> bool {
        one.before == two.before
            && part(&self.ours, range(&one.after)) == part(&self.theirs, range(&two.after))
    }

    /// Reduces conflicts to the lines in which the sides differ.
    fn refine(&self, regions: &[Region], effort: &Effort) -> Vec<Region> {
        let mut refined = Vec::with_capacity(regions.len());
        for region in regions {
            let (ours, theirs) =
                (part(&self.ours, region.ours.clone()), part(&self.theirs, region.theirs.clone()));
            if region.side != Side::Conflict || ours.is_empty() || theirs.is_empty() {
                refined.push(region.clone());
                continue;
            }
            let (before, after) = (ours.concat(), theirs.concat());
            let Some(hunks) = changes(&before, &after, effort) else {
                refined.push(region.clone());
                continue;
            };
            if hunks.is_empty() {
                refined.push(Region { side: Side::Both, ..region.clone() });
            }
            refined.extend(hunks.iter().map(|hunk| Region {
                side: Side::Conflict,
                ours: moved(&range(&hunk.before), region.ours.start),
                theirs: moved(&range(&hunk.after), region.theirs.start),
            }));
        }
        refined
    }

    fn write(&self, regions: &[Region], markers: &Markers<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        let mut at = 0;
        for region in regions {
            match region.side {
                Side::Both => continue,
                Side::Ours => copy(&mut text, part(&self.ours, at..region.ours.end)),
                Side::Theirs => {
                    copy(&mut text, part(&self.ours, at..region.ours.start));
                    copy(&mut text, part(&self.theirs, region.theirs.clone()));
                }
                Side::Conflict => {
                    copy(&mut text, part(&self.ours, at..region.ours.start));
                    self.write_conflict(&mut text, region, markers);
                }
            }
            at = region.ours.end;
        }
        copy(&mut text, part(&self.ours, at..self.ours.len()));
        text
    }

    fn write_conflict(&self, text: &mut Vec<u8>, region: &Region, markers: &Markers<'_>) {
        let end: &[u8] = if self.needs_cr(region) { b"\r\n" } else { b"\n" };
        let marker = |text: &mut Vec<u8>, sign: u8, label: &[u8]| {
            text.extend(std::iter::repeat_n(sign, markers.size));
            if !label.is_empty() {
                text.push(b' ');
                text.extend_from_slice(label);
            }
            text.extend_from_slice(end);
        };
        marker(text, b'<', markers.ours);
        copy_with_end(text, part(&self.ours, region.ours.clone()), end);
        marker(text, b'=', b"");
        copy_with_end(text, part(&self.theirs, region.theirs.clone()), end);
        marker(text, b'>', markers.theirs);
    }

    /// Returns whether the lines before a conflict end in CR LF.
    fn needs_cr(&self, region: &Region) -> bool {
        let ours = ends_in_crlf(&self.ours, region.ours.start.saturating_sub(1));
        let theirs = || ends_in_crlf(&self.theirs, region.theirs.start.saturating_sub(1));
        let base = || ends_in_crlf(&self.base, 0);
        // An unknown line end does not decide, and a single LF decides against CR LF.
        ours != Some(false) && theirs() != Some(false) && base() == Some(true)
    }
}

/// Adds a region, or extends the last one if they touch.
fn add(regions: &mut Vec<Region>, side: Side, ours: Range<usize>, theirs: Range<usize>) {
    match regions.last_mut() {
        Some(last) if ours.start <= last.ours.end || theirs.start <= last.theirs.end => {
            if last.side != side {
                last.side = Side::Conflict;
            }
            last.ours.end = ours.end;
            last.theirs.end = theirs.end;
        }
        Some(_) | None => regions.push(Region { side, ours, theirs }),
    }
}

/// The lines of both sides for the part of the base that two changes cover together.
fn overlap(one: &Hunk, two: &Hunk) -> (Range<usize>, Range<usize>) {
    let (mut ours, mut theirs) = (range(&one.after), range(&two.after));
    let missing_before = one.before.start.abs_diff(two.before.start) as usize;
    if one.before.start > two.before.start {
        // The start is not used when an earlier change covers the same lines: the regions are joined.
        ours.start = ours.start.saturating_sub(missing_before);
    } else {
        theirs.start = theirs.start.saturating_sub(missing_before);
    }
    let missing_after = one.before.end.abs_diff(two.before.end) as usize;
    if one.before.end < two.before.end {
        ours.end += missing_after;
    } else {
        theirs.end += missing_after;
    }
    (ours, theirs)
}

/// Joins conflicts with only few lines between them.
fn join_close_conflicts(regions: &mut Vec<Region>) {
    regions.dedup_by(|next, last| {
        let is_close = last.side == Side::Conflict
            && next.side == Side::Conflict
            && next.ours.start.saturating_sub(last.ours.end) <= CLOSE;
        if is_close {
            last.ours.end = next.ours.end;
            last.theirs.end = next.theirs.end;
        }
        is_close
    });
}

/// Whether a line ends in CR LF; `None` when it has no line end.
fn ends_in_crlf(lines: &[&[u8]], at: usize) -> Option<bool> {
    let line = lines.get(at)?;
    if line.ends_with(b"\n") {
        return Some(line.ends_with(b"\r\n"));
    }
    at.checked_sub(1).map(|before| lines[before].ends_with(b"\r\n"))
}

fn range(lines: &Range<u32>) -> Range<usize> {
    lines.start as usize..lines.end as usize
}

fn moved(lines: &Range<usize>, by: usize) -> Range<usize> {
    lines.start + by..lines.end + by
}

/// The lines of a side that are those of the base, moved by the changes before them.
fn shifted(lines: &Range<u32>, by: i64) -> Range<usize> {
    let line = |line: u32| usize::try_from(i64::from(line) + by).unwrap_or(0);
    line(lines.start)..line(lines.end)
}

/// These lines of a text.
fn part<'t, 'l>(lines: &'l [&'t [u8]], of: Range<usize>) -> &'l [&'t [u8]] {
    lines.get(of).unwrap_or_default()
}

fn copy(text: &mut Vec<u8>, lines: &[&[u8]]) {
    lines.iter().for_each(|line| text.extend_from_slice(line));
}

/// Copies lines and ends the last one if it has no line end.
fn copy_with_end(text: &mut Vec<u8>, lines: &[&[u8]], end: &[u8]) {
    copy(text, lines);
    if lines.last().is_some_and(|line| !line.ends_with(b"\n")) {
        text.extend_from_slice(end);
    }
}
