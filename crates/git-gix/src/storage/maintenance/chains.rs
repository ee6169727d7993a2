//! Computes the length of delta chains in merged packs.

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use gix::odb::pack::data::entry::Header;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;
use crate::protocol::intake::{LARGEST_CHAIN, LONGEST_CHAIN};
use crate::protocol::upload::packs::Pack;

/// A delta chain: the deltas between an object and its first base that is not a delta.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) deltas: u64,
    pub(super) bytes: u64,
}

/// The limits for chains of pushed packs, which also apply to merged packs.
pub(super) const LIMITS: Chain = Chain { deltas: LONGEST_CHAIN as u64, bytes: LARGEST_CHAIN };

/// Returns the objects that must be stored without delta so that no chain exceeds the limits. Each object is taken from
/// the first pack that has it.
pub(super) fn too_long(packs: &[Pack], limits: Chain) -> Result<HashSet<ObjectId>, GitError> {
    let (mut stored, mut seen) = (HashMap::default(), HashSet::default());
    for pack in packs {
        let broken =
            || GitError::Corrupt(format!("the pack {} cannot be read", pack.path().display()));
        let data = pack.data().ok_or_else(broken)?;
        for at in 0..pack.index.num_objects() {
            let id = pack.index.oid_at_index(at).to_owned();
            if !seen.insert(id) {
                continue;
            }
            let entry = data.entry(pack.index.pack_offset_at_index(at)).map_err(failed)?;
            let base = match entry.header {
                Header::OfsDelta { base_distance } => {
                    let base = entry.checked_base_pack_offset(base_distance).ok_or_else(broken)?;
                    pack.id_at(base).ok_or_else(broken)?
                }
                Header::RefDelta { base_id } => base_id,
                Header::Commit | Header::Tree | Header::Blob | Header::Tag => continue,
            };
            stored.insert(id, (base, entry.decompressed_size));
        }
    }
    drop(seen);
    Ok(find_too_long(&stored, limits))
}

/// Returns the deltas that must be stored whole. `stored` maps each delta to its base and size.
fn find_too_long(stored: &HashMap<ObjectId, (ObjectId, u64)>, limits: Chain) -> HashSet<ObjectId> {
    let mut chains: HashMap<ObjectId, Chain> = HashMap::default();
    let (mut whole, mut open) = (HashSet::default(), Vec::new());
    for &first in stored.keys() {
        // Walk up to an object with a known chain or without delta, then back down.
        let mut next = first;
        let mut chain = loop {
            if let Some(&known) = chains.get(&next) {
                break known;
            }
            let Some(&(base, bytes)) = stored.get(&next) else { break Chain::default() };
            if open.len() > stored.len() {
                // Valid packs have no cycles. Reading the damaged object reports the error.
                break Chain::default();
            }
            open.push((next, bytes));
            next = base;
        };
        while let Some((id, bytes)) = open.pop() {
            chain = Chain { deltas: chain.deltas + 1, bytes: chain.bytes.saturating_add(bytes) };
            if chain.deltas > limits.deltas || chain.bytes > limits.bytes {
                chain = Chain::default();
                whole.insert(id);
            }
            chains.insert(id, chain);
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ObjectId {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&number.to_le_bytes());
        ObjectId::Sha1(bytes)
    }

    #[test]
    fn chains_are_cut_where_they_become_too_long() {
        let chain = |length: u32, bytes| {
            (1..=length).map(|at| (id(at), (id(at - 1), bytes))).collect::<HashMap<_, _>>()
        };
        for (stored, deltas, bytes, expected) in [
            (chain(10, 1), 10, 100, 0),
            (chain(10, 1), 9, 100, 1),
            (chain(10, 1), 3, 100, 2),
            (chain(10, 30), 100, 100, 2),
            (chain(100_000, 1), 10, 100, 100_000 / 11),
            (HashMap::default(), 10, 100, 0),
        ] {
            let whole = find_too_long(&stored, Chain { deltas, bytes });
            assert_eq!(whole.len(), expected, "{deltas} {bytes}");
        }
        let round = [(id(1), (id(2), 1)), (id(2), (id(1), 1))].into_iter().collect();
        find_too_long(&round, Chain { deltas: 10, bytes: 100 });
    }
}
