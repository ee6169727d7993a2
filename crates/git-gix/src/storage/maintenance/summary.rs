//! Summarizes merged packs.

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::pack::Pack as StoredPack;
use hexforge_domain::ports::git::GitError;

use crate::content::links::each_link;
use crate::protocol::upload::packs::Pack;
use crate::storage::pack_summary::{LEAST_OBJECTS, PackSummary, SummaryBuilder};
use crate::storage::store::Shared;

/// Returns the summary of the pack that has all objects of these packs, `None` if it is not worth one. Packs without a
/// stored summary are read from `repo`. `is_in_order`: whether each delta of the new pack comes after its base.
pub(super) fn merged(
    shared: &Shared,
    repo: &gix::Repository,
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
            None => read(repo, pack)?,
        };
        let Some(summary) = summary else { return Ok(None) };
        summaries.push((pack, summary));
    }
    Ok(combine(&summaries, is_in_order))
}

/// Reads all objects of a pack to summarize it.
fn read(repo: &gix::Repository, pack: &Pack) -> Result<Option<PackSummary>, GitError> {
    let index = &pack.index;
    let mut links = SummaryBuilder::new(index.num_objects() as usize);
    let mut buffer = Vec::new();
    // Neighbours in the pack have bases in common.
    for &at in pack.by_offset() {
        let unread = (index.oid_at_index(at).to_owned(), None);
        each_link(repo, unread, &mut buffer, |id, _| match index.lookup(id) {
            Some(at) => links.link(at as usize),
            None => links.link_outside(id),
        })?;
    }
    // An index has less than 2^32 objects.
    Ok(links.finish(|number| index.oid_at_index(number as u32).to_owned(), false))
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
