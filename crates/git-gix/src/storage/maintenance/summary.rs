//! Summarizes merged packs.

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::pack::Pack as StoredPack;
use hexforge_domain::ports::git::GitError;

use crate::protocol::upload::packs::Pack;
use crate::storage::pack_summary::{self, LEAST_OBJECTS, PackSummary};
use crate::storage::store::Shared;

/// Returns the summary of the pack that has all objects of these packs, `None` if it is not worth one. Packs without a
/// stored summary are read. `is_in_order`: whether each delta of the new pack comes after its base.
pub(super) fn merged(
    shared: &Shared,
    packs: &[(&StoredPack, Pack)],
    is_in_order: bool,
) -> Result<Option<PackSummary>, GitError> {
    if packs.iter().map(|(stored, _)| stored.objects).sum::<u64>() < LEAST_OBJECTS as u64 {
        return Ok(None);
    }
    let mut summaries = Vec::with_capacity(packs.len());
    for (stored, pack) in packs {
        let summary = match shared.summary(stored.name, stored.objects) {
            Some(summary) => Some(summary),
            None => pack_summary::read(pack)?,
        };
        let Some(summary) = summary else { return Ok(None) };
        summaries.push((pack, summary));
    }
    Ok(combine(&summaries, is_in_order))
}

/// Combines the summaries of packs. An object is a root of all packs together if no pack has a reference to it: each
/// pack that has the object has it as a root, and none lists it as an object outside.
fn combine(summaries: &[(&Pack, PackSummary)], is_in_order: bool) -> Option<PackSummary> {
    let has = |pack: &Pack, id: &ObjectId| pack.index.lookup(id).is_some();
    let is_linked = |id: &ObjectId| {
        summaries.iter().any(|(pack, summary)| {
            let in_pack = has(pack, id) && summary.roots.binary_search(id).is_err();
            in_pack || summary.outside.binary_search(id).is_ok()
        })
    };
    let is_missing = |id: &ObjectId| !summaries.iter().any(|(pack, _)| has(pack, id));
    let all = |ids: fn(&PackSummary) -> &Vec<ObjectId>| {
        summaries.iter().flat_map(move |(_, summary)| ids(summary)).copied()
    };
    let roots: HashSet<ObjectId> =
        all(|summary| &summary.roots).filter(|id| !is_linked(id)).collect();
    let outside: HashSet<ObjectId> = all(|summary| &summary.outside).filter(is_missing).collect();
    PackSummary::of(roots, outside, is_in_order)
}
