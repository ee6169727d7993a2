//! The plan of a pack: which objects are sent, and where they are stored.
//!
//! A plan is computed once and only read afterwards, so that many clients with the same request share its memory.

use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::odb::pack::data;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::closure::Closure;
use super::packs::{Pack, Packs, Place};

/// The content of the pack that is sent: objects in the order in which they are sent.
pub(super) struct Plan {
    /// Whether the largest pack is sent as it is stored, before the entries.
    sends_largest: bool,
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
        let entries = ids
            .into_iter()
            .map(|id| Entry { place: packs.find_open(id), id, length: None })
            .collect();
        Self::in_order(packs, entries)
    }

    /// Makes the plan to send these objects. `by_offset`: whether the client accepts bases named by their distance.
    pub(super) fn of_closure(
        source: &Source,
        closure: Closure,
        by_offset: bool,
    ) -> Result<Self, GitError> {
        let packs = &source.packs;
        let Closure { in_pack, is_in_order, others } = closure;
        let unreadable = || GitError::Corrupt("the largest pack cannot be read".into());
        let largest = packs.largest().ok_or_else(unreadable)?;
        let data = largest.data().ok_or_else(unreadable)?;
        let has_each_once = data.num_objects() == largest.index.num_objects();
        if in_pack.is_none() && is_in_order && by_offset && has_each_once {
            let is_stored_pack = others.is_empty() && data.version() == data::Version::V2;
            let plan = Self::of(source, others.into_iter().collect())?;
            if is_stored_pack {
                plan.note_checksum(data.checksum());
            }
            return Ok(Self { sends_largest: true, ..plan });
        }
        let mut entries = Vec::new();
        for &at in largest.by_offset() {
            if in_pack.as_ref().is_none_or(|in_pack| in_pack.contains(at)) {
                let place = Place::new(0, largest.index.pack_offset_at_index(at));
                let id = largest.index.oid_at_index(at).to_owned();
                entries.push(Entry { place: Some(place), id, length: None });
            }
        }
        let entry_of = |id| Entry { place: packs.find_open(id), id, length: None };
        entries.extend(others.into_iter().map(entry_of));
        Self::in_order(packs, entries)
    }

    /// Sorts the entries by their places, and measures them.
    fn in_order(packs: &Packs, mut entries: Vec<Entry>) -> Result<Self, GitError> {
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
        Ok(Self { sends_largest: false, entries, sent_at, checksum: OnceLock::new() })
    }

    /// Whether all packs that the plan copies from can still be read. Another process may have removed one.
    pub(super) fn packs_are_open(&self, source: &Source) -> bool {
        let is_open = |place: Place| source.packs.get(place.pack()).data().is_some();
        let mut packs =
            self.entries.chunk_by(|a, b| a.place.map(Place::pack) == b.place.map(Place::pack));
        packs.all(|run| run[0].place.is_none_or(is_open))
            && (!self.sends_largest || source.packs.largest().is_some())
    }

    /// The largest pack, if all of it is sent.
    pub(super) fn whole_pack<'a>(&self, packs: &'a Packs) -> Option<&'a Pack> {
        packs.largest().filter(|_| self.sends_largest)
    }

    /// The number of objects that are sent.
    pub(super) fn count(&self, packs: &Packs) -> usize {
        let whole = self.whole_pack(packs).map_or(0, |pack| pack.index.num_objects() as usize);
        whole + self.entries.len()
    }

    /// The objects that are sent.
    pub(super) fn ids(&self, packs: &Packs) -> HashSet<ObjectId> {
        let whole = self.whole_pack(packs).into_iter().flat_map(|pack| {
            (0..pack.index.num_objects()).map(|at| pack.index.oid_at_index(at).to_owned())
        });
        self.entries.iter().map(|entry| entry.id).chain(whole).collect()
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

    /// The offset of this object in the largest pack, if all of that pack is sent.
    pub(super) fn offset_in_whole_pack(&self, packs: &Packs, id: ObjectId) -> Option<u64> {
        let pack = self.whole_pack(packs)?;
        pack.index.lookup(id).map(|at| pack.index.pack_offset_at_index(at))
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
