//! Finds the branches and tags that contain a commit.

use std::collections::HashMap;

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::{Effort, require_commits, with_object_cache};
use crate::error::failed;

/// The clock skew in seconds that the first search tolerates.
const TOLERATED_SKEW: i64 = 24 * 60 * 60;

/// The maximum number of commits that are visited.
const MOST_COMMITS: usize = 5_000_000;

/// Returns the index of the first tip from which the wanted commit is reachable. The first search visits each commit at
/// most once and skips the ancestors of commits that are much older than the wanted one. A second search without that
/// limit checks the tips before the one found.
pub(crate) fn first_containing(
    repo: &gix::Repository,
    tips: &[ObjectId],
    wanted: ObjectId,
) -> Result<Option<usize>, GitError> {
    require_commits(repo, &[wanted])?;
    let repo = &with_object_cache(repo);
    let time = repo.find_commit(wanted).map_err(failed)?.time().map_err(failed)?.seconds;
    let found = find_first(repo, tips, wanted, time.saturating_sub(TOLERATED_SKEW))?;
    // An earlier tip may reach the commit through one with a much older, wrong date.
    let before = &tips[..found.unwrap_or(tips.len())];
    Ok(find_first(repo, before, wanted, i64::MIN)?.or(found))
}

fn find_first(
    repo: &gix::Repository,
    tips: &[ObjectId],
    wanted: ObjectId,
    oldest: i64,
) -> Result<Option<usize>, GitError> {
    // An unreadable commit-graph is ignored: it only speeds up the walk.
    let commit_graph = repo.commit_graph_if_enabled().unwrap_or_default();
    let mut graph: gix::revwalk::Graph<'_, '_, gix::revwalk::graph::Commit<()>> =
        repo.revision_graph(commit_graph.as_ref());
    // A commit that was visited for an earlier tip does not reach the wanted one.
    let mut seen = HashSet::default();
    for (place, &tip) in tips.iter().enumerate() {
        let mut waiting = vec![tip];
        while let Some(id) = waiting.pop() {
            if id == wanted {
                return Ok(Some(place));
            }
            if !seen.insert(id) {
                continue;
            }
            if seen.len() > MOST_COMMITS {
                return Err(GitError::TooLarge);
            }
            // A missing parent ends the history.
            let commit = graph.get_or_insert_full_commit(id, |_| {}).map_err(failed)?;
            if let Some(commit) = commit.filter(|commit| commit.commit_time >= oldest) {
                waiting.extend(&commit.parents);
            }
        }
    }
    Ok(None)
}

/// The number of commits between two checks of the time limit.
const COMMITS_PER_TIME_CHECK: usize = 1000;

/// Returns for each tip whether the wanted commit is reachable from it, or `None` when the time is up. One walk serves
/// all tips. It skips the ancestors of commits that are more than a day older than the wanted one.
pub(crate) fn tips_containing(
    repo: &gix::Repository,
    tips: &[ObjectId],
    wanted: ObjectId,
    effort: &Effort,
) -> Result<Option<Vec<bool>>, GitError> {
    require_commits(repo, &[wanted])?;
    let repo = &with_object_cache(repo);
    let time = repo.find_commit(wanted).map_err(failed)?.time().map_err(failed)?.seconds;
    let oldest = time.saturating_sub(TOLERATED_SKEW);
    let commit_graph = repo.commit_graph_if_enabled().unwrap_or_default();
    let mut graph: gix::revwalk::Graph<'_, '_, gix::revwalk::graph::Commit<()>> =
        repo.revision_graph(commit_graph.as_ref());
    let mut children: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
    let (mut seen, mut waiting) = (HashSet::default(), Vec::new());
    for &tip in tips {
        // Tags may point to other objects than commits.
        if require_commits(repo, &[tip]).is_ok() {
            waiting.push(tip);
        }
    }
    while let Some(id) = waiting.pop() {
        if id == wanted || !seen.insert(id) {
            continue;
        }
        if seen.len().is_multiple_of(COMMITS_PER_TIME_CHECK) && !effort.has_time() {
            return Ok(None);
        }
        // A missing parent ends the history.
        let commit = graph.get_or_insert_full_commit(id, |_| {}).map_err(failed)?;
        let Some(commit) = commit.filter(|commit| commit.commit_time >= oldest) else { continue };
        for &parent in &commit.parents {
            children.entry(parent).or_default().push(id);
            waiting.push(parent);
        }
    }
    let (mut descendants, mut waiting) = (HashSet::default(), vec![wanted]);
    while let Some(id) = waiting.pop() {
        if descendants.insert(id) {
            waiting.extend(children.get(&id).into_iter().flatten());
        }
    }
    Ok(Some(tips.iter().map(|tip| descendants.contains(tip)).collect()))
}
