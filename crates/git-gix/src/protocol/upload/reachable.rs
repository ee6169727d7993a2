//! Checks that requested objects are reachable from a ref.

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
    // The first object that does not exist ends the request, so that ids which the client made up cost nothing. It also
    // ends the search: the answer names the first object that is not reachable, which is not after it.
    let exists = |want: &ObjectId| source.repo.as_ref().is_some_and(|repo| repo.has_object(want));
    let missing = wants.iter().position(|want| !exists(want));
    let wants = missing.map_or(wants, |at| &wants[..=at]);
    let unreachable = unreachable(source, listing, wants.iter().copied())?;
    // Objects are checked in the order of the request, so that equal requests get equal answers.
    match wants.iter().find(|want| unreachable.contains(*want)) {
        Some(want) => Err(not_our_ref(*want)),
        None => Ok(()),
    }
}

/// Returns the objects that are not reachable from a ref.
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

fn not_our_ref(id: ObjectId) -> GitError {
    GitError::Protocol(format!("not our ref {id}"))
}
