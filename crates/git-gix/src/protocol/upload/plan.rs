//! What a client is sent, and where that lies: the same for all who ask for the same.
//!
//! A plan is worked out once and only read while it is carried out, so that many clients can be sent the same
//! at a time for the memory of one.

use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::packs::{Packs, Place};

/// What is sent.
pub(super) enum Plan {
    /// All that is in a pack, as it is there.
    Pack(u32),
    Objects(Objects),
}

/// Objects in the order in which they are sent.
pub(super) struct Objects {
    entries: Vec<Entry>,
    /// Where each is in what is sent. Whoever carries out the plan finds the same places, and notes each before
    /// it is looked up.
    sent_at: Vec<AtomicU64>,
    checksum: OnceLock<ObjectId>,
}

/// An object that is sent. Sorted by place, most bases come before what is based on them, and what is in no pack
/// before all.
pub(super) struct Entry {
    pub(super) place: Option<Place>,
    pub(super) id: ObjectId,
    /// How long it is in its pack, if that is known.
    length: Option<NonZeroU32>,
}

impl Entry {
    /// Where it ends in its pack, if that is known.
    pub(super) fn end(&self) -> Option<u64> {
        Some(self.place?.offset + u64::from(self.length?.get()))
    }
}

impl Plan {
    /// The plan to send these objects.
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
        Ok(Self::Objects(Objects { entries, sent_at, checksum: OnceLock::new() }))
    }

    /// Whether all packs that the plan copies from can still be read. Another process may have removed one.
    pub(super) fn packs_are_open(&self, source: &Source) -> bool {
        let is_open = |pack: u32| source.packs.get(pack).data().is_some();
        match self {
            Self::Pack(pack) => is_open(*pack),
            Self::Objects(objects) => {
                let mut packs = objects
                    .entries
                    .chunk_by(|a, b| a.place.map(Place::pack) == b.place.map(Place::pack));
                packs.all(|run| run[0].place.is_none_or(|place| is_open(place.pack())))
            }
        }
    }

    /// The objects that are sent.
    pub(super) fn ids(&self, packs: &Packs) -> HashSet<ObjectId> {
        match self {
            Self::Pack(pack) => {
                let index = &packs.get(*pack).index;
                (0..index.num_objects()).map(|at| index.oid_at_index(at).to_owned()).collect()
            }
            Self::Objects(objects) => objects.entries.iter().map(|entry| entry.id).collect(),
        }
    }

    /// How much memory it takes, roughly.
    pub(super) fn weight(&self) -> usize {
        let each = size_of::<Entry>() + size_of::<AtomicU64>();
        match self {
            Self::Pack(_) => each,
            Self::Objects(objects) => objects.entries.len() * each + each,
        }
    }
}

/// Finds how long the entries of one pack are.
fn measure(packs: &Packs, run: &mut [Entry]) {
    let Some(place) = run[0].place else { return };
    let pack = packs.get(place.pack());
    let length = |offset: u64, end: u64| {
        // What is longer than such a number can say is measured when it is sent.
        u32::try_from(end - offset).ok().and_then(NonZeroU32::new)
    };
    // Where few of the objects of a pack are sent, each is searched for.
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

impl Objects {
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Which of them is there.
    pub(super) fn find(&self, place: Place) -> Option<usize> {
        self.entries.binary_search_by_key(&Some(place), |entry| entry.place).ok()
    }

    /// Which of them is this object.
    pub(super) fn find_id(&self, packs: &Packs, id: ObjectId) -> Option<usize> {
        let key = (packs.find_open(id), id);
        self.entries.binary_search_by_key(&key, |entry| (entry.place, entry.id)).ok()
    }

    /// Notes where one of them is in what is sent.
    pub(super) fn record_offset(&self, entry: usize, at: u64) {
        self.sent_at[entry].store(at, Ordering::Relaxed);
    }

    /// Where one is that was sent before.
    pub(super) fn recorded_offset(&self, entry: usize) -> u64 {
        self.sent_at[entry].load(Ordering::Relaxed)
    }

    /// The checksum of all that is sent, once somebody was sent all of it.
    pub(super) fn checksum(&self) -> Option<ObjectId> {
        self.checksum.get().copied()
    }

    pub(super) fn note_checksum(&self, checksum: ObjectId) -> ObjectId {
        *self.checksum.get_or_init(|| checksum)
    }
}
