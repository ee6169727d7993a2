//! Parts of packs that are known to be reachable from a few objects.
//!
//! A clone that reaches the roots of a part sends the part without reading its objects. The largest part is the whole
//! pack, as its stored [summary](PackSummary) describes it. Other parts are results of earlier clones, kept in memory: a
//! repository has them if some roots of its pack are no longer reachable, because branches were deleted.

use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use gix::hashtable::HashSet;

use crate::storage::pack_summary::PackSummary;

/// The most parts of a pack that are kept.
const MOST_PARTS: usize = 4;

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

/// Objects of a pack that are reachable from roots: those reachable through objects of the pack alone, and no others.
#[derive(Clone)]
pub(super) struct Part {
    /// The roots, and the objects outside of the pack to which objects of the part refer.
    pub(super) summary: PackSummary,
    /// The objects; `None` for all objects of the pack.
    pub(super) objects: Option<Positions>,
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
}

/// The known parts of a pack, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Parts(Mutex<Vec<Arc<Part>>>);

impl Parts {
    /// Returns the largest part whose roots are all among these objects.
    pub(super) fn find(&self, reached: &HashSet<ObjectId>) -> Option<Arc<Part>> {
        // A poisoned lock is usable: no code that can panic runs while it is held.
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |part: &&Arc<Part>| part.summary.roots.iter().all(|root| reached.contains(root));
        parts.iter().filter(fits).max_by_key(|part| part.count()).cloned()
    }

    /// Adds a part, and removes the oldest one if there are too many. The whole pack is never removed.
    pub(super) fn add(&self, part: Arc<Part>) {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts.retain(|one| one.objects != part.objects);
        parts.push(part);
        if parts.len() > MOST_PARTS
            && let Some(oldest) = parts.iter().position(|part| part.objects.is_some())
        {
            parts.remove(oldest);
        }
    }
}
