//! Counts the contributors of a history.
//!
//! Counting takes about as long as `git log --numstat`, too long for a request. So the result is [stored](stored) in
//! the folder of the repository, with the commit up to which it counts. When the history has grown, only the new
//! commits are [counted](count), in the [background](jobs). A rewritten history is counted from the start.

mod count;
mod header;
mod jobs;
pub(crate) mod lines;
mod new_commits;
mod read;
mod stored;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests;
mod totals;
mod trees;
mod walk;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gix::{ObjectId, ThreadSafeRepository};
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Contributors;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use self::jobs::{Job, Jobs};
use self::stored::StoredCount;
use crate::storage::open::OpenRepository;

/// The maximum number of authors in cached results.
const CACHED_AUTHORS: u64 = 50_000;

/// Counts and caches the contributors of all repositories. All requests of a process share it.
pub(crate) struct ContributorIndex {
    cache: Arc<ContributorCache>,
    jobs: Jobs,
}

/// Complete results by tip commit. A commit id identifies its whole history, so entries never become stale.
type ContributorCache = Cache<ObjectId, Arc<Contributors>, ByAuthors>;

#[derive(Clone)]
struct ByAuthors;

impl Weighter<ObjectId, Arc<Contributors>> for ByAuthors {
    fn weight(&self, _: &ObjectId, answer: &Arc<Contributors>) -> u64 {
        answer.authors.len() as u64 + 1
    }
}

impl Default for ContributorIndex {
    fn default() -> Self {
        let cache = Arc::new(Cache::with_weighter(1_000, CACHED_AUTHORS, ByAuthors));
        Self { jobs: Jobs::new(Arc::clone(&cache)), cache }
    }
}

/// A repository whose contributors are counted.
pub(crate) struct CountedRepository {
    repository: ThreadSafeRepository,
    /// This reference keeps the pack links of the repository.
    _open: Option<Arc<OpenRepository>>,
}

impl CountedRepository {
    fn path(&self) -> &Path {
        self.repository.path()
    }
}

impl From<&Arc<OpenRepository>> for CountedRepository {
    fn from(open: &Arc<OpenRepository>) -> Self {
        Self { repository: open.shared().clone(), _open: Some(Arc::clone(open)) }
    }
}

#[cfg(test)]
impl From<&ThreadSafeRepository> for CountedRepository {
    fn from(repository: &ThreadSafeRepository) -> Self {
        Self { repository: repository.clone(), _open: None }
    }
}

impl ContributorIndex {
    /// Returns the contributors to the history of a commit. If they are not counted yet, waits at most `wait`, and then
    /// returns what has been counted so far.
    /// # Errors
    /// [`GitError::Corrupt`] when an object of the history is missing or cannot be read.
    pub(crate) fn contributors(
        &self,
        repository: impl Into<CountedRepository>,
        tip: ObjectId,
        wait: Duration,
        caller: Caller,
    ) -> Result<Contributors, GitError> {
        let until = Instant::now() + wait;
        let repository = repository.into();
        if let Some(answer) = self.cache.get(&tip) {
            return Ok(Contributors::clone(&answer));
        }
        let stored = StoredCount::read(repository.path());
        if stored.tip == Some(tip) {
            let answer = Arc::new(stored.totals.contributors(true));
            self.cache.insert(tip, Arc::clone(&answer));
            return Ok(Contributors::clone(&answer));
        }
        let mut so_far = stored.unfinished.map(|unfinished| unfinished.totals).unwrap_or_default();
        so_far.add_all(&stored.totals);
        let so_far = Arc::new(so_far.contributors(false));
        let answer = match self.jobs.start(repository, tip, &so_far, caller) {
            Some(job) => Job::wait(&job, tip, until)?,
            None => so_far,
        };
        Ok(Contributors::clone(&answer))
    }

    /// Starts counting in the background, so that the next request need not wait.
    pub(crate) fn count_in_background(
        &self,
        repository: impl Into<CountedRepository>,
        tip: ObjectId,
    ) {
        if self.cache.get(&tip).is_none() {
            self.jobs.start(repository.into(), tip, &Arc::default(), Caller::BACKGROUND);
        }
    }
}
