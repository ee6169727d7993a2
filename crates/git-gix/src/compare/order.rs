//! Commits in the order in which they were made.

use std::collections::HashMap;

use gix::ObjectId;

use super::walk::Found;

/// Sorts by committer date; of commits with the same date, parents come before their children.
pub(super) fn oldest_first(commits: &[Found]) -> Vec<ObjectId> {
    let ranks = ranks(commits);
    let mut order: Vec<usize> = (0..commits.len()).collect();
    order.sort_by_key(|&at| (commits[at].time, ranks[at]));
    order.into_iter().map(|at| commits[at].id).collect()
}

/// A number for each commit that is greater than those of its parents.
fn ranks(commits: &[Found]) -> Vec<usize> {
    let index: HashMap<ObjectId, usize> =
        commits.iter().enumerate().map(|(at, commit)| (commit.id, at)).collect();
    let parents = |at: usize| commits[at].parents.iter().filter_map(|id| index.get(id).copied());
    let mut waiting_children = vec![0; commits.len()];
    for parent in (0..commits.len()).flat_map(parents) {
        waiting_children[parent] += 1;
    }
    let mut ready: Vec<usize> =
        (0..commits.len()).filter(|&at| waiting_children[at] == 0).collect();
    let mut ranks = vec![0; commits.len()];
    let mut next = commits.len();
    while let Some(commit) = ready.pop() {
        ranks[commit] = next;
        next -= 1;
        for parent in parents(commit) {
            waiting_children[parent] -= 1;
            if waiting_children[parent] == 0 {
                ready.push(parent);
            }
        }
    }
    ranks
}
