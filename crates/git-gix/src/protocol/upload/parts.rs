//! Parts of packs that are known to be reachable from a few objects.
//!
//! A clone that reaches the roots of a part sends the part without reading its objects. The largest part is the whole
//! pack, as its stored [summary](PackSummary) describes it. Other parts are results of earlier clones, cached in memory:
//! a repository has them if some roots of its pack are no longer reachable, because branches were deleted.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::pack::PackName;

use crate::storage::pack_summary::PackSummary;

/// The most parts of a pack that are cached.
const MOST_PARTS: usize = 4;

/// The most bytes of parts that are cached, for all packs together.
const CACHED_BYTES: usize = 32 << 20;

/// The memory that the cache itself needs for a part, in bytes, rounded up.
const BYTES_PER_PART: usize = 200;

/// A set of objects of a pack, by their positions in the index.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Positions {
    bits: Vec<u64>,
    count: u32,
}

impl Positions {
    /// Creates an empty set for a pack with this number of objects.
    pub(super) fn none(objects: u32) -> Self {
        Self { bits: vec![0; (objects as usize).div_ceil(64)], count: 0 }
    }

    /// Adds a position. Returns whether it is new.
    pub(super) fn insert(&mut self, at: u32) -> bool {
        let (word, bit) = (&mut self.bits[at as usize / 64], 1 << (at % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        self.count += u32::from(is_new);
        is_new
    }

    pub(super) fn contains(&self, at: u32) -> bool {
        self.bits[at as usize / 64] & (1 << (at % 64)) != 0
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }
}

/// Objects of a pack that are reachable from roots.
///
/// Whatever an object of the part refers to is in the part, or is outside of the pack and listed in the summary. This is
/// a property of the objects, so it holds in each repository that has the pack and in which the roots are reachable.
#[derive(Clone)]
pub(super) struct Part {
    /// The roots, and the objects outside of the pack to which objects of the part refer.
    pub(super) summary: PackSummary,
    /// The objects; `None` for all objects of the pack.
    pub(super) objects: Option<Positions>,
    /// Whether some objects are reachable from the roots only through objects outside of the pack.
    pub(super) leaves_pack: bool,
}

impl Part {
    pub(super) fn is_whole(&self) -> bool {
        self.objects.is_none()
    }

    pub(super) fn contains(&self, at: u32) -> bool {
        self.objects.as_ref().is_none_or(|objects| objects.contains(at))
    }

    fn count(&self) -> u32 {
        self.objects.as_ref().map_or(u32::MAX, Positions::count)
    }

    /// An estimate of the memory that the part takes, in bytes.
    fn bytes(&self) -> usize {
        let ids = self.summary.roots.capacity() + self.summary.outside.capacity();
        let words = self.objects.as_ref().map_or(0, |objects| objects.bits.capacity());
        BYTES_PER_PART + size_of::<Self>() + ids * size_of::<ObjectId>() + words * size_of::<u64>()
    }
}

/// A cache of parts, shared by all repositories: forks have packs in common. Evicts the parts of the pack that was used
/// least recently.
pub(crate) struct PartCache {
    state: Mutex<State>,
    capacity: usize,
}

#[derive(Default)]
struct State {
    packs: HashMap<PackName, CachedParts>,
    /// The packs by the time of their last use.
    by_use: BTreeMap<u64, PackName>,
    /// Counts the uses of all packs.
    uses: u64,
    bytes: usize,
}

/// The cached parts of a pack, in the order in which they were added.
#[derive(Default)]
struct CachedParts {
    parts: Vec<Arc<Part>>,
    last_use: u64,
}

impl Default for PartCache {
    fn default() -> Self {
        Self::with_capacity(CACHED_BYTES)
    }
}

impl PartCache {
    fn with_capacity(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity }
    }

    /// Returns the largest part of a pack whose roots are all among these objects.
    pub(super) fn find(&self, pack: PackName, reached: &HashSet<ObjectId>) -> Option<Arc<Part>> {
        let parts = self.state().parts_of(pack);
        let fits = |part: &Arc<Part>| {
            let roots = &part.summary.roots;
            roots.len() <= reached.len() && roots.iter().all(|root| reached.contains(root))
        };
        parts.into_iter().filter(fits).max_by_key(|part| part.count())
    }

    /// Returns whether the cache has the part that is the whole pack.
    pub(super) fn has_whole(&self, pack: PackName) -> bool {
        self.state().parts_of(pack).iter().any(|part| part.is_whole())
    }

    /// Adds a part. If the pack has too many, the oldest one that is not the whole pack is removed.
    pub(super) fn add(&self, pack: PackName, part: Part) {
        if part.bytes() > self.capacity {
            return;
        }
        let mut state = self.state();
        let mut parts = state.remove(pack);
        parts.retain(|one| one.objects != part.objects);
        parts.push(Arc::new(part));
        if parts.len() > MOST_PARTS
            && let Some(oldest) = parts.iter().position(|part| !part.is_whole())
        {
            parts.remove(oldest);
        }
        state.insert(pack, parts);
        while state.bytes > self.capacity {
            let Some((_, oldest)) = state.by_use.first_key_value() else { break };
            let oldest = *oldest;
            state.remove(oldest);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is usable: no code that can panic runs while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the parts of a pack, and notes that it is used.
    fn parts_of(&mut self, pack: PackName) -> Vec<Arc<Part>> {
        let Some(cached) = self.packs.get_mut(&pack) else { return Vec::new() };
        self.uses += 1;
        self.by_use.remove(&cached.last_use);
        self.by_use.insert(self.uses, pack);
        cached.last_use = self.uses;
        cached.parts.clone()
    }

    fn remove(&mut self, pack: PackName) -> Vec<Arc<Part>> {
        let Some(cached) = self.packs.remove(&pack) else { return Vec::new() };
        self.by_use.remove(&cached.last_use);
        self.bytes -= bytes_of(&cached.parts);
        cached.parts
    }

    fn insert(&mut self, pack: PackName, parts: Vec<Arc<Part>>) {
        self.uses += 1;
        self.bytes += bytes_of(&parts);
        self.by_use.insert(self.uses, pack);
        self.packs.insert(pack, CachedParts { parts, last_use: self.uses });
    }
}

fn bytes_of(parts: &[Arc<Part>]) -> usize {
    parts.iter().map(|part| part.bytes()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: usize) -> PackName {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        PackName::from_bytes(bytes)
    }

    fn id(number: usize) -> ObjectId {
        let mut bytes = [0; 20];
        // Hash tables use the first bytes of an id as its hash.
        bytes[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
        ObjectId::Sha1(bytes)
    }

    /// A part of a pack with 1,000 objects.
    fn part(roots: usize, objects: u32) -> Part {
        let summary = PackSummary::of((0..roots).map(id), [], true).expect("few ids");
        let mut positions = Positions::none(1000);
        for at in 0..objects {
            positions.insert(at);
        }
        Part { summary, objects: (objects < 1000).then_some(positions), leaves_pack: false }
    }

    fn reached(count: usize) -> HashSet<ObjectId> {
        (0..count).map(id).collect()
    }

    #[test]
    fn the_largest_part_with_reached_roots_is_found() {
        let cache = PartCache::default();
        for (roots, objects) in [(1, 10), (2, 20), (3, 1000)] {
            cache.add(name(1), part(roots, objects));
        }
        for (count, expected) in [(0, None), (1, Some(10)), (2, Some(20)), (3, Some(u32::MAX))] {
            let found = cache.find(name(1), &reached(count));
            assert_eq!(found.map(|part| part.count()), expected, "{count} objects are reached");
        }
        assert!(cache.find(name(2), &reached(3)).is_none(), "the part of another pack");
        assert!(cache.has_whole(name(1)) && !cache.has_whole(name(2)));
        for objects in 30..50 {
            cache.add(name(1), part(1, objects));
        }
        assert!(cache.has_whole(name(1)), "the whole pack stays");
        assert_eq!(cache.state().packs[&name(1)].parts.len(), MOST_PARTS);
    }

    #[test]
    fn the_bytes_of_all_parts_are_bounded_and_the_least_recently_used_go_first() {
        let capacity = 1 << 20;
        let cache = PartCache::with_capacity(capacity);
        // Each pack has parts of 20 to 23 KB, and there are far more packs than fit.
        for pack in 0..400 {
            for objects in 1..=4 {
                cache.add(name(pack), part(1000, objects));
                let state = cache.state();
                let bytes: usize = state.packs.values().map(|pack| bytes_of(&pack.parts)).sum();
                assert_eq!(state.bytes, bytes);
                assert!(state.bytes <= capacity && state.packs.len() == state.by_use.len());
            }
            assert!(cache.find(name(0), &reached(1000)).is_some(), "it is used all the time");
        }
        let state = cache.state();
        assert!(state.bytes > capacity / 2, "{} bytes", state.bytes);
        let mut left: Vec<PackName> = state.packs.keys().copied().collect();
        left.sort_unstable();
        let newest: Vec<PackName> = (400 - (left.len() - 1)..400).map(name).collect();
        assert_eq!((left[0], &left[1..]), (name(0), newest.as_slice()));
        drop(state);
        cache.add(name(1000), part(100_000, 1));
        assert!(cache.find(name(1000), &reached(100_000)).is_none(), "it would not fit");
    }
}
