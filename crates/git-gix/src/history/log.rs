//! Lists commits as `git log` does, with its default simplification of history.

mod path;
#[cfg(test)]
pub(super) mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::object::Kind;
use gix::objs::{CommitRefIter, Find};
use hexforge_domain::Timestamp;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::LogQuery;

use crate::content::commit::to_gix;
use crate::error::failed;
use crate::history::compare::{require_commits, with_object_cache};
use crate::text;
pub(super) use path::PathHistory;

/// The maximum number of commits that are visited.
const MOST_COMMITS: usize = 5_000_000;

/// The number of commits between two checks of the time limit.
const COMMITS_PER_TIME_CHECK: u64 = 100;

/// Lists the commits of a query, newest first.
pub(crate) fn list(
    repo: &gix::Repository,
    query: &LogQuery,
    until: Instant,
) -> Result<Vec<ObjectId>, GitError> {
    let from = to_gix(query.from);
    require_commits(repo, &[from])?;
    let repo = with_object_cache(repo);
    let path = query.path.as_deref().filter(|path| !path.is_empty());
    let mut walk = Walk {
        repo: &repo,
        path: path.map(|path| PathHistory::new(&repo, &text::bytes_of(path))),
        since: query.since.map_or(i64::MIN, first_second),
        queue: BinaryHeap::new(),
        seen: HashSet::default(),
        queued: 0,
    };
    walk.reach(from)?;
    let latest = query.until.map_or(i64::MAX, |until| until.timestamp());
    let (mut listed, mut skipped, mut visited) = (Vec::new(), 0, 0);
    while listed.len() < query.limit
        && let Some(commit) = walk.next()?
    {
        visited += 1;
        if visited % COMMITS_PER_TIME_CHECK == 0 && Instant::now() >= until {
            return Err(GitError::TooLarge);
        }
        if !commit.is_shown || commit.time > latest {
            continue;
        }
        if skipped < query.skip {
            skipped += 1;
        } else {
            listed.push(commit.id);
        }
    }
    Ok(listed)
}

/// The first full second that is not before a time. Git has no fractions of seconds.
fn first_second(time: Timestamp) -> i64 {
    time.timestamp() + i64::from(time.timestamp_subsec_nanos() > 0)
}

struct Walk<'r> {
    repo: &'r gix::Repository,
    path: Option<PathHistory<'r>>,
    /// Older commits end the walk.
    since: i64,
    queue: BinaryHeap<Waiting>,
    seen: HashSet<ObjectId>,
    queued: u64,
}

/// A commit that waits in the queue: the newest first, then the one that came first.
type Waiting = (i64, Reverse<u64>, Header);

/// The parts of a commit that the walk needs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Header {
    pub(super) id: ObjectId,
    pub(super) tree: ObjectId,
    pub(super) parents: Vec<ObjectId>,
    pub(super) time: i64,
}

/// A commit that the walk visited.
struct Visited {
    id: ObjectId,
    time: i64,
    /// Whether the commit changed the path.
    is_shown: bool,
}

impl Walk<'_> {
    /// Visits the next commit and queues the parents that are followed.
    fn next(&mut self) -> Result<Option<Visited>, GitError> {
        while let Some((time, _, commit)) = self.queue.pop() {
            if time < self.since {
                continue;
            }
            let (is_shown, parents) = match &mut self.path {
                None => (true, commit.parents),
                Some(path) => path.simplify(commit.tree, commit.parents)?,
            };
            for parent in parents {
                self.reach(parent)?;
            }
            return Ok(Some(Visited { id: commit.id, time, is_shown }));
        }
        Ok(None)
    }

    /// Queues a commit once.
    fn reach(&mut self, id: ObjectId) -> Result<(), GitError> {
        if !self.seen.insert(id) {
            return Ok(());
        }
        if self.seen.len() > MOST_COMMITS {
            return Err(GitError::TooLarge);
        }
        // A missing parent ends the history, as in a shallow clone.
        if let Some(commit) = read(self.repo, id)? {
            self.queue.push((commit.time, Reverse(self.queued), commit));
            self.queued += 1;
        }
        Ok(())
    }
}

/// Reads the header of a commit; `None` when it does not exist.
pub(super) fn read(repo: &gix::Repository, id: ObjectId) -> Result<Option<Header>, GitError> {
    let mut buffer = Vec::new();
    let Some(object) = repo.objects.try_find(&id, &mut buffer).map_err(failed)? else {
        return Ok(None);
    };
    let damaged = || GitError::Corrupt(format!("the commit {id} is malformed"));
    if object.kind != Kind::Commit {
        return Err(damaged());
    }
    let commit = || CommitRefIter::from_bytes(object.data, gix::hash::Kind::Sha1);
    let tree = commit().tree_id().map_err(|_| damaged())?;
    let committer = commit().committer().map_err(|_| damaged())?;
    // As in git, a date that cannot be parsed is the epoch.
    let time = committer.time().map(|time| time.seconds).unwrap_or_default();
    Ok(Some(Header { id, tree, parents: commit().parent_ids().collect(), time }))
}
