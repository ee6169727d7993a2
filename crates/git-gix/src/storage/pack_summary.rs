//! Summaries of packs: from which objects everything in a pack is reachable.

mod read;

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::pack::PackName;

pub(crate) use read::{is_in_order, read};

/// The number of objects from which on a pack gets a summary. Smaller packs are read faster than a file is written.
/// Debug builds summarize all packs, so that tests of small histories use summaries.
pub(crate) const LEAST_OBJECTS: usize = if cfg!(debug_assertions) { 1 } else { 1000 };

/// The most roots of a summary, and the most objects outside of the pack.
const MOST_IDS: usize = 100_000;

/// The first bytes of a summary of any version.
const MAGIC: [u8; 3] = *b"HPS";

/// The version of the format, which follows the magic bytes. Version 1 did not contain the name of the pack.
const VERSION: u8 = 2;

/// The length of an object id and of the checksum at the end.
const ID: usize = 20;

/// The roots of a pack.
///
/// Each object of the pack is a root, or another object of the pack refers to it. Git objects cannot refer to each other
/// in a circle. So if all roots are reachable from a ref, all objects of the pack are. This depends on the bytes of the
/// pack alone, not on the repository, so repositories that share the pack share its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackSummary {
    /// Objects of the pack from which all others of the pack are reachable, through objects of the pack alone.
    pub(crate) roots: Vec<ObjectId>,
    /// All objects that objects of the pack refer to and that the pack lacks.
    pub(crate) outside: Vec<ObjectId>,
    /// Whether each delta comes after its base.
    pub(crate) is_in_order: bool,
}

impl PackSummary {
    /// Returns a summary with sorted ids, `None` if there are too many.
    pub(crate) fn of(
        roots: impl IntoIterator<Item = ObjectId>,
        outside: impl IntoIterator<Item = ObjectId>,
        is_in_order: bool,
    ) -> Option<Self> {
        let sorted = |ids: &mut dyn Iterator<Item = ObjectId>| {
            let mut ids: Vec<ObjectId> = ids.take(MOST_IDS + 1).collect();
            ids.sort_unstable();
            ids.shrink_to_fit();
            (ids.len() <= MOST_IDS).then_some(ids)
        };
        let roots = sorted(&mut roots.into_iter())?;
        Some(Self { roots, outside: sorted(&mut outside.into_iter())?, is_in_order })
    }

    /// Encodes the summary of a pack with this name and number of objects.
    pub(crate) fn encode(&self, pack: PackName, objects: u64) -> Option<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        bytes.extend(objects.to_be_bytes());
        bytes.push(u8::from(self.is_in_order));
        for ids in [&self.roots, &self.outside] {
            bytes.extend(u32::try_from(ids.len()).ok()?.to_be_bytes());
            ids.iter().for_each(|id| bytes.extend_from_slice(id.as_slice()));
        }
        let checksum = checksum(pack, &bytes)?;
        bytes.extend_from_slice(checksum.as_slice());
        Some(bytes)
    }

    /// Decodes the summary of a pack with this name and number of objects.
    pub(crate) fn decode(bytes: &[u8], pack: PackName, objects: u64) -> Result<Self, Unusable> {
        match bytes.strip_prefix(&MAGIC).and_then(<[u8]>::first) {
            Some(&VERSION) => Self::decode_current(bytes, pack, objects).ok_or(Unusable::Wrong),
            Some(_) => Err(Unusable::OtherVersion),
            None => Err(Unusable::Wrong),
        }
    }

    fn decode_current(bytes: &[u8], pack: PackName, objects: u64) -> Option<Self> {
        let (bytes, end) = bytes.split_at_checked(bytes.len().checked_sub(ID)?)?;
        if checksum(pack, bytes)?.as_slice() != end {
            return None;
        }
        let rest = bytes.get(MAGIC.len() + 1..)?.strip_prefix(&objects.to_be_bytes())?;
        let (is_in_order, rest) = rest.split_first()?;
        let (roots, rest) = split_ids(rest)?;
        let (outside, rest) = split_ids(rest)?;
        // References have no circles, so a pack with objects has a root. Without one, every clone would get the pack.
        let is_possible = rest.is_empty() && (objects == 0 || !roots.is_empty());
        is_possible.then_some(Self { roots, outside, is_in_order: *is_in_order == 1 })
    }
}

/// The reason why a stored summary is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// Another release wrote it.
    OtherVersion,
    /// It is damaged, or belongs to another pack.
    Wrong,
}

/// The checksum includes the name of the pack, so that a summary is valid for this pack only.
fn checksum(pack: PackName, bytes: &[u8]) -> Option<ObjectId> {
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(pack.as_bytes());
    hasher.update(bytes);
    hasher.try_finalize().ok()
}

