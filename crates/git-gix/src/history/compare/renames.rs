//! Detects renamed files.
//!
//! The rules are git's, in this order: identical content; then the same file name, when only one deleted and one added
//! file has it and they are at least 75 % similar; then the most similar files, unless there are too many to compare.

use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use hexforge_domain::ports::git::GitError;

use super::content::{self, Entry};
use super::effort::Effort;
use super::similarity::{Pieces, RENAMED, SAME, differ_in_size};

/// The maximum number of files on each side, as in git: beyond its square, the most similar files are not searched.
const MOST_FILES: usize = 1000;

/// Like [`MOST_FILES`], for merges.
const MOST_FILES_IN_MERGES: usize = 7000;

/// The number of most similar deleted files that are considered for each added one.
const CANDIDATES: usize = 4;

/// The maximum number of cached pieces of deleted files, which take at most 128 MiB. A deleted file may be compared
/// with many added ones.
const MOST_PIECES: usize = 8 << 20;

/// The number of deleted files with identical content that are considered, as in git.
const MOST_SAME: usize = 100;

/// Which renames a merge needs.
pub(crate) struct MergeRenames<'a> {
    /// For each deleted entry, whether the merge needs its rename. Other entries are matched only by identical content.
    pub(crate) relevant: &'a [bool],
    /// Guesses the new folders of renamed folders from the renames found by identical content.
    pub(crate) guess_folders: &'a FolderGuess<'a>,
}

type FolderGuess<'a> = dyn Fn(&[Option<usize>]) -> HashMap<BString, BString> + 'a;

/// Returns the index of the renamed deleted entry for each added entry, as far as the effort allows.
pub(super) fn find(
    repo: &gix::Repository,
    deleted: &[&Entry],
    added: &[&Entry],
    effort: &Effort,
) -> Result<Vec<Option<usize>>, GitError> {
    find_with(repo, deleted, added, None, effort)
}

/// Like [`find`], with git's rules for merges.
pub(crate) fn find_for_merge(
    repo: &gix::Repository,
    deleted: &[&Entry],
    added: &[&Entry],
    needs: &MergeRenames<'_>,
    effort: &Effort,
) -> Result<Vec<Option<usize>>, GitError> {
    find_with(repo, deleted, added, Some(needs), effort)
}

fn find_with(
    repo: &gix::Repository,
    deleted: &[&Entry],
    added: &[&Entry],
    needs: Option<&MergeRenames<'_>>,
    effort: &Effort,
) -> Result<Vec<Option<usize>>, GitError> {
    let mut renames = Renames {
        repo,
        effort,
        deleted,
        added,
        needs,
        found: vec![None; added.len()],
        used: vec![false; deleted.len()],
        sizes: HashMap::new(),
        pieces: HashMap::new(),
        cached_pieces: 0,
    };
    if !deleted.is_empty() && !added.is_empty() {
        renames.match_same_content();
        renames.match_same_name()?;
        renames.match_most_similar()?;
    }
    Ok(renames.found)
}

struct Renames<'a> {
    repo: &'a gix::Repository,
    effort: &'a Effort,
    deleted: &'a [&'a Entry],
    added: &'a [&'a Entry],
    needs: Option<&'a MergeRenames<'a>>,
    found: Vec<Option<usize>>,
    used: Vec<bool>,
    sizes: HashMap<ObjectId, u64>,
    pieces: HashMap<usize, Pieces>,
    cached_pieces: usize,
}

