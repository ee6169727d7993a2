//! Which added files are deleted ones under another name.
//!
//! The rules are git's, one after the other: the same content; the same file name, when only one file of that
//! name was deleted and only one added, at a similarity between what is asked for and complete; then whatever
//! is most similar, unless there is too much to compare.

use std::collections::HashMap;

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;

use super::content::{self, Entry};
use super::effort::Effort;
use super::similarity::{Pieces, RENAMED, SAME, differ_in_size};

/// git compares no more files with each other than if there were that many on each side.
const MOST_FILES: usize = 1000;

/// How many of the most similar deleted files are remembered for each added one.
const CANDIDATES: usize = 4;

/// A deleted file that may have to be compared with many others keeps its pieces, as long as those of all
/// deleted files do not take more than 128 MiB.
const MOST_PIECES: usize = 8 << 20;

/// Of deleted files with the same content, git looks at the first ones only.
const MOST_SAME: usize = 100;

/// For each added entry, which deleted one it was, as far as the effort allows to find out.
pub(super) fn find(
    repo: &gix::Repository,
    deleted: &[&Entry],
    added: &[&Entry],
    effort: &Effort,
) -> Result<Vec<Option<usize>>, GitError> {
    let mut renames = Renames {
        repo,
        effort,
        deleted,
        added,
        found: vec![None; added.len()],
        used: vec![false; deleted.len()],
        sizes: HashMap::new(),
        pieces: HashMap::new(),
        kept: 0,
    };
    if !deleted.is_empty() && !added.is_empty() {
        renames.same_content();
        renames.same_name()?;
        renames.most_similar()?;
    }
    Ok(renames.found)
}

struct Renames<'a> {
    repo: &'a gix::Repository,
    effort: &'a Effort,
    deleted: &'a [&'a Entry],
    added: &'a [&'a Entry],
    found: Vec<Option<usize>>,
    used: Vec<bool>,
    sizes: HashMap<ObjectId, u64>,
    pieces: HashMap<usize, Pieces>,
    kept: usize,
}