fn split_ids(bytes: &[u8]) -> Option<(Vec<ObjectId>, &[u8])> {
    let (count, rest) = bytes.split_first_chunk::<4>()?;
    let count = usize::try_from(u32::from_be_bytes(*count)).ok()?;
    let (ids, rest) = rest.split_at_checked(count.checked_mul(ID)?)?;
    let ids = ids.chunks_exact(ID).map(|id| ObjectId::try_from(id).ok());
    Some((ids.collect::<Option<_>>()?, rest))
}

/// Collects the references between objects to summarize the pack that contains them.
#[derive(Default)]
pub(crate) struct SummaryBuilder {
    /// For each object of the pack, by its number, whether another object refers to it.
    is_linked: Vec<bool>,
    outside: HashSet<ObjectId>,
}

impl SummaryBuilder {
    /// Begins the summary of a pack with this number of objects.
    pub(crate) fn new(objects: usize) -> Self {
        Self { is_linked: vec![false; objects], outside: HashSet::default() }
    }

    /// Notes a reference to an object of the pack, by its number.
    pub(crate) fn link(&mut self, number: usize) {
        if let Some(is_linked) = self.is_linked.get_mut(number) {
            *is_linked = true;
        }
    }

    /// Notes a reference to an object that the pack lacks.
    pub(crate) fn link_outside(&mut self, id: ObjectId) {
        // One more than the limit is enough to see that there are too many.
        if self.outside.len() <= MOST_IDS {
            self.outside.insert(id);
        }
    }

    /// Ends the summary. `id` returns the objects by their numbers.
    pub(crate) fn finish(
        self,
        id: impl Fn(usize) -> ObjectId,
        is_in_order: bool,
    ) -> Option<PackSummary> {
        let roots = self.is_linked.iter().enumerate().filter(|(_, is_linked)| !**is_linked);
        PackSummary::of(roots.map(|(number, _)| id(number)), self.outside, is_in_order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> ObjectId {
        ObjectId::Sha1([byte; ID])
    }

    fn name(byte: u8) -> PackName {
        PackName::from_bytes([byte; 32])
    }

    #[test]
    fn a_summary_is_read_as_it_is_written() {
        for (roots, outside, is_in_order) in
            [(vec![id(1)], vec![], true), (vec![id(2), id(1)], vec![id(3)], false)]
        {
            let summary = PackSummary::of(roots, outside, is_in_order).expect("few ids");
            let bytes = summary.encode(name(1), 7).expect("few ids");
            assert_eq!(PackSummary::decode(&bytes, name(1), 7), Ok(summary));
            for at in 0..bytes.len() {
                let mut wrong = bytes.clone();
                wrong[at] ^= 1;
                assert!(PackSummary::decode(&wrong, name(1), 7).is_err(), "byte {at} is wrong");
                assert!(PackSummary::decode(&bytes[..at], name(1), 7).is_err(), "{at} bytes");
            }
        }
    }

    #[test]
    fn a_summary_is_valid_for_its_pack_only() {
        let summary = PackSummary::of([id(1)], [], true).expect("few ids");
        let bytes = summary.encode(name(1), 7).expect("few ids");
        let decode = |pack, objects| PackSummary::decode(&bytes, pack, objects);
        assert_eq!(decode(name(1), 8), Err(Unusable::Wrong), "another number of objects");
        assert_eq!(decode(name(2), 7), Err(Unusable::Wrong), "another pack with as many objects");
        let none = PackSummary::default();
        let bytes = none.encode(name(1), 7).expect("no ids");
        assert_eq!(PackSummary::decode(&bytes, name(1), 7), Err(Unusable::Wrong), "no roots");
        let bytes = none.encode(name(1), 0).expect("no ids");
        assert_eq!(PackSummary::decode(&bytes, name(1), 0), Ok(none));
        let old = b"HPS\x01";
        assert_eq!(PackSummary::decode(old, name(1), 7), Err(Unusable::OtherVersion));
    }

    #[test]
    fn objects_without_a_reference_are_roots() {
        let mut builder = SummaryBuilder::new(3);
        builder.link(1);
        builder.link_outside(id(9));
        builder.link_outside(id(9));
        let summary = builder.finish(|number| id(number as u8), true).expect("few ids");
        let (roots, outside) = (vec![id(0), id(2)], vec![id(9)]);
        assert_eq!(summary, PackSummary { roots, outside, is_in_order: true });
        assert!(PackSummary::of((0..=MOST_IDS).map(|_| id(1)), [], true).is_none());
    }
}
