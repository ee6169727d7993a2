//! Caches all ancestors of the hidden commits when several calls hide the same ones.
//!
//! A push of a thousand branches asks a thousand times which commits of a branch are not on the default branch. Each
//! answer would take a walk down to the fork point; one walk over all ancestors of the default branch serves them all.

use std::cell::RefCell;
use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::walk::VisibleCommit;
use crate::error::failed;

/// After this number of calls in a row with the same hidden commits, all their ancestors are loaded.
const CALLS_BEFORE_CACHING: u32 = 3;

/// The ancestors of longer histories are not cached.
const MOST_ANCESTORS: usize = 5_000_000;

/// The cache for the commits that were hidden last.
#[derive(Default)]
pub(crate) struct AncestorCache(RefCell<LastHidden>);

#[derive(Default)]
struct LastHidden {
    hidden: Vec<ObjectId>,
    times: u32,
    all: Option<Arc<HashSet<ObjectId>>>,
}

impl AncestorCache {
    /// Returns all ancestors of these commits, or `None` if there are too many, or if there were fewer than
    /// [`CALLS_BEFORE_CACHING`] calls with the same commits.
    pub(super) fn ancestors_of(
        &self,
        repo: &gix::Repository,
        hidden: &[ObjectId],
    ) -> Result<Option<Arc<HashSet<ObjectId>>>, GitError> {
        let mut last = self.0.borrow_mut();
        if last.hidden != hidden {
            *last = LastHidden { hidden: hidden.to_vec(), times: 0, all: None };
        }
        last.times = last.times.saturating_add(1);
        if last.times == CALLS_BEFORE_CACHING && !hidden.is_empty() {
            last.all = with_ancestors(repo, hidden)?.map(Arc::new);
        }
        Ok(last.all.clone())
    }
}

/// These commits and all their ancestors; `None` when there are too many.
fn with_ancestors(
    repo: &gix::Repository,
    tips: &[ObjectId],
) -> Result<Option<HashSet<ObjectId>>, GitError> {
    let known = HashSet::default();
    let mut all = HashSet::default();
    for &tip in tips {
        for found in commits_outside(repo, &known, tip, MOST_ANCESTORS)? {
            all.insert(found.id);
        }
    }
    Ok((all.len() < MOST_ANCESTORS).then_some(all))
}

/// The commits that are reachable from `to` without passing a commit in `known`, at most `most`.
pub(super) fn commits_outside(
    repo: &gix::Repository,
    known: &HashSet<ObjectId>,
    to: ObjectId,
    most: usize,
) -> Result<Vec<VisibleCommit>, GitError> {
    // An unreadable commit-graph is ignored: it only speeds up the walk.
    let commit_graph = repo.commit_graph_if_enabled().unwrap_or_default();
    let mut graph: gix::revwalk::Graph<'_, '_, gix::revwalk::graph::Commit<()>> =
        repo.revision_graph(commit_graph.as_ref());
    let mut seen = HashSet::default();
    let (mut found, mut waiting) = (Vec::new(), vec![to]);
    while let Some(id) = waiting.pop() {
        if known.contains(&id) || !seen.insert(id) {
            continue;
        }
        // A missing parent ends the history.
        let commit = graph.get_or_insert_full_commit(id, |_| {}).map_err(failed)?;
        let Some(commit) = commit else { continue };
        let (parents, time) = (commit.parents.to_vec(), commit.commit_time);
        waiting.extend(&parents);
        found.push(VisibleCommit { id, parents, time });
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}
