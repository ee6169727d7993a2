//! Finds the commits that are reachable from one commit and not from others.
//!
//! gix can also hide commits from a walk, but it shows some of them when a parent is not older than its child, which
//! happens when a program creates commits.

use std::collections::BinaryHeap;

use gix::ObjectId;
use gix::revwalk::graph;
use hexforge_domain::ports::git::GitError;

use super::effort::Effort;
use crate::error::failed;

/// The number of further commits that are visited when everything left seems to be hidden. A wrong clock can make a
/// commit look older than its parents.
const EXTRA_COMMITS: usize = 16;

/// A visible commit.
pub(super) struct VisibleCommit {
    pub(super) id: ObjectId,
    pub(super) parents: Vec<ObjectId>,
    /// The committer time in seconds.
    pub(super) time: i64,
}

/// The number of commits between two checks of the time limit.
const COMMITS_PER_TIME_CHECK: usize = 1000;

/// The commits that are reachable from `to` and from none of `hidden`, in no particular order. Returns `None` when the
/// time is up, because visibility is certain only at the end of the walk.
pub(super) fn visible_commits(
    repo: &gix::Repository,
    hidden: &[ObjectId],
    to: ObjectId,
    effort: &Effort,
) -> Result<Option<Vec<VisibleCommit>>, GitError> {
    // An unreadable commit-graph is ignored: it only speeds up the walk.
    let commit_graph = repo.commit_graph_if_enabled().unwrap_or_default();
    let graph = repo.revision_graph(commit_graph.as_ref());
    let mut walk = Walk { graph, queue: BinaryHeap::new(), queued_visible: 0, visited: Vec::new() };
    walk.reach(to, false)?;
    for &id in hidden {
        walk.reach(id, true)?;
    }
    Ok(if walk.run(effort)? { Some(walk.into_visible()) } else { None })
}

/// The priority of a commit, children before parents: by generation if a commit-graph has it, then by date.
type Key = (graph::Generation, i64);

#[derive(Default)]
struct State {
    seen: bool,
    hidden: bool,
    queued: bool,
}

struct Walk<'repo, 'cache> {
    graph: gix::revwalk::Graph<'repo, 'cache, graph::Commit<State>>,
    queue: BinaryHeap<(Key, ObjectId)>,
    queued_visible: usize,
    /// The commits that were visible when the walk visited them. They may be hidden later.
    visited: Vec<ObjectId>,
}

impl Walk<'_, '_> {
    /// Walks until no commit is left that is visible, or that could still hide a visible one. Returns `false` when the
    /// time is up.
    fn run(&mut self, effort: &Effort) -> Result<bool, GitError> {
        let mut oldest_visible: Option<Key> = None;
        let mut extra = EXTRA_COMMITS;
        let mut visits = 0;
        while let Some((key, id)) = self.queue.pop() {
            if visits % COMMITS_PER_TIME_CHECK == 0 && !effort.has_time() {
                return Ok(false);
            }
            visits += 1;
            let Some(commit) = self.graph.get_mut(&id) else { continue };
            commit.data.queued = false;
            let hidden = commit.data.hidden;
            let parents = commit.parents.clone();
            if !hidden {
                self.queued_visible -= 1;
                self.visited.push(id);
                oldest_visible = Some(oldest_visible.map_or(key, |oldest| oldest.min(key)));
            } else if self.queued_visible == 0 {
                if oldest_visible.is_some_and(|oldest| key >= oldest) {
                    extra = EXTRA_COMMITS;
                } else if extra > 0 {
                    extra -= 1;
                } else if self.hide_newer_parents(&parents, key.1)?
                    | self.hide_behind_wrong_dates()?
                {
                    extra = EXTRA_COMMITS;
                } else {
                    return Ok(true);
                }
            }
            for parent in parents {
                self.reach(parent, hidden)?;
            }
        }
        Ok(true)
    }

    /// For each queued hidden commit, hides the parents that are not older than it: such a commit comes too late in the
    /// queue. Returns whether there were any.
    fn hide_behind_wrong_dates(&mut self) -> Result<bool, GitError> {
        let waiting: Vec<(ObjectId, i64)> =
            self.queue.iter().map(|&((_, time), id)| (id, time)).collect();
        let mut found = false;
        for (id, time) in waiting {
            let commit = self.graph.get(&id).filter(|commit| commit.data.hidden);
            let Some(parents) = commit.map(|commit| commit.parents.clone()) else { continue };
            found |= self.hide_newer_parents(&parents, time)?;
        }
        Ok(found)
    }

    /// Hides the parents of a hidden commit that are not older than it. Returns whether there were any.
    fn hide_newer_parents(&mut self, parents: &[ObjectId], time: i64) -> Result<bool, GitError> {
        let mut found = false;
        for &parent in parents {
            let commit = self.graph.get_or_insert_full_commit(parent, |_| {}).map_err(failed)?;
            if commit.is_some_and(|commit| commit.commit_time >= time && !commit.data.hidden) {
                self.reach(parent, true)?;
                found = true;
            }
        }
        Ok(found)
    }

    /// Marks a commit as reachable, and queues it (again) if its state changed. A missing commit ends the history.
    fn reach(&mut self, id: ObjectId, hidden: bool) -> Result<(), GitError> {
        let commit = self.graph.get_or_insert_full_commit(id, |_| {}).map_err(failed)?;
        let Some(commit) = commit else { return Ok(()) };
        let state = &mut commit.data;
        if state.seen && (state.hidden || !hidden) {
            return Ok(());
        }
        if state.queued {
            // The commit was queued as visible.
            self.queued_visible -= 1;
        } else {
            let generation = commit.generation.unwrap_or(graph::Generation::MAX);
            self.queue.push(((generation, commit.commit_time), id));
        }
        *state = State { seen: true, hidden, queued: true };
        self.queued_visible += usize::from(!hidden);
        Ok(())
    }

    fn into_visible(self) -> Vec<VisibleCommit> {
        let Self { graph, visited, .. } = self;
        let mut commits = graph.detach();
        let visible = visited.into_iter().filter_map(|id| {
            let commit = commits.remove(&id).filter(|commit| !commit.data.hidden)?;
            Some(VisibleCommit { id, parents: commit.parents.to_vec(), time: commit.commit_time })
        });
        visible.collect()
    }
}
