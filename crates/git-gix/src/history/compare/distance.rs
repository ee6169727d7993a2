//! Detects long texts that have too little in common: their diff is not shown, because the time to compute it grows
//! with the square of the differences.

use gix::diff::blob::Token;

/// Shorter texts are always compared. Common lines at the start and the end do not count.
const LONG: usize = 100_000;

/// The maximum number of changed lines that are shown of long texts.
const MOST_CHANGES: usize = 4000;

/// The maximum number of steps of the check.
const MOST_STEPS: usize = 100_000_000;

/// Returns whether the texts are long and more of their lines differ than are shown.
pub(crate) fn differ_too_much(before: &[Token], after: &[Token]) -> bool {
    let (before, after) = without_common_ends(before, after);
    before.len() + after.len() > LONG
        && differ_by_more_than(before, after, MOST_CHANGES, MOST_STEPS)
}

/// Removes the common lines at the start and at the end.
fn without_common_ends<'a>(before: &'a [Token], after: &'a [Token]) -> (&'a [Token], &'a [Token]) {
    let start = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(|(old, new)| old == new);
    let end = end.count();
    (&before[..before.len() - end], &after[..after.len() - end])
}

/// Returns whether more than `most` lines must be removed or added to turn one text into the other, or whether that is
/// still unknown after `steps` steps.
///
/// This is Myers' algorithm: it computes the furthest point on each diagonal after each change.
fn differ_by_more_than(before: &[Token], after: &[Token], most: usize, mut steps: usize) -> bool {
    let (old, new) = (before.len() as isize, after.len() as isize);
    if old.abs_diff(new) > most {
        return true;
    }
    let middle = most as isize + 1;
    let mut reached = vec![0_isize; 2 * most + 3];
    for changes in 0..=most as isize {
        for diagonal in (-changes..=changes).step_by(2) {
            let at = |diagonal: isize| (middle + diagonal) as usize;
            let (less, more) = (reached[at(diagonal - 1)], reached[at(diagonal + 1)]);
            let comes = diagonal == -changes || (diagonal != changes && less < more);
            let mut x = if comes { more } else { less + 1 };
            let start = x;
            while x < old
                && x - diagonal < new
                && before[x as usize] == after[(x - diagonal) as usize]
            {
                x += 1;
            }
            reached[at(diagonal)] = x;
            if x >= old && x - diagonal >= new {
                return false;
            }
            let taken = (x - start) as usize + 1;
            if taken > steps {
                return true;
            }
            steps -= taken;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Random;

    /// The number of changes, computed with the plain dynamic programming table.
    fn changes(before: &[Token], after: &[Token]) -> usize {
        let mut row: Vec<usize> = (0..=after.len()).collect();
        for (at, old) in before.iter().enumerate() {
            let mut last = row[0];
            row[0] = at + 1;
            for (column, new) in after.iter().enumerate() {
                let above = row[column + 1];
                row[column + 1] = if old == new { last } else { 1 + row[column].min(above) };
                last = above;
            }
        }
        row[after.len()]
    }

    #[test]
    fn changes_are_counted_exactly() {
        let mut random = Random::new(7);
        for _ in 0..500 {
            let letters = 1 + random.below(6);
            let mut text = |length: usize| -> Vec<Token> {
                (0..length).map(|_| Token(random.below(letters) as u32)).collect()
            };
            let (before, after) = (text(30), text(25));
            let (before, after) = without_common_ends(&before, &after);
            let expected = changes(before, after);
            assert!(!differ_by_more_than(before, after, expected, usize::MAX), "{expected}");
            if let Some(fewer) = expected.checked_sub(1) {
                assert!(differ_by_more_than(before, after, fewer, usize::MAX), "{expected}");
            }
        }
    }

    #[test]
    fn long_texts_of_few_lines_in_another_order_are_too_far() {
        let mut random = Random::new(8);
        let mut text =
            || -> Vec<Token> { (0..400_000).map(|_| Token(random.below(1000) as u32)).collect() };
        let (before, mut after) = (text(), text());
        assert!(differ_too_much(&before, &after));
        after.clone_from(&before);
        for at in (0..400_000).step_by(1000) {
            after[at] = Token(2000);
        }
        assert!(!differ_too_much(&before, &after), "a few changes are shown");
        assert!(!differ_too_much(&before[..40_000], &text()[..40_000]), "what is short is");
    }
}