impl Renames<'_> {
    fn record(&mut self, deleted: usize, added: usize) {
        self.found[added] = Some(deleted);
        self.used[deleted] = true;
    }

    /// Indices of deleted entries that are not explained yet.
    fn left(&self) -> Vec<usize> {
        (0..self.deleted.len()).filter(|&at| !self.used[at]).collect()
    }

    /// Indices of added entries that are not explained yet.
    fn open(&self) -> Vec<usize> {
        (0..self.added.len()).filter(|&at| self.found[at].is_none()).collect()
    }

    fn same_content(&mut self) {
        let mut by_id: HashMap<ObjectId, Vec<usize>> = HashMap::new();
        for (at, entry) in self.deleted.iter().enumerate() {
            by_id.entry(entry.id).or_default().push(at);
        }
        for at in 0..self.added.len() {
            let target = self.added[at];
            let same = by_id.get(&target.id).map_or(&[][..], Vec::as_slice);
            let candidates: Vec<usize> = same
                .iter()
                .copied()
                .filter(|&source| !self.used[source] && target.is_same_type(self.deleted[source]))
                .take(MOST_SAME)
                .collect();
            let same_name =
                candidates.iter().find(|&&source| has_same_name(self.deleted[source], target));
            if let Some(&source) = same_name.or(candidates.first()) {
                self.record(source, at);
            }
        }
    }

    fn same_name(&mut self) -> Result<(), GitError> {
        let (left, open) = (self.left(), self.open());
        let sources = unique_names(self.deleted, &left);
        let targets = unique_names(self.added, &open);
        let least = (RENAMED + SAME) / 2;
        for source in left {
            let name = file_name(self.deleted[source]);
            if sources[name].is_some()
                && let Some(&Some(target)) = targets.get(name)
                && self.similarity(source, target, least, &mut None)? >= least
            {
                self.record(source, target);
            }
        }
        Ok(())
    }

    fn most_similar(&mut self) -> Result<(), GitError> {
        let (left, open) = (self.left(), self.open());
        if left.len() * open.len() > MOST_FILES * MOST_FILES {
            return Ok(());
        }
        let mut candidates = Vec::new();
        for &target in &open {
            let mut best = Vec::with_capacity(CANDIDATES);
            let mut pieces = None;
            for &source in &left {
                if !self.effort.has_time() {
                    break;
                }
                let score = self.similarity(source, target, RENAMED, &mut pieces)?;
                let same_name = has_same_name(self.deleted[source], self.added[target]);
                remember(&mut best, Candidate { score, same_name, source, target });
            }
            candidates.extend(best);
        }
        // The sort is stable: of equals the first in the order of paths wins.
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank()));
        for Candidate { score, source, target, .. } in candidates {
            if score >= RENAMED && self.found[target].is_none() && !self.used[source] {
                self.record(source, target);
            }
        }
        Ok(())
    }

    /// How similar two files are; 0 when that cannot be as much as `least`. Links and submodules are the same
    /// or not.
    fn similarity(
        &mut self,
        source: usize,
        target: usize,
        least: u64,
        target_pieces: &mut Option<Pieces>,
    ) -> Result<u64, GitError> {
        let (old, new) = (self.deleted[source], self.added[target]);
        if !old.is_file() || !new.is_file() {
            return Ok(0);
        }
        let (old_size, new_size) = (self.size(old)?, self.size(new)?);
        if differ_in_size(old_size, new_size, least) {
            return Ok(0);
        }
        if target_pieces.is_none() {
            *target_pieces = self.read(new)?;
        }
        let Some(new_pieces) = target_pieces else { return Ok(0) };
        if let Some(old_pieces) = self.pieces.get(&source) {
            return Ok(old_pieces.similarity(old_size, new_pieces, new_size));
        }
        let Some(old_pieces) = self.read(old)? else { return Ok(0) };
        let score = old_pieces.similarity(old_size, new_pieces, new_size);
        if self.kept + old_pieces.len() <= MOST_PIECES {
            self.kept += old_pieces.len();
            self.pieces.insert(source, old_pieces);
        }
        Ok(score)
    }

    fn size(&mut self, entry: &Entry) -> Result<u64, GitError> {
        if let Some(&size) = self.sizes.get(&entry.id) {
            return Ok(size);
        }
        let size = content::size(self.repo, entry)?;
        self.sizes.insert(entry.id, size);
        Ok(size)
    }

    /// The pieces of a file, unless enough is read.
    fn read(&mut self, entry: &Entry) -> Result<Option<Pieces>, GitError> {
        let size = self.size(entry)?;
        if !self.effort.has_time() || !self.effort.may_read(size) {
            return Ok(None);
        }
        Ok(Some(Pieces::of(&content::bytes(self.repo, entry)?.unwrap_or_default())))
    }
}

/// A deleted file that an added one may have been.
struct Candidate {
    score: u64,
    same_name: bool,
    source: usize,
    target: usize,
}

impl Candidate {
    fn rank(&self) -> (u64, bool) {
        (self.score, self.same_name)
    }
}

/// Keeps the best candidates, each in the place of the first of the worst.
fn remember(best: &mut Vec<Candidate>, candidate: Candidate) {
    if best.len() < CANDIDATES {
        best.push(candidate);
    } else if let Some(worst) = best.iter_mut().min_by_key(|kept| kept.rank())
        && worst.rank() < candidate.rank()
    {
        *worst = candidate;
    }
}

fn file_name(entry: &Entry) -> &[u8] {
    entry.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

fn has_same_name(one: &Entry, two: &Entry) -> bool {
    file_name(one) == file_name(two)
}

/// The names of these entries, each with the entry that has it, or none when several have.
fn unique_names<'a>(entries: &[&'a Entry], among: &[usize]) -> HashMap<&'a [u8], Option<usize>> {
    let mut names = HashMap::new();
    for &at in among {
        names.entry(file_name(entries[at])).and_modify(|only| *only = None).or_insert(Some(at));
    }
    names
}
