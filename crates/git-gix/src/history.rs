//! Operations on histories: comparisons, archives, contributors and reachability.

mod blame;
pub(crate) mod browse;
pub(crate) mod compare;
pub(crate) mod contributors;
mod folder;
pub(crate) mod lineage;
pub(crate) mod log;
pub(crate) mod reachable;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{GitError, GitHistory};
use hexforge_domain::push::ChangedPaths;
use hexforge_domain::repository::{
    Archive, ChangedLine, CommitStats, Comparison, Contributors, FileDiff, LineSide, LogQuery,
};

use crate::content::archive;
use crate::content::commit::{from_gix, to_gix};
use crate::history::compare::{Effort, PUSH_LIMITS, REQUEST_LIMITS};
use crate::storage::repository::GixRepository;

/// The maximum time that a request waits for an unfinished count of contributors.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The time limit of a log.
const LONGEST_LOG: Duration = Duration::from_secs(20);

impl GitHistory for GixRepository {
    fn compare(&self, from: ObjectId, to: ObjectId) -> Result<Arc<Comparison>, GitError> {
        let handle = self.handle().ok_or(GitError::Missing)?;
        // Both ids are object ids, so the comparison never changes.
        let key = (self.project(), from, to);
        if let Some(kept) = self.shared().comparisons.get(&key) {
            return Ok(kept);
        }
        let effort = Effort::new(REQUEST_LIMITS);
        let made = Arc::new(compare::compare(handle.repo(), to_gix(from), to_gix(to), &effort)?);
        // A comparison that hit a limit is incomplete, and the next attempt may get further.
        if !effort.is_spent() {
            self.shared().comparisons.insert(key, Arc::clone(&made));
        }
        Ok(made)
    }

    fn commits_between(
        &self,
        hidden: &[ObjectId],
        to: ObjectId,
        limit: usize,
    ) -> Result<(u64, Vec<Commit>), GitError> {
        let handle = self.handle().ok_or(GitError::Missing)?;
        let hidden: Vec<gix::ObjectId> = hidden.iter().copied().map(to_gix).collect();
        let effort = Effort::new(PUSH_LIMITS);
        let ancestry = self.ancestry();
        compare::commits_between(handle.repo(), ancestry, &hidden, to_gix(to), limit, &effort)
    }

    fn merge_base(&self, one: ObjectId, two: ObjectId) -> Result<Option<ObjectId>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let base = compare::find_merge_base(repo, to_gix(one), to_gix(two))?;
        Ok(base.map(|base| from_gix(&base)))
    }

    fn commits_not_in(
        &self,
        start: ObjectId,
        head: ObjectId,
        limit: usize,
    ) -> Result<Vec<Commit>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let effort = Effort::new(REQUEST_LIMITS);
        compare::commits_not_in(repo, to_gix(start), to_gix(head), limit, &effort)
    }

    fn commits_among(
        &self,
        wanted: &[ObjectId],
        old: ObjectId,
        new: ObjectId,
    ) -> Result<Vec<ObjectId>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let effort = Effort::new(PUSH_LIMITS);
        let found = compare::commit_ids_between(repo, to_gix(old), to_gix(new), &effort)?;
        Ok(wanted.iter().copied().filter(|id| found.contains(&to_gix(*id))).collect())
    }

    fn commit_diff(&self, commit: ObjectId) -> Result<Vec<FileDiff>, GitError> {
        let repo = &compare::with_object_cache(self.handle().ok_or(GitError::Missing)?.repo());
        compare::require_commits(repo, &[to_gix(commit)])?;
        compare::commit_diff(repo, to_gix(commit), &Effort::new(REQUEST_LIMITS))
    }

    fn changed_line(
        &self,
        commit: ObjectId,
        path: &str,
        side: LineSide,
        number: u32,
    ) -> Result<Option<ChangedLine>, GitError> {
        let repo = &compare::with_object_cache(self.handle().ok_or(GitError::Missing)?.repo());
        let commit = to_gix(commit);
        compare::require_commits(repo, &[commit])?;
        let effort = Effort::new(REQUEST_LIMITS);
        compare::changed_line(repo, commit, path, (side, number), &effort)
    }

    fn commit_stats(&self, commit: ObjectId) -> Result<CommitStats, GitError> {
        let repo = &compare::with_object_cache(self.handle().ok_or(GitError::Missing)?.repo());
        compare::require_commits(repo, &[to_gix(commit)])?;
        compare::commit_stats(repo, to_gix(commit), &Effort::new(REQUEST_LIMITS))
    }

    fn log(&self, query: &LogQuery) -> Result<Vec<Commit>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let ids = log::list(repo, query, Instant::now() + LONGEST_LOG)?;
        ids.into_iter().map(|id| self.shared().commit(self.project(), repo, id)).collect()
    }

    fn last_commit(&self, from: ObjectId, path: &str) -> Result<Option<ObjectId>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let query = LogQuery { path: Some(path.to_owned()), limit: 1, ..LogQuery::all(from) };
        let ids = log::list(repo, &query, Instant::now() + LONGEST_LOG)?;
        Ok(ids.first().map(|id| from_gix(id)))
    }

    fn changed_paths(&self, commit: ObjectId) -> Result<ChangedPaths, GitError> {
        let handle = self.handle().ok_or(GitError::Missing)?;
        compare::changed_paths(handle.repo(), to_gix(commit), &Effort::new(PUSH_LIMITS))
    }

    fn is_ancestor(&self, ancestor: ObjectId, descendant: ObjectId) -> Result<bool, GitError> {
        let handle = self.handle().ok_or(GitError::Missing)?;
        compare::is_ancestor(handle.repo(), to_gix(ancestor), to_gix(descendant))
    }

    fn write_archive(&self, wanted: &Archive, to: &mut dyn Write) -> Result<(), GitError> {
        let handle = self.handle().ok_or(GitError::Missing)?;
        let make = |to: &mut dyn Write| archive::write(handle.repo(), self.refs(), wanted, to);
        self.shared().archives.write((self.project(), self.caller()), wanted, to, make)
    }

    fn contributors(&self, tip: ObjectId) -> Result<Contributors, GitError> {
        let handle = self.handle().ok_or(GitError::Missing)?;
        let (repository, tip) = (handle.open(), to_gix(tip));
        self.shared().contributors.contributors(repository, tip, LONGEST_WAIT, self.caller())
    }
}
