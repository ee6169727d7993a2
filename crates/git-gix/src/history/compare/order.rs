//! Sorts commits.

use std::collections::{BinaryHeap, HashMap};

use gix::ObjectId;

use super::walk::VisibleCommit;

/// Sorts commits by committer date, oldest first. A commit never comes before its parents, whatever its date is.
pub(super) fn oldest_first(commits: &[VisibleCommit]) -> Vec<ObjectId> {
    let index: HashMap<ObjectId, usize> =
        commits.iter().enumerate().map(|(at, commit)| (commit.id, at)).collect();
    let parents = |at: usize| commits[at].parents.iter().filter_map(|id| index.get(id).copied());
    let mut waiting_children = vec![0; commits.len()];
    for parent in (0..commits.len()).flat_map(parents) {
        waiting_children[parent] += 1;
    }
    // From the newest backwards: the next commit is the newest whose children are all placed.
    let mut ready: BinaryHeap<(i64, usize)> = (0..commits.len())
        .filter(|&at| waiting_children[at] == 0)
        .map(|at| (commits[at].time, at))
        .collect();
    let mut order = Vec::with_capacity(commits.len());
    while let Some((_, commit)) = ready.pop() {
        order.push(commits[commit].id);
        for parent in parents(commit) {
            waiting_children[parent] -= 1;
            if waiting_children[parent] == 0 {
                ready.push((commits[parent].time, parent));
            }
        }
    }
    order.reverse();
    order
}
