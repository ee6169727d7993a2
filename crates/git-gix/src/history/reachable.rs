//! Reachability of objects from refs.
//!
//! A [`Walk`] reads the history of a repository, newest commits first, and keeps the ids of the objects that it met. It
//! stops when it has met the requested objects, and the next request continues it. So each history is read once.

mod cache;
#[cfg(test)]
mod tests;

use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;

pub(crate) use cache::{ReachabilityQuery, Scope, WalkCache};

use crate::content::tree::entries::{self, Entry};
use crate::error::failed;
use crate::history::lineage::Lineages;

/// The number of commits that are read to check whether the old tip of a deleted or moved ref is still reachable. If
/// the tip is not found among them, the walk starts again.
const MOST_COMMITS_TO_LOST_TIPS: usize = 20_000;

/// The number of ids that a walk may add beyond its limit while it reads the trees of the `first` commits.
const MOST_IN_FIRST_TREES: usize = 200_000;

/// The number of steps between two checks of the limits.
const STEPS: usize = 64;

/// A repository and the cache of the parents of its commits.
#[derive(Clone, Copy)]
pub(crate) struct History<'a> {
    pub(crate) repo: &'a gix::Repository,
    pub(crate) lineages: &'a Lineages,
}

/// Limits of one call that continues a walk.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) until: Instant,
    /// The number of ids that the walk may keep.
    pub(crate) ids: usize,
}

/// A walk through a history that can be continued.
pub(crate) struct Walk {
    /// Whether the walk reads trees, and so meets trees and blobs too.
    with_contents: bool,
    /// The targets of all refs, sorted.
    tips: Vec<ObjectId>,
    met: HashSet<ObjectId>,
    /// Commits that were met but not read yet, with their times.
    commits: BinaryHeap<(i64, ObjectId)>,
    /// Trees that were met but not read yet.
    trees: Vec<ObjectId>,
    buffer: Vec<u8>,
    /// The number of ids that the walk keeps, for readers that do not hold the lock of the walk.
    progress: Arc<AtomicUsize>,
}

impl Walk {
    pub(crate) fn new(with_contents: bool) -> Self {
        Self::with_progress(with_contents, Arc::default())
    }

