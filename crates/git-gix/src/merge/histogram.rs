//! The histogram diff of git: the rarest common lines are matched first.
//!
//! gix has a histogram diff too, but it compares texts without their common ends. Lines at the ends then count less
//! often, so it may match other lines than git, and merges of texts with many equal lines would differ.

use std::ops::Range;

use gix::diff::blob::{Algorithm, Diff, InternedInput, NoSliderHeuristic, Token};

use crate::history::compare::Effort;

/// Lines that occur more often are not matched by their rarity.
const MOST_OCCURRENCES: usize = 64;

/// Compares two texts as git does in merges. Returns `None` when the time is up: the cost can grow with the square of
/// the number of lines.
pub(super) fn diff(input: &InternedInput<&[u8]>, effort: &Effort) -> Option<Diff> {
    let (before, after) = (&input.before, &input.after);
    let mut matches = Matches { before, after, partners: vec![None; after.len()] };
    let tokens = input.interner.num_tokens() as usize;
    matches.find(&mut Index::new(before.len(), tokens), effort)?;
    // Each pair of matched lines gets a token of its own, so that no other lines can be matched.
    let first_free = before.len() as u32;
    let old: Vec<Token> = (0..first_free).map(Token).collect();
    let new: Vec<Token> = matches
        .partners
        .iter()
        .zip(first_free..)
        .map(|(partner, free)| Token(partner.map_or(free, |partner| partner as u32)))
        .collect();
    let mut diff = Diff::default();
    let tokens = first_free + after.len() as u32;
    diff.compute_with(Algorithm::Myers, &old, &new, tokens);
    diff.postprocess_with(before, after, NoSliderHeuristic);
    Some(diff)
}

struct Matches<'a> {
    before: &'a [Token],
    after: &'a [Token],
    /// The old line of each new line that is matched.
    partners: Vec<Option<usize>>,
}

/// Lines of both texts.
type Ranges = (Range<usize>, Range<usize>);

/// Where the lines of a range of the old text occur in it. Its memory is used again for each range.
struct Index {
    /// Tells the occurrences of this range from those of earlier ones.
    range: usize,
    /// By token: the range, the first occurrence, and the number of occurrences.
    occurrences: Vec<(usize, Occurrences)>,
    /// The next occurrence of each old line.
    next: Vec<Option<usize>>,
}

/// Where a line occurs in a range of the old text.
#[derive(Clone, Copy, Default)]
struct Occurrences {
    first: usize,
    count: usize,
}

impl Index {
    fn new(lines: usize, tokens: usize) -> Self {
        let occurrences = vec![(0, Occurrences::default()); tokens];
        Self { range: 0, occurrences, next: vec![None; lines] }
    }

    fn fill(&mut self, before: &[Token], old: &Range<usize>) {
        self.range += 1;
        for at in old.clone().rev() {
            let (range, known) = &mut self.occurrences[before[at].0 as usize];
            let is_known = *range == self.range;
            self.next[at] = is_known.then_some(known.first);
            *known = Occurrences { first: at, count: if is_known { known.count + 1 } else { 1 } };
            *range = self.range;
        }
    }

    fn get(&self, token: Token) -> Option<Occurrences> {
        let (range, known) = self.occurrences[token.0 as usize];
        (range == self.range).then_some(known)
    }
}

