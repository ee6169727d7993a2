//! The last commits of folders, blames, divergences and lists of files, for pages.

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::{GitBrowsing, GitError};
use hexforge_domain::repository::{
    BLAME_LINES, Blame, Comparison, Divergence, FilePaths, LastCommits,
};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::content::commit::to_gix;
use crate::content::tree;
use crate::history::blame;
use crate::history::compare::{self, Effort, Limits, REQUEST_LIMITS};
use crate::history::folder::FolderWalks;
use crate::storage::repository::GixRepository;
use crate::storage::store::BySize;

/// The maximum size of all cached blames in bytes, and their expected number.
const BLAME_BYTES: u64 = 8 << 20;
const BLAMES: usize = 500;

/// The maximum number of cached divergences.
const DIVERGENCES: usize = 20_000;

/// The limits of a divergence. A list of branches needs one for each branch.
const DIVERGENCE_LIMITS: Limits =
    Limits { time: Duration::from_millis(200), reading: 0, showing: 0, changes: 0 };

/// The limits of a search for the tips that contain a commit.
const CONTAINING_LIMITS: Limits =
    Limits { time: Duration::from_millis(500), reading: 0, showing: 0, changes: 0 };

/// The maximum size of all cached changes in bytes, and their expected number.
const CHANGE_BYTES: u64 = 16 << 20;
const CHANGES: usize = 1_000;

/// Caches by object ids, so that no entry becomes stale.
pub(crate) struct BrowseCaches {
    folders: FolderWalks,
    blames: Cache<BlameKey, Arc<Blame>, ByRuns>,
    divergences: Cache<(ProjectId, ObjectId, ObjectId), Option<Divergence>>,
    changes: Cache<(ProjectId, Option<ObjectId>, ObjectId), Arc<Comparison>, BySize>,
}

/// The project, the commit, the path, and the first and the last line.
type BlameKey = (ProjectId, ObjectId, String, u32, u32);

impl Default for BrowseCaches {
    fn default() -> Self {
        Self {
            folders: FolderWalks::default(),
            blames: Cache::with_weighter(BLAMES, BLAME_BYTES, ByRuns),
            divergences: Cache::new(DIVERGENCES),
            changes: Cache::with_weighter(CHANGES, CHANGE_BYTES, BySize),
        }
    }
}

/// Weighs blames by their approximate size in memory.
#[derive(Clone)]
struct ByRuns;

impl Weighter<BlameKey, Arc<Blame>> for ByRuns {
    fn weight(&self, (_, _, path, ..): &BlameKey, blame: &Arc<Blame>) -> u64 {
        let paths = blame.runs.iter().map(|run| {
            run.path.len() + run.previous.as_ref().map_or(0, |(_, path)| path.len()) + 150
        });
        (paths.sum::<usize>() + path.len() + 150) as u64
    }
}

impl GitBrowsing for GixRepository {
    fn last_commits(&self, commit: ObjectId, folder: &str) -> Result<LastCommits, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        compare::require_commits(repo, &[to_gix(commit)])?;
        let folder = folder.strip_suffix('/').unwrap_or(folder);
        let folders = &self.shared().browsing.folders;
        folders.last_commits(repo, self.project(), to_gix(commit), folder)
    }

    fn blame(
        &self,
        commit: ObjectId,
        path: &str,
        lines: RangeInclusive<u32>,
    ) -> Result<Option<Arc<Blame>>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        compare::require_commits(repo, &[to_gix(commit)])?;
        let first = (*lines.start()).max(1);
        let last = (*lines.end()).min(first.saturating_add(BLAME_LINES - 1)).max(first - 1);
        let key = (self.project(), commit, path.to_owned(), first, last);
        let blames = &self.shared().browsing.blames;
        if let Some(known) = blames.get(&key) {
            return Ok(Some(known));
        }
        let effort = Effort::new(blame::LIMITS);
        let made = blame::blame(repo, to_gix(commit), path, first - 1..last, &effort)?;
        let Some(made) = made.map(Arc::new) else { return Ok(None) };
        blames.insert(key, Arc::clone(&made));
        Ok(Some(made))
    }

    fn divergence(&self, base: ObjectId, commit: ObjectId) -> Result<Option<Divergence>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let key = (self.project(), base, commit);
        let divergences = &self.shared().browsing.divergences;
        if let Some(known) = divergences.get(&key) {
            return Ok(known);
        }
        let effort = Effort::new(DIVERGENCE_LIMITS);
        let count = |from, to| match compare::commit_ids_between(repo, from, to, &effort) {
            Ok(commits) => Ok(Some(commits.len() as u64)),
            Err(GitError::TooLarge) => Ok(None),
            Err(error) => Err(error),
        };
        let (base, commit) = (to_gix(base), to_gix(commit));
        let counted = match (count(base, commit)?, count(commit, base)?) {
            (Some(ahead), Some(behind)) => Some(Divergence { ahead, behind }),
            _ => None,
        };
        // Also kept if it took too long, because a page would spend that time again and again.
        divergences.insert(key, counted);
        Ok(counted)
    }

    fn file_paths(&self, commit: ObjectId) -> Result<FilePaths, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        compare::require_commits(repo, &[to_gix(commit)])?;
        tree::file_paths(repo, &self.root(repo, commit)?)
    }

    fn tree_changes(
        &self,
        base: Option<ObjectId>,
        commit: ObjectId,
    ) -> Result<Arc<Comparison>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let key = (self.project(), base, commit);
        let changes = &self.shared().browsing.changes;
        if let Some(known) = changes.get(&key) {
            return Ok(known);
        }
        let effort = Effort::new(REQUEST_LIMITS);
        let made = compare::tree_changes(repo, base.map(to_gix), to_gix(commit), &effort)?;
        let made = Arc::new(made);
        // A comparison that hit a limit is incomplete, and the next attempt may get further.
        if !effort.is_spent() {
            changes.insert(key, Arc::clone(&made));
        }
        Ok(made)
    }

    fn tips_containing(
        &self,
        commit: ObjectId,
        tips: &[ObjectId],
    ) -> Result<Option<Vec<bool>>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let tips: Vec<gix::ObjectId> = tips.iter().copied().map(to_gix).collect();
        compare::tips_containing(repo, &tips, to_gix(commit), &Effort::new(CONTAINING_LIMITS))
    }
}
