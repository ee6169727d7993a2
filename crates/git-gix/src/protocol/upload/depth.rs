//! Where a history ends that is not asked for as a whole.

use std::collections::VecDeque;

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::reachable;
use super::refs::Listing;
use super::request::Request;
use super::walk::{self, Ask};
use crate::content::peel::to_commit;
use crate::error::failed;

/// The depth by which clients ask for everything.
const ENDLESS: u64 = 0x7fff_ffff;

/// What a client has to note, and what is to be sent because of it.
#[derive(Default)]
pub(super) struct Ends {
    /// Commits whose parents the client will not have.
    pub(super) shallow: Vec<ObjectId>,
    /// Commits whose parents it had not, and will have.
    pub(super) unshallow: Vec<ObjectId>,
    /// Those parents.
    pub(super) wants: Vec<ObjectId>,
    /// Commits whose parents do not count on the way from what is wanted, or from what the client has.
    pub(super) all: HashSet<ObjectId>,
}

/// Commits that stay whole, and those that lose their parents.
#[derive(Default)]
struct Cut {
    whole: HashSet<ObjectId>,
    cut: Vec<ObjectId>,
}

/// Decides where the history ends that starts at these commits.
pub(super) fn ends(
    source: &Source,
    listing: &Listing,
    request: &Request,
    wants: &[ObjectId],
) -> Result<Ends, GitError> {
    let mut ends = Ends { all: request.shallow.clone(), ..Ends::default() };
    let depth = &request.depth;
    if !depth.is_asked_for() {
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
        // Wherever the history of the client ends, and whether that has to do with what it wants or not.
        Some(ENDLESS..) => Cut { whole: visible()?, cut: Vec::new() },
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

fn by_depth(source: &Source, from: &[ObjectId], depth: u64) -> Result<Cut, GitError> {
    let (repo, mut buffer) = (source.repo()?, Vec::new());
    let mut result = Cut::default();
    let mut seen = HashSet::default();
    let mut queue = VecDeque::new();
    for &id in from {
        if seen.insert(id) {
            queue.push_back((id, 1));
        }
    }
    while let Some((id, at)) = queue.pop_front() {
        let commit = source.lineages().of(repo, id, &mut buffer)?;
        let commit = commit.ok_or_else(|| GitError::Corrupt(format!("no commit {id}")))?;
        // As git does it, also where there are no parents to be cut off.
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
) -> Result<Cut, GitError> {
    let repo = source.repo()?;
    let mut haves = Vec::new();
    for &tip in &request.depth.not {
        // A tag leads to what it is about.
        haves.extend(to_commit(repo, tip)?);
    }
    let since = request.depth.since;
    let region = walk::region(repo, source.lineages(), Ask { wants, haves, ends: None, since })?;
    if region.commits.is_empty() {
        return Err(GitError::Protocol("no commits selected for shallow requests".into()));
    }
    let mut result =
        Cut { whole: region.commits.iter().map(|found| found.id).collect(), cut: Vec::new() };
    for found in &region.commits {
        if found.parents.iter().any(|parent| !result.whole.contains(parent)) {
            result.cut.push(found.id);
        }
    }
    for id in &result.cut {
        result.whole.remove(id);
    }
    Ok(result)
}