impl Matches<'_> {
    fn find(&mut self, index: &mut Index, effort: &Effort) -> Option<()> {
        let mut waiting = vec![(0..self.before.len(), 0..self.after.len())];
        while let Some((old, new)) = waiting.pop() {
            if old.is_empty() || new.is_empty() {
                continue;
            }
            if !effort.has_time() {
                return None;
            }
            index.fill(self.before, &old);
            match self.longest_rare_match(&old, &new, index) {
                Found::Match((same_old, same_new)) => {
                    for (from, to) in same_old.clone().zip(same_new.clone()) {
                        self.partners[to] = Some(from);
                    }
                    waiting.push((old.start..same_old.start, new.start..same_new.start));
                    waiting.push((same_old.end..old.end, same_new.end..new.end));
                }
                Found::OnlyFrequent => self.compare_frequent(&old, &new),
                Found::Nothing => (),
            }
        }
        Some(())
    }

    /// Matches lines of which all common ones are frequent.
    fn compare_frequent(&mut self, old: &Range<usize>, new: &Range<usize>) {
        let (before, after) = (&self.before[old.clone()], &self.after[new.clone()]);
        let tokens = before.iter().chain(after).map(|token| token.0 + 1).max().unwrap_or(0);
        let mut diff = Diff::default();
        diff.compute_with(Algorithm::Myers, before, after, tokens);
        let kept_old = (0..before.len()).filter(|&at| !diff.is_removed(at as u32));
        let kept_new = (0..after.len()).filter(|&at| !diff.is_added(at as u32));
        for (from, to) in kept_old.zip(kept_new) {
            self.partners[new.start + to] = Some(old.start + from);
        }
    }

    /// Finds the lines to match first.
    fn longest_rare_match(&self, old: &Range<usize>, new: &Range<usize>, index: &Index) -> Found {
        let mut search = Search {
            matches: self,
            old,
            new,
            index,
            rarest: MOST_OCCURRENCES + 1,
            has_common: false,
            best: None,
        };
        let mut at = new.start;
        while at < new.end {
            at = search.try_line(at);
        }
        match search.best {
            _ if search.has_common && search.rarest > MOST_OCCURRENCES => Found::OnlyFrequent,
            Some(best) => Found::Match(best),
            None => Found::Nothing,
        }
    }
}

enum Found {
    Match(Ranges),
    OnlyFrequent,
    Nothing,
}

struct Search<'a> {
    matches: &'a Matches<'a>,
    old: &'a Range<usize>,
    new: &'a Range<usize>,
    index: &'a Index,
    /// How often the rarest line of the best match occurs.
    rarest: usize,
    has_common: bool,
    best: Option<Ranges>,
}

impl Search<'_> {
    /// Tries all matches of a new line. Returns the next line to try.
    fn try_line(&mut self, line: usize) -> usize {
        let mut following = line + 1;
        let Some(known) = self.index.get(self.matches.after[line]) else {
            return following;
        };
        self.has_common = true;
        if known.count > self.rarest {
            return following;
        }
        let mut candidate = Some(known.first);
        while let Some(at) = candidate {
            let (old, new, rarity) = self.extend(at, line, known.count);
            following = following.max(new.end);
            let best_length = self.best.as_ref().map_or(1, |(best, _)| best.len());
            if best_length < old.len() || rarity < self.rarest {
                self.rarest = rarity;
                self.best = Some((old.clone(), new));
            }
            candidate = self.index.next[at];
            while let Some(next) = candidate.filter(|&next| next < old.end) {
                candidate = self.index.next[next];
            }
        }
        following
    }

    /// Extends a match in both directions. Returns the equal lines, and how often the rarest of them occurs.
    fn extend(&self, at: usize, line: usize, count: usize) -> (Range<usize>, Range<usize>, usize) {
        let (before, after) = (self.matches.before, self.matches.after);
        let (mut old, mut new, mut rarity) = (at..at + 1, line..line + 1, count);
        let count_of = |at: usize| self.index.get(before[at]).map_or(1, |known| known.count);
        while old.start > self.old.start
            && new.start > self.new.start
            && before[old.start - 1] == after[new.start - 1]
        {
            old.start -= 1;
            new.start -= 1;
            rarity = rarity.min(count_of(old.start));
        }
        while old.end < self.old.end && new.end < self.new.end && before[old.end] == after[new.end]
        {
            rarity = rarity.min(count_of(old.end));
            old.end += 1;
            new.end += 1;
        }
        (old, new, rarity)
    }
}