    fn with_progress(with_contents: bool, progress: Arc<AtomicUsize>) -> Self {
        Self {
            progress,
            with_contents,
            tips: Vec::new(),
            met: HashSet::default(),
            commits: BinaryHeap::new(),
            trees: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Forgets everything that the walk has met.
    fn restart(&mut self) {
        *self = Self::with_progress(self.with_contents, Arc::clone(&self.progress));
    }

    fn note_progress(&self) {
        self.progress.store(self.len(), Ordering::Relaxed);
    }

    /// The number of ids that the walk keeps.
    pub(crate) fn len(&self) -> usize {
        self.met.len() + self.tips.len()
    }

    /// Removes from `open` the objects that are reachable from `tips`. Returns `false` if a limit was reached before
    /// the walk met all of them. `tips` must be sorted. The trees of the commits `first`, which must be reachable from
    /// `tips`, are read before all others.
    pub(crate) fn find(
        &mut self,
        history: History<'_>,
        tips: &[ObjectId],
        first: &[ObjectId],
        open: &mut HashSet<ObjectId>,
        limits: Option<Limits>,
    ) -> Result<bool, GitError> {
        self.begin_at(history, tips)?;
        open.retain(|id| !self.met.contains(id));
        if !open.is_empty() {
            for &commit in first {
                self.meet_root(history, commit, open)?;
            }
        }
        // The trees of the `first` commits are few, so they may be read even when the walk is at its limit.
        let allowance = if first.is_empty() { 0 } else { self.len() + MOST_IN_FIRST_TREES };
        let mut steps = 0;
        while !open.is_empty() {
            if !self.step(history, open)? {
                return Ok(true);
            }
            steps += 1;
            let is_over = |limits: Limits| {
                Instant::now() > limits.until || self.len() > limits.ids.max(allowance)
            };
            if steps % STEPS == 0 {
                self.note_progress();
                if limits.is_some_and(is_over) {
                    return Ok(open.is_empty());
                }
            }
        }
        Ok(true)
    }

    /// Sets the tips of the walk. The ids that it has met stay valid only if all former tips are still reachable.
    fn begin_at(&mut self, history: History<'_>, tips: &[ObjectId]) -> Result<(), GitError> {
        if self.tips == tips {
            return Ok(());
        }
        let lost = self.tips.iter().filter(|tip| tips.binary_search(tip).is_err());
        if !are_reachable(history, lost.copied().collect(), tips)? {
            self.restart();
        }
        for tip in tips {
            if self.tips.binary_search(tip).is_err() {
                self.meet_tip(history, *tip)?;
            }
        }
        self.tips = tips.to_vec();
        Ok(())
    }

    /// Meets the target of a ref, and all objects to which it peels.
    fn meet_tip(&mut self, history: History<'_>, tip: ObjectId) -> Result<(), GitError> {
        let mut at = tip;
        loop {
            // The object of a damaged ref may be missing.
            let Some(header) = history.repo.try_find_header(at).map_err(failed)? else {
                return Ok(());
            };
            match header.kind() {
                Kind::Commit => return self.meet_commit(history, at),
                Kind::Tag => {
                    self.met.insert(at);
                    let tag = history.repo.find_tag(at).map_err(failed)?;
                    at = tag.target_id().map_err(failed)?.detach();
                }
                Kind::Tree => {
                    if self.met.insert(at) && self.with_contents {
                        self.trees.push(at);
                    }
                    return Ok(());
                }
                Kind::Blob => {
                    self.met.insert(at);
                    return Ok(());
                }
            }
        }
    }

    fn meet_commit(&mut self, history: History<'_>, id: ObjectId) -> Result<(), GitError> {
        if !self.met.contains(&id)
            && let Some(lineage) = history.lineages.read(history.repo, id, &mut self.buffer)?
        {
            self.met.insert(id);
            self.commits.push((lineage.time, id));
        }
        Ok(())
    }

    /// Meets the root tree of a commit, if the walk reads trees.
    fn meet_root(
        &mut self,
        history: History<'_>,
        commit: ObjectId,
        open: &mut HashSet<ObjectId>,
    ) -> Result<(), GitError> {
        if self.with_contents {
            let root = entries::tree_of(history.repo, commit)?;
            if self.met.insert(root) {
                open.remove(&root);
                self.trees.push(root);
            }
        }
        Ok(())
    }

    /// Reads one tree or commit. Returns `false` when the walk is complete.
    fn step(
        &mut self,
        history: History<'_>,
        open: &mut HashSet<ObjectId>,
    ) -> Result<bool, GitError> {
        if let Some(tree) = self.trees.pop() {
            let Self { met, trees, buffer, .. } = self;
            entries::entries(history.repo, tree, buffer, |entry| {
                let (Entry::Tree(id) | Entry::Blob(id)) = entry;
                if met.insert(id) {
                    open.remove(&id);
                    if let Entry::Tree(tree) = entry {
                        trees.push(tree);
                    }
                }
                Ok(())
            })?;
            return Ok(true);
        }
        let Some((_, id)) = self.commits.pop() else { return Ok(false) };
        self.meet_root(history, id, open)?;
        if let Some(lineage) = history.lineages.read(history.repo, id, &mut self.buffer)? {
            for &parent in &lineage.parents {
                self.meet_commit(history, parent)?;
                if self.met.contains(&parent) {
                    open.remove(&parent);
                }
            }
        }
        Ok(true)
    }
}

/// Returns whether all `lost` objects are commits that are reachable from `tips`, as far as a short walk finds out.
fn are_reachable(
    history: History<'_>,
    mut lost: HashSet<ObjectId>,
    tips: &[ObjectId],
) -> Result<bool, GitError> {
    for &id in &lost {
        let header = history.repo.try_find_header(id).map_err(failed)?;
        if header.is_none_or(|header| header.kind() != Kind::Commit) {
            return Ok(false);
        }
    }
    if lost.is_empty() {
        return Ok(true);
    }
    let mut walk = Walk::new(false);
    for &tip in tips {
        walk.meet_tip(history, tip)?;
    }
    lost.retain(|id| !walk.met.contains(id));
    for _ in 0..MOST_COMMITS_TO_LOST_TIPS {
        if lost.is_empty() || !walk.step(history, &mut lost)? {
            break;
        }
    }
    Ok(lost.is_empty())
}
