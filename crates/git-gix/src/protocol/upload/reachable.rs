//! Whether what is asked for can be had: only what some ref leads to.

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::refs::Listing;
use crate::history::reachable::{History, Scope};

/// Refuses objects that are not reachable from a ref, as if they did not exist.
pub(super) fn check(
    source: &Source,
    listing: &Listing,
    wants: &[ObjectId],
) -> Result<(), GitError> {
    let unreachable = unreachable(source, listing, wants.iter().copied())?;
    // The order is that of the client, so that the same request has the same answer.
    match wants.iter().find(|want| unreachable.contains(*want)) {
        Some(want) => Err(not_ours(*want)),
        None => Ok(()),
    }
}

/// Returns those of these objects that are not reachable from a ref.
pub(super) fn unreachable(
    source: &Source,
    listing: &Listing,
    ids: impl Iterator<Item = ObjectId>,
) -> Result<HashSet<ObjectId>, GitError> {
    let Some(repo) = &source.repo else { return Ok(ids.collect()) };
    let (shared, tips) = (&source.shared, listing.all().map(|one| one.target).collect());
    let history = History { repo, lineages: &shared.lineages };
    let place = (source.project, Scope::Refs);
    shared.walks.unreachable(history, place, tips, ids, None)
}

fn not_ours(id: ObjectId) -> GitError {
    GitError::Protocol(format!("not our ref {id}"))
}
