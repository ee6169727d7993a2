//! Counts the changed lines of two texts as git does.

use gix::diff::blob::sources::byte_lines;
use gix::diff::blob::{Algorithm, Diff, InternedInput};

use crate::history::compare::distance::differ_too_much;

/// The number of added and removed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

impl Lines {
    pub(crate) fn add(&mut self, other: Self) {
        self.added += other.added;
        self.removed += other.removed;
    }
}

/// Returns whether content is binary. As in git, a zero byte among the first 8000 bytes decides.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(8000)].contains(&0)
}

/// The number of lines of a text. The last line need not end in a line break.
pub(crate) fn count(text: &[u8]) -> u64 {
    let ends = text.iter().filter(|byte| **byte == b'\n').count() as u64;
    ends + u64::from(text.last().is_some_and(|last| *last != b'\n'))
}

/// Counts the changed lines of two texts. In long texts with little in common, all lines between the first and the last
/// difference count as replaced: comparisons do not show them either, and the time of an exact count grows with the
/// square of their length.
pub(crate) fn compare(before: &[u8], after: &[u8]) -> Lines {
    let (old, new) = without_common_ends(before, after);
    if old.is_empty() || new.is_empty() {
        return Lines { added: count(new), removed: count(old) };
    }
    let (removed, added) = (count(old), count(new));
    if removed.max(added) <= FEW as u64 {
        let kept = common_lines_of_few(old, new);
        return Lines { added: added - kept, removed: removed - kept };
    }
    // The diff needs the whole texts: how often a line occurs in them decides which lines git discards as noise.
    let input = InternedInput::new(byte_lines(before), byte_lines(after));
    if differ_too_much(&input.before, &input.after) {
        return Lines { added, removed };
    }
    let diff = Diff::compute(Algorithm::Myers, &input);
    Lines { added: u64::from(diff.count_additions()), removed: u64::from(diff.count_removals()) }
}

/// Up to this number of lines git finds the shortest diff: lines that it discards as noise have at least seven others
/// around them.
const FEW: usize = 7;

/// The length of the longest common subsequence of lines, for texts of a few lines.
fn common_lines_of_few(old: &[u8], new: &[u8]) -> u64 {
    let mut longest = [0; FEW + 1];
    for old_line in old.split_inclusive(|byte| *byte == b'\n') {
        let mut diagonal = 0;
        for (index, new_line) in new.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let above = longest[index + 1];
            longest[index + 1] =
                if old_line == new_line { diagonal + 1 } else { above.max(longest[index]) };
            diagonal = above;
        }
    }
    longest.into_iter().max().unwrap_or(0)
}

/// Removes the common lines at the start and at the end.
fn without_common_ends<'a>(old: &'a [u8], new: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let mut start = common_prefix(old, new);
    if start != old.len() || start != new.len() {
        start = old[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    }
    let (old, new) = (&old[start..], &new[start..]);
    let mut end = common_suffix(old, new);
    let starts_line = |text: &[u8]| {
        let at = text.len() - end;
        at == 0 || text[at - 1] == b'\n'
    };
    if !(starts_line(old) && starts_line(new)) {
        let common = &old[old.len() - end..];
        end = common.iter().position(|byte| *byte == b'\n').map_or(0, |at| end - at - 1);
    }
    (&old[..old.len() - end], &new[..new.len() - end])
}

/// The block size in which equal bytes are skipped.
const BLOCK: usize = 64;

fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    let blocks = left.chunks_exact(BLOCK).zip(right.chunks_exact(BLOCK));
    let equal = blocks.take_while(|(left, right)| left == right).count() * BLOCK;
    let rest = left[equal..].iter().zip(&right[equal..]);
    equal + rest.take_while(|(left, right)| left == right).count()
}

fn common_suffix(left: &[u8], right: &[u8]) -> usize {
    let blocks = left.rchunks_exact(BLOCK).zip(right.rchunks_exact(BLOCK));
    let equal = blocks.take_while(|(left, right)| left == right).count() * BLOCK;
    let (left, right) = (&left[..left.len() - equal], &right[..right.len() - equal]);
    let rest = left.iter().rev().zip(right.iter().rev());
    equal + rest.take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Random;

    fn whole(before: &[u8], after: &[u8]) -> Lines {
        let input = InternedInput::new(byte_lines(before), byte_lines(after));
        let diff = Diff::compute(Algorithm::Myers, &input);
        Lines {
            added: u64::from(diff.count_additions()),
            removed: u64::from(diff.count_removals()),
        }
    }

    #[test]
    fn the_last_line_needs_no_end() {
        for (text, lines) in [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\n\n", 2)]
        {
            assert_eq!(count(text.as_bytes()), lines, "{text:?}");
        }
    }

    #[test]
    fn a_line_that_lost_its_end_is_another_line() {
        for (before, after, added, removed) in [
            ("a\nb\n", "a\nb", 1, 1),
            ("b", "a\nb", 1, 0),
            ("ab", "b", 1, 1),
            ("x\nab\n", "x\nb\n", 1, 1),
            ("a\n", "a\na\n", 1, 0),
            ("a\na\na\n", "a\na\n", 0, 1),
            ("a\nb\n", "a\r\nb\r\n", 2, 2),
        ] {
            let lines = compare(before.as_bytes(), after.as_bytes());
            assert_eq!(lines, Lines { added, removed }, "{before:?} {after:?}");
        }
    }

    #[test]
    fn long_texts_with_little_in_common_count_as_replaced() {
        let mut random = Random::new(8);
        let mut text = |lines: usize| -> Vec<u8> {
            let middle: String = (0..lines).map(|_| format!("{}\n", random.below(1000))).collect();
            format!("first\n{middle}last\n").into_bytes()
        };
        let (before, after) = (text(300_000), text(300_000));
        let lines = compare(&before, &after);
        let least = 299_000;
        assert!(lines.added > least && lines.removed > least, "{lines:?}");
        assert!(lines.added <= 300_000 && lines.removed <= 300_000, "{lines:?}");
        // Shorter texts are counted exactly.
        let (before, after) = (text(2000), text(2000));
        assert_eq!(compare(&before, &after), whole(&before, &after));
    }

    /// The shortcuts must give the same numbers as the full diff, for random texts over a small alphabet.
    #[test]
    fn shortcuts_change_no_number() {
        let mut seed = 7_u64;
        let mut next = move |limit: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % limit
        };
        for round in 0..20_000 {
            let mut text = |longest| -> Vec<u8> {
                let alphabet: &[u8] = if round % 2 == 0 { b"a\n\n" } else { b"ab\n" };
                let length = next(longest);
                (0..length).map(|_| alphabet[next(alphabet.len() as u64) as usize]).collect()
            };
            let ends = (text(150), text(150));
            let middles = (text(20), text(20));
            let [before, after] =
                [middles.0, middles.1].map(|middle| [&ends.0[..], &middle, &ends.1].concat());
            assert_eq!(compare(&before, &after), whole(&before, &after), "{before:?} {after:?}");
        }
    }
}