impl Renames<'_> {
    fn record(&mut self, deleted: usize, added: usize) {
        self.found[added] = Some(deleted);
        self.used[deleted] = true;
    }

    /// The indices of deleted entries that are not part of a rename yet.
    fn unmatched_deleted(&self) -> Vec<usize> {
        (0..self.deleted.len()).filter(|&at| !self.used[at]).collect()
    }

    /// Whether the rename of a deleted entry is needed.
    fn is_relevant(&self, deleted: usize) -> bool {
        self.needs.is_none_or(|needs| needs.relevant.get(deleted).is_none_or(|needed| *needed))
    }

    /// The indices of added entries that are not part of a rename yet.
    fn unmatched_added(&self) -> Vec<usize> {
        (0..self.added.len()).filter(|&at| self.found[at].is_none()).collect()
    }

    fn match_same_content(&mut self) {
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

    fn match_same_name(&mut self) -> Result<(), GitError> {
        let (left, open) = (self.unmatched_deleted(), self.unmatched_added());
        let sources = unique_names(self.deleted, &left);
        let targets = unique_names(self.added, &open);
        let folders =
            self.needs.map(|needs| (needs.guess_folders)(&self.found)).unwrap_or_default();
        let paths: HashMap<&[u8], usize> = match folders.is_empty() {
            true => HashMap::new(),
            false => open.iter().map(|&at| (self.added[at].path.as_slice(), at)).collect(),
        };
        let least = (RENAMED + SAME) / 2;
        for source in left {
            let name = file_name(self.deleted[source]);
            let Some(unique) = targets.get(name).filter(|_| self.is_relevant(source)) else {
                continue;
            };
            let target = match (sources[name], *unique) {
                (Some(_), Some(target)) => Some(target),
                _ => guessed_path(self.deleted[source], &folders)
                    .and_then(|path| paths.get(path.as_slice()).copied()),
            };
            if let Some(target) = target
                && self.found[target].is_none()
                && self.similarity(source, target, least, &mut None)? >= least
            {
                self.record(source, target);
            }
        }
        Ok(())
    }

    fn match_most_similar(&mut self) -> Result<(), GitError> {
        let (mut left, open) = (self.unmatched_deleted(), self.unmatched_added());
        left.retain(|&source| self.is_relevant(source));
        let most = if self.needs.is_some() { MOST_FILES_IN_MERGES } else { MOST_FILES };
        if left.len() * open.len() > most * most {
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
                keep_best(&mut best, Candidate { score, same_name, source, target });
            }
            candidates.extend(best);
        }
        // The sort is stable: among equals, the first in path order wins.
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank()));
        for Candidate { score, source, target, .. } in candidates {
            if score >= RENAMED && self.found[target].is_none() && !self.used[source] {
                self.record(source, target);
            }
        }
        Ok(())
    }

    /// The similarity of two files; 0 when their sizes rule out `least`, and for links and submodules.
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
            *target_pieces = self.read_pieces(new)?;
        }
        let Some(new_pieces) = target_pieces else { return Ok(0) };
        if let Some(old_pieces) = self.pieces.get(&source) {
            return Ok(old_pieces.similarity(old_size, new_pieces, new_size));
        }
        let Some(old_pieces) = self.read_pieces(old)? else { return Ok(0) };
        let score = old_pieces.similarity(old_size, new_pieces, new_size);
        if self.cached_pieces + old_pieces.len() <= MOST_PIECES {
            self.cached_pieces += old_pieces.len();
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

    /// The pieces of a file; `None` when a limit is reached.
    fn read_pieces(&mut self, entry: &Entry) -> Result<Option<Pieces>, GitError> {
        let size = self.size(entry)?;
        if !self.effort.has_time() || !self.effort.may_read(size) {
            return Ok(None);
        }
        Ok(Some(Pieces::of(&content::bytes(self.repo, entry)?.unwrap_or_default())))
    }
}

/// A possible rename.
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

/// Keeps the best candidates: a better one replaces the first of the worst.
fn keep_best(best: &mut Vec<Candidate>, candidate: Candidate) {
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

/// The path of a file in the folder to which its own folder was probably renamed.
fn guessed_path(entry: &Entry, folders: &HashMap<BString, BString>) -> Option<BString> {
    let name = file_name(entry);
    let folder = &entry.path[..entry.path.len() - name.len()];
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    let mut path = folders.get(BStr::new(folder))?.clone();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    Some(path)
}

fn has_same_name(one: &Entry, two: &Entry) -> bool {
    file_name(one) == file_name(two)
}

/// Maps each file name to its entry, or to `None` when several entries have that name.
fn unique_names<'a>(entries: &[&'a Entry], among: &[usize]) -> HashMap<&'a [u8], Option<usize>> {
    let mut names = HashMap::new();
    for &at in among {
        names.entry(file_name(entries[at])).and_modify(|only| *only = None).or_insert(Some(at));
    }
    names
}
