//! Checks the objects that a push refers to but does not contain.
//!
//! Each of them must be reachable from a ref of the repository. A repository may contain more objects: the commits of
//! deleted branches and, in a fork, those of its source. A push that refers to them would make them visible to its
//! sender. A git client sends every object that the advertised refs do not reach, so ordinary pushes are not affected.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use gix::object::Kind;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::refs::Snapshot;

use super::check::CheckError;
use crate::history::reachable::{History, ReachabilityQuery, Scope};
use crate::protocol::limits::StopSignal;
use crate::storage::repository::GixRepository;
use crate::storage::store::Shared;

/// The time between two checks of the deadline and of the disconnect signal.
const SLICE: Duration = Duration::from_millis(100);

/// The time after which a reachability check without progress ends. A check that makes progress ends with the deadline
/// of the push: a large history takes longer than this while others need the processors.
const LONGEST_STALL: Duration = Duration::from_secs(60);

/// The number of commits whose trees are read first: most bases of a push are in the trees of the commits it builds on.
const MOST_FIRST: usize = 256;

/// The objects of a repository that its refs reach.
pub(crate) struct ReachableObjects<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) project: ProjectId,
    /// The refs at the time the push began; the client saw them in the advertisement.
    pub(super) refs: &'a Arc<Snapshot>,
    pub(super) caller: Caller,
    pub(super) stop: &'a StopSignal,
}

impl ReachableObjects<'_> {
    /// Returns whether all of these existing objects are reachable.
    pub(super) fn has_all(&self, objects: &HashMap<ObjectId, Kind>) -> Result<bool, CheckError> {
        let is_history = |kind: &Kind| matches!(kind, Kind::Commit | Kind::Tag);
        let of_kind =
            |history: bool| objects.iter().filter(move |(_, kind)| is_history(kind) == history);
        let ids =
            |history: bool| of_kind(history).map(|(id, _)| *id).collect::<HashSet<ObjectId>>();
        // Commits are checked first, because the other objects are searched in the trees of reachable commits.
        if !self.are_reachable(ids(true), &[], false)? {
            return Ok(false);
        }
        let commits = of_kind(true).filter(|(_, kind)| **kind == Kind::Commit).map(|(id, _)| *id);
        let first: Vec<ObjectId> = commits.take(MOST_FIRST).collect();
        self.are_reachable(ids(false), &first, true)
    }

    fn are_reachable(
        &self,
        mut open: HashSet<ObjectId>,
        first: &[ObjectId],
        with_contents: bool,
    ) -> Result<bool, CheckError> {
        let place = (self.project, Scope::Refs);
        let walks = &self.shared.walks;
        let mut stall = StallDetector::new(walks.progress(place, with_contents), Instant::now());
        while !open.is_empty() {
            let (shared, refs) = (Arc::clone(self.shared), Arc::clone(self.refs));
            let repository = GixRepository::open(shared, self.project, refs, self.caller)?;
            let Some(handle) = repository.handle() else { return Ok(false) };
            let refs = repository.derived(handle);
            let history = History { repo: handle.repo(), lineages: &self.shared.lineages };
            let query = ReachabilityQuery { tips: &refs.tips, first, with_contents };
            let slice = Some(Instant::now() + SLICE);
            match walks.retain_unreachable(history, place, query, &mut open, slice) {
                Ok(()) => return Ok(open.is_empty()),
                Err(GitError::Unfinished) => {
                    self.stop.check().map_err(CheckError::Stopped)?;
                    let progress = walks.progress(place, with_contents);
                    if stall.is_stalled(progress, Instant::now()) {
                        return Err(GitError::Busy.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}

/// Notices that a walk makes no progress. Two pushes that began with different refs can make their common walk start
/// again and again.
struct StallDetector {
    /// The most ids that the walk had.
    most: usize,
    /// When it came to have as many.
    since: Instant,
}

impl StallDetector {
    fn new(progress: usize, now: Instant) -> Self {
        Self { most: progress, since: now }
    }

    /// Returns whether the walk has had no more ids than before for [`LONGEST_STALL`].
    fn is_stalled(&mut self, progress: usize, now: Instant) -> bool {
        if progress > self.most {
            *self = Self::new(progress, now);
        }
        now.duration_since(self.since) > LONGEST_STALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_ends_after_a_minute_without_progress() {
        let begin = Instant::now();
        let mut stall = StallDetector::new(100, begin);
        for (seconds, progress, is_stalled) in [
            (59, 100, false),
            // However long it takes, the walk goes on.
            (60, 101, false),
            (119, 500, false),
            (3600, 9000, false),
            // Another push made it start again.
            (3610, 0, false),
            (3650, 8999, false),
            (3661, 9000, true),
            (3662, 9001, false),
        ] {
            let now = begin + Duration::from_secs(seconds);
            assert_eq!(stall.is_stalled(progress, now), is_stalled, "{seconds} s: {progress}");
        }
    }
}
