//! The plan of a pack: which objects are sent, and where they are stored.
//!
//! A plan is computed once and only read afterwards, so that many clients with the same request share its memory.

use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::packs::{Packs, Place};

/// The content of the pack that is sent: objects in the order in which they are sent.
pub(super) struct Plan {
    entries: Vec<Entry>,
    /// The offset of each object in the sent pack. Every writer of the plan computes the same
    /// offsets, and records an offset before it is looked up.
    sent_at: Vec<AtomicU64>,
    checksum: OnceLock<ObjectId>,
}

/// An object that is sent. In the order of places, most bases come before their deltas, and objects
/// that are in no pack come first.
pub(super) struct Entry {
    pub(super) place: Option<Place>,
    pub(super) id: ObjectId,
    /// The length of the entry in its pack, if it was measured.
    length: Option<NonZeroU32>,
}

impl Entry {
    /// The offset at which the entry ends in its pack, if its length was measured.
    pub(super) fn end(&self) -> Option<u64> {
        Some(self.place?.offset + u64::from(self.length?.get()))
    }
}

impl Plan {
    /// Makes the plan to send these objects.
    pub(super) fn of(source: &Source, ids: Vec<ObjectId>) -> Result<Self, GitError> {
        let packs = &source.packs;
        let mut entries: Vec<Entry> = ids
            .into_iter()
            .map(|id| Entry { place: packs.find_open(id), id, length: None })
            .collect();
        entries.sort_unstable_by_key(|entry| (entry.place, entry.id));
        if let Some(twice) = entries.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(GitError::Failed(format!("{} would be sent twice", twice[0].id)));
        }
        let of_one_pack =
            |a: &Entry, b: &Entry| a.place.map(Place::pack) == b.place.map(Place::pack);
        for run in entries.chunk_by_mut(of_one_pack) {
            measure(packs, run);
        }
        let sent_at = entries.iter().map(|_| AtomicU64::new(0)).collect();
        Ok(Self { entries, sent_at, checksum: OnceLock::new() })
    }

    /// Whether all packs that the plan copies from can still be read. Another process may have removed one.
    pub(super) fn packs_are_open(&self, source: &Source) -> bool {
        let is_open = |place: Place| source.packs.get(place.pack()).data().is_some();
        let mut packs =
            self.entries.chunk_by(|a, b| a.place.map(Place::pack) == b.place.map(Place::pack));
        packs.all(|run| run[0].place.is_none_or(is_open))
    }

    /// The objects that are sent.
    pub(super) fn ids(&self) -> HashSet<ObjectId> {
        self.entries.iter().map(|entry| entry.id).collect()
    }

    /// An estimate of the memory that the plan takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        (self.entries.len() + 1) * (size_of::<Entry>() + size_of::<AtomicU64>())
    }
}

/// Measures the lengths of the entries of one pack.
fn measure(packs: &Packs, run: &mut [Entry]) {
    let Some(place) = run[0].place else { return };
    let pack = packs.get(place.pack());
    let length = |offset: u64, end: u64| {
        // A length that does not fit into 32 bits is measured again while the entry is sent.
        u32::try_from(end - offset).ok().and_then(NonZeroU32::new)
    };
    // If few objects of the pack are sent, a search for each is cheaper than a pass over the index.
    if run.len() < pack.index.num_objects() as usize / 50 {
        for entry in run {
            let Some(Place { offset, .. }) = entry.place else { continue };
            entry.length = pack.end_of(offset).and_then(|end| length(offset, end));
        }
        return;
    }
    let Some(end) = pack.data().map(|data| data.pack_end() as u64) else { return };
    let mut next = pack.by_offset().iter().map(|&at| pack.index.pack_offset_at_index(at));
    let mut after = next.next();
    for entry in run {
        let Some(Place { offset, .. }) = entry.place else { continue };
        while after.is_some_and(|after| after <= offset) {
            after = next.next();
        }
        entry.length = length(offset, after.unwrap_or(end));
    }
}

impl Plan {
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The index of the entry at this place.
    pub(super) fn find(&self, place: Place) -> Option<usize> {
        self.entries.binary_search_by_key(&Some(place), |entry| entry.place).ok()
    }

    /// The index of the entry of this object.
    pub(super) fn find_id(&self, packs: &Packs, id: ObjectId) -> Option<usize> {
        let key = (packs.find_open(id), id);
        self.entries.binary_search_by_key(&key, |entry| (entry.place, entry.id)).ok()
    }

    /// Records the offset of an entry in the sent pack.
    pub(super) fn record_offset(&self, entry: usize, at: u64) {
        self.sent_at[entry].store(at, Ordering::Relaxed);
    }

    /// The offset of an entry that was sent before.
    pub(super) fn recorded_offset(&self, entry: usize) -> u64 {
        self.sent_at[entry].load(Ordering::Relaxed)
    }

    /// The checksum of the pack, known after the pack was sent completely once.
    pub(super) fn checksum(&self) -> Option<ObjectId> {
        self.checksum.get().copied()
    }

    pub(super) fn note_checksum(&self, checksum: ObjectId) -> ObjectId {
        *self.checksum.get_or_init(|| checksum)
    }
}
