//! The words that changed inside of lines.

use std::ops::Range;
use std::time::Instant;

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use super::rows::{Kind, Line, run_end};

/// The longest line in bytes whose words are compared.
const MAX_LENGTH: usize = 1_000;

/// Lines are compared only if at least this part of their bytes stays, in percent. Otherwise nearly everything would be
/// marked.
const MIN_EQUAL: usize = 30;

/// Marks the words that differ between removed lines and the added ones that replace them.
pub(super) fn mark(lines: &mut [Line], deadline: Instant) {
    let mut at = 0;
    while at < lines.len() {
        if !matches!(lines[at].kind, Kind::Added | Kind::Removed) {
            at += 1;
            continue;
        }
        let middle = run_end(lines, at, Kind::Removed);
        let end = run_end(lines, middle, Kind::Added);
        for place in 0..(middle - at).min(end - middle) {
            if Instant::now() >= deadline {
                return;
            }
            let (old, new) =
                changed(&lines[at + place].text, &lines[middle + place].text, deadline);
            lines[at + place].marks = old;
            lines[middle + place].marks = new;
        }
        at = end;
    }
}

type Ranges = Vec<Range<usize>>;

/// The ranges of both lines that differ; none if the lines have little in common.
fn changed(old: &str, new: &str, deadline: Instant) -> (Ranges, Ranges) {
    if old.len() > MAX_LENGTH || new.len() > MAX_LENGTH {
        return (vec![], vec![]);
    }
    let (old_words, new_words) = (words(old), words(new));
    let texts = |line: &str, words: &[Range<usize>]| {
        words.iter().map(|word| line[word.clone()].to_owned()).collect::<Vec<_>>()
    };
    let (old_texts, new_texts) = (texts(old, &old_words), texts(new, &new_words));
    let ops =
        capture_diff_slices_deadline(Algorithm::Myers, &old_texts, &new_texts, Some(deadline));
    let (mut old_marks, mut new_marks, mut equal) = (Ranges::new(), Ranges::new(), 0);
    for op in ops {
        let (tag, old_place, new_place) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            let words = old_texts[old_place].iter().filter(|word| !word.trim().is_empty());
            equal += words.map(String::len).sum::<usize>();
        } else {
            push(&mut old_marks, &old_words[old_place]);
            push(&mut new_marks, &new_words[new_place]);
        }
    }
    let longest = old.trim().len().max(new.trim().len());
    if equal * 100 < longest * MIN_EQUAL { (vec![], vec![]) } else { (old_marks, new_marks) }
}

/// Adds the range of neighbouring words, joined with the last one if they touch.
fn push(marks: &mut Ranges, words: &[Range<usize>]) {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    match marks.last_mut() {
        Some(mark) if mark.end == first.start => mark.end = last.end,
        _ => marks.push(first.start..last.end),
    }
}

/// Splits a line into names and numbers, runs of white space, and single other characters.
fn words(line: &str) -> Ranges {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Ranges::new();
    let mut before = None;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(word) if class(c) != 2 && before == Some(class(c)) => word.end = end,
            _ => words.push(at..end),
        }
        before = Some(class(c));
    }
    words
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn changed_words_are_marked() {
        for (old, new, old_marks, new_marks) in [
            ("let a = b();", "let a = c();", vec!["b"], vec!["c"]),
            ("call(one, two)", "call(one, two, three)", vec![], vec![", three"]),
            ("schön alt", "schön neu", vec!["alt"], vec!["neu"]),
            ("same", "same", vec![], vec![]),
            ("entirely", "different", vec![], vec![]),
            ("", "new", vec![], vec![]),
        ] {
            let (left, right) = changed(old, new, Instant::now() + Duration::from_secs(10));
            let texts = |line: &'static str, ranges: Ranges| {
                ranges.into_iter().map(|range| &line[range]).collect::<Vec<_>>()
            };
            assert_eq!(texts(old, left), old_marks, "{old} → {new}");
            assert_eq!(texts(new, right), new_marks, "{old} → {new}");
        }
    }
}
