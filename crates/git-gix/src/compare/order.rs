//! Commits in the order in which they were made.

use std::collections::HashMap;

use gix::ObjectId;
use gix::revision::walk::Sorting;
use gix::traverse::commit::Info;
use gix::traverse::commit::simple::CommitTimeOrder;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;

/// Commits reachable from `to` and from none of `hidden`, by committer date; of those with the same date,
/// parents come before their children.
pub(super) fn oldest_first(
    repo: &gix::Repository,
    hidden: &[ObjectId],
    to: ObjectId,
) -> Result<Vec<ObjectId>, GitError> {
    let walk = repo
        .rev_walk([to])
        .sorting(Sorting::ByCommitTime(CommitTimeOrder::NewestFirst))
        .use_commit_graph(true)
        .with_hidden(hidden.iter().copied())
        .all()
        .map_err(failed)?;
    let mut commits = Vec::new();
    for commit in walk {
        commits.push(commit.map_err(failed)?.detach());
    }
    let ranks = ranks(&commits);
    let mut order: Vec<usize> = (0..commits.len()).collect();
    order.sort_by_key(|&at| (commits[at].commit_time, ranks[at]));
    Ok(order.into_iter().map(|at| commits[at].id).collect())
}

/// A number for each commit that is greater than those of its parents. Dates do not give one: clocks go wrong,
/// and many commits can be made in one second.
fn ranks(commits: &[Info]) -> Vec<usize> {
    let index: HashMap<ObjectId, usize> =
        commits.iter().enumerate().map(|(at, commit)| (commit.id, at)).collect();
    let parents = |at: usize| commits[at].parent_ids.iter().filter_map(|id| index.get(id).copied());
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
