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

/// The time limit of one reachability check. The walk is cached, so the next push continues it.
const LONGEST_CHECK: Duration = Duration::from_secs(60);

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
        let until = Instant::now() + LONGEST_CHECK;
        while !open.is_empty() {
            let (shared, refs) = (Arc::clone(self.shared), Arc::clone(self.refs));
            let repository = GixRepository::open(shared, self.project, refs, self.caller)?;
            let Some(handle) = repository.handle() else { return Ok(false) };
            let refs = repository.derived(handle);
            let history = History { repo: handle.repo(), lineages: &self.shared.lineages };
            let place = (self.project, Scope::Refs);
            let query = ReachabilityQuery { tips: &refs.tips, first, with_contents };
            let slice = Some(Instant::now() + SLICE);
            let walks = &self.shared.walks;
            match walks.retain_unreachable(history, place, query, &mut open, slice) {
                Ok(()) => return Ok(open.is_empty()),
                Err(GitError::Unfinished) if Instant::now() < until => {
                    self.stop.check().map_err(CheckError::Stopped)?;
                }
                Err(GitError::Unfinished) => return Err(GitError::Busy.into()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}
