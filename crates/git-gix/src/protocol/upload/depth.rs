//! Decides where the history ends for shallow fetches.

use std::collections::VecDeque;

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::reachable;
use super::refs::Listing;
use super::request::Request;
use super::walk::{self, WalkInput};
use crate::content::peel::to_commit;
use crate::error::failed;

/// The depth with which clients ask for the complete history.
const ENDLESS: u64 = 0x7fff_ffff;

/// The new shallow boundary of the client, and what has to be sent because of it.
#[derive(Default)]
pub(super) struct ShallowBoundary {
    /// Commits that become shallow: the client will not have their parents.
    pub(super) shallow: Vec<ObjectId>,
    /// Commits that stop being shallow: the client will get their parents.
    pub(super) unshallow: Vec<ObjectId>,
    /// The parents of the commits in `unshallow`.
    pub(super) wants: Vec<ObjectId>,
    /// All shallow commits: no walk passes to their parents, neither from the wants nor from the haves.
    pub(super) all: HashSet<ObjectId>,
}

/// The commits inside the depth, and those at which the history is cut.
#[derive(Default)]
struct CutHistory {
    whole: HashSet<ObjectId>,
    cut: Vec<ObjectId>,
}

/// Decides where the history of the wanted commits ends.
pub(super) fn shallow_boundary(
    source: &Source,
    listing: &Listing,
    request: &Request,
    wants: &[ObjectId],
) -> Result<ShallowBoundary, GitError> {
    let mut ends = ShallowBoundary { all: request.shallow.clone(), ..ShallowBoundary::default() };
    let depth = &request.depth;
    if !depth.is_requested() {
        return Ok(ends);
    }
    let repo = source.repo()?;
    // Only shallow commits that are reachable from a ref are deepened: the history of a deleted branch stays hidden,
    // even from a client that names one of its commits.
    let visible = || -> Result<HashSet<ObjectId>, GitError> {
        let shallow = request.shallow.iter().copied();
        let hidden = reachable::unreachable(source, listing, shallow.clone())?;
        Ok(shallow.filter(|id| !hidden.contains(id)).collect())
    };
    let cut = match depth.commits {
        // `--unshallow` completes the history at every shallow commit, whether a wanted commit
        // leads to it or not.
        Some(ENDLESS..) => CutHistory { whole: visible()?, cut: Vec::new() },
        Some(commits) if depth.relative => {
            let from: Vec<ObjectId> = visible()?.into_iter().collect();
            by_depth(source, &from, commits.saturating_add(1))?
        }
        Some(commits) => by_depth(source, wants, commits)?,
        None => by_date_and_history(source, request, wants)?,
    };
    for id in cut.cut {
        if ends.all.insert(id) {
            ends.shallow.push(id);
        }
    }
    for id in &request.shallow {
        if cut.whole.contains(id) {
            ends.unshallow.push(*id);
            let commit = repo.find_commit(*id).map_err(failed)?;
            ends.wants.extend(commit.parent_ids().map(gix::Id::detach));
        }
    }
    Ok(ends)
}

fn by_depth(source: &Source, from: &[ObjectId], depth: u64) -> Result<CutHistory, GitError> {
    let (repo, mut buffer) = (source.repo()?, Vec::new());
    let mut result = CutHistory::default();
    let mut seen = HashSet::default();
    let mut queue = VecDeque::new();
    for &id in from {
        if seen.insert(id) {
            queue.push_back((id, 1));
        }
    }
    while let Some((id, at)) = queue.pop_front() {
        let commit = source.lineages().read(repo, id, &mut buffer)?;
        let commit =
            commit.ok_or_else(|| GitError::Corrupt(format!("the commit {id} is missing")))?;
        // Like git, a commit at the boundary is cut even if it has no parents.
        if at >= depth {
            result.cut.push(id);
            continue;
        }
        result.whole.insert(id);
        for &parent in &commit.parents {
            if seen.insert(parent) {
                queue.push_back((parent, at + 1));
            }
        }
    }
    Ok(result)
}

fn by_date_and_history(
    source: &Source,
    request: &Request,
    wants: &[ObjectId],
) -> Result<CutHistory, GitError> {
    let repo = source.repo()?;
    let mut haves = Vec::new();
    for &tip in &request.depth.not {
        // An excluded tag stands for the commit that it points to.
        haves.extend(to_commit(repo, tip)?);
    }
    let since = request.depth.since;
    let missing = walk::find_missing_commits(
        repo,
        source.lineages(),
        WalkInput { wants, haves, ends: None, since },
    )?;
    if missing.commits.is_empty() {
        return Err(GitError::Protocol("no commits selected for shallow requests".into()));
    }
    let mut result = CutHistory {
        whole: missing.commits.iter().map(|found| found.id).collect(),
        cut: Vec::new(),
    };
    for found in &missing.commits {
        if found.parents.iter().any(|parent| !result.whole.contains(parent)) {
            result.cut.push(found.id);
        }
    }
    for id in &result.cut {
        result.whole.remove(id);
    }
    Ok(result)
}
