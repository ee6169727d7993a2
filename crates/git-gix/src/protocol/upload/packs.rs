//! The packs of a repository, open during one conversation. Concurrent conversations share them, so
//! that each pack is mapped into memory only once.
//!
//! An open pack stays readable if another process replaces the file: the memory mapping remains valid.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use gix::ObjectId;
use gix::odb::pack;
use hexforge_domain::pack::PackName;
use hexforge_domain::ports::git::GitError;

use super::Source;
use crate::error::{failed, io_failed};

/// A pack and its index.
pub(crate) struct Pack {
    pub(crate) index: pack::index::File,
    data: OnceLock<Option<pack::data::File>>,
    /// Positions in the index, in the order of the offsets in the pack.
    by_offset: OnceLock<Arc<[u32]>>,
    /// The orders of packs in other repositories.
    orders: Option<Arc<PackOrders>>,
    /// Whether the pack store was found to have no usable summary of the pack.
    pub(super) lacks_summary: AtomicBool,
}

impl Pack {
    /// Opens the pack of an index file.
    pub(crate) fn open(index: &Path) -> Option<Self> {
        // A pack that cannot be opened may just have been removed by a repack; its objects are then in another pack.
        let index = pack::index::File::at(index, gix::hash::Kind::Sha1).ok()?;
        let (data, by_offset) = (OnceLock::new(), OnceLock::new());
        let lacks_summary = AtomicBool::new(false);
        Some(Self { index, data, by_offset, orders: None, lacks_summary })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.index.path().with_extension("pack")
    }

    /// The name of the pack in the pack store.
    pub(super) fn name(&self) -> Option<PackName> {
        PackName::parse(self.index.path().file_stem()?.to_str()?.strip_prefix("pack-")?)
    }

    /// The pack data, opened on first use, because most requests need few packs. `None` if the file
    /// was removed meanwhile; its objects are then in another pack.
    pub(crate) fn data(&self) -> Option<&pack::data::File> {
        let open = || pack::data::File::at(self.path(), gix::hash::Kind::Sha1).ok();
        self.data.get_or_init(open).as_ref()
    }

    /// Positions in the index, in the order of the offsets in the pack. Sorted once while the pack is open.
    pub(crate) fn by_offset(&self) -> &[u32] {
        self.by_offset.get_or_init(|| match (&self.orders, self.name()) {
            (Some(orders), Some(name)) => orders.get_or_insert(name, || self.sort_by_offset()),
            (Some(_) | None, _) => self.sort_by_offset(),
        })
    }

    fn sort_by_offset(&self) -> Arc<[u32]> {
        let mut order: Vec<(u64, u32)> = (0..self.index.num_objects())
            .map(|at| (self.index.pack_offset_at_index(at), at))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, at)| at).collect()
    }

    /// The rank of the entry that begins at this offset, in the order of the offsets.
    pub(crate) fn rank_of(&self, offset: u64) -> Option<usize> {
        let offset_of = |&at: &u32| self.index.pack_offset_at_index(at);
        self.by_offset().binary_search_by_key(&offset, offset_of).ok()
    }

    /// The object whose entry begins at this offset.
    pub(crate) fn id_at(&self, offset: u64) -> Option<ObjectId> {
        let rank = self.rank_of(offset)?;
        Some(self.index.oid_at_index(self.by_offset()[rank]).to_owned())
    }

    /// The offset behind the entry that begins at this offset.
    pub(crate) fn end_of(&self, offset: u64) -> Option<u64> {
        let rank = self.rank_of(offset)?;
        match self.by_offset().get(rank + 1) {
            Some(&next) => Some(self.index.pack_offset_at_index(next)),
            None => self.data().map(|data| data.pack_end() as u64),
        }
    }
}

/// The orders of the offsets of open packs. Forks have packs in common, and an order takes four bytes per object, so all
/// repositories share it.
#[derive(Default)]
pub(crate) struct PackOrders(Mutex<HashMap<PackName, Weak<[u32]>>>);

impl PackOrders {
    /// Returns the order of a pack, and computes it unless another repository has it.
    fn get_or_insert(&self, pack: PackName, sort: impl FnOnce() -> Arc<[u32]>) -> Arc<[u32]> {
        if let Some(order) = self.lock().get(&pack).and_then(Weak::upgrade) {
            return order;
        }
        // Sorting takes long, so no lock is held. Two threads may sort the same pack.
        let order = sort();
        let mut all = self.lock();
        if all.len() == all.capacity() {
            all.retain(|_, order| order.strong_count() > 0);
        }
        if let Some(order) = all.get(&pack).and_then(Weak::upgrade) {
            return order;
        }
        all.insert(pack, Arc::downgrade(&order));
        order
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PackName, Weak<[u32]>>> {
        // A poisoned lock is usable: no code that can panic runs while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The packs that the last conversation opened, kept open for the next one.
#[derive(Default)]
pub(crate) struct OpenPacks(Mutex<HashMap<PathBuf, Arc<Pack>>>);

impl OpenPacks {
    /// Opens the packs of these indexes and closes all others.
    fn open(&self, indexes: Vec<PathBuf>, orders: &Arc<PackOrders>) -> Vec<Arc<Pack>> {
        // A poisoned lock is usable: a panic while a pack is opened leaves the map consistent.
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *open);
        let open_pack = |index: &Path| {
            Some(Arc::new(Pack { orders: Some(Arc::clone(orders)), ..Pack::open(index)? }))
        };
        for index in indexes {
            // A pack whose data could not be opened before is tried again.
            let kept = before.remove(&index).filter(|pack| !matches!(pack.data.get(), Some(None)));
            if let Some(pack) = kept.or_else(|| open_pack(&index)) {
                open.insert(index, pack);
            }
        }
        open.values().cloned().collect()
    }
}

/// The position of an object: the number of its pack and the offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// One more than the number of the pack, so that `Option<Place>` needs no extra byte.
    pack: NonZeroU32,
    pub(super) offset: u64,
}

impl Place {
    pub(super) fn new(pack: u32, offset: u64) -> Self {
        Self { pack: NonZeroU32::MIN.saturating_add(pack), offset }
    }

    pub(super) fn pack(self) -> u32 {
        self.pack.get() - 1
    }
}

/// All packs, sorted by number of objects: the largest is searched first because most objects are in it.
#[derive(Default)]
pub(super) struct Packs {
    packs: Vec<Arc<Pack>>,
    folders: Vec<PathBuf>,
}

impl Packs {
    pub(super) fn open(
        repo: &gix::Repository,
        open: &OpenPacks,
        orders: &Arc<PackOrders>,
    ) -> Result<Self, GitError> {
        let own = repo.objects.store_ref().path().to_owned();
        let here = std::env::current_dir().map_err(io_failed)?;
        let borrowed = gix::odb::alternate::resolve(own.clone(), &here).map_err(failed)?;
        let folders: Vec<PathBuf> = [own].into_iter().chain(borrowed).collect();
        let mut found = Vec::new();
        for folder in &folders {
            found.extend(indexes(&folder.join("pack"))?);
        }
        let mut packs = open.open(found, orders);
        packs.sort_by_cached_key(|pack| {
            (std::cmp::Reverse(pack.index.num_objects()), pack.index.path().to_owned())
        });
        Ok(Self { packs, folders })
    }

    /// The pack with the most objects, if it can be read.
    pub(super) fn largest(&self) -> Option<&Pack> {
        self.packs.first().map(Arc::as_ref).filter(|pack| pack.data().is_some())
    }

    pub(super) fn get(&self, pack: u32) -> &Pack {
        &self.packs[pack as usize]
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &Pack)> {
        (0..).zip(self.packs.iter().map(Arc::as_ref))
    }

    pub(super) fn find(&self, id: ObjectId) -> Option<Place> {
        self.all().find_map(|(at, pack)| {
            let entry = pack.index.lookup(id)?;
            Some(Place::new(at, pack.index.pack_offset_at_index(entry)))
        })
    }

    /// Finds the pack from which an object can be copied.
    pub(super) fn find_open(&self, id: ObjectId) -> Option<Place> {
        self.all().find_map(|(at, pack)| {
            let entry = pack.index.lookup(id)?;
            pack.data()?;
            Some(Place::new(at, pack.index.pack_offset_at_index(entry)))
        })
    }

    fn has_loose(&self, id: ObjectId) -> bool {
        let name = id.to_hex().to_string();
        self.folders.iter().any(|folder| folder.join(&name[..2]).join(&name[2..]).exists())
    }
}

/// Lists the index files in a directory.
fn indexes(folder: &Path) -> Result<Vec<PathBuf>, GitError> {
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_failed(error)),
    };
    let mut indexes = Vec::new();
    for entry in entries {
        let path = entry.map_err(io_failed)?.path();
        if path.extension().is_some_and(|extension| extension == "idx") {
            indexes.push(path);
        }
    }
    Ok(indexes)
}

impl Source {
    /// Whether the repository has this commit. Clients ask for many commits that it lacks, so that case is cheap.
    pub(super) fn is_commit(&self, id: ObjectId) -> Result<bool, GitError> {
        if self.packs.find(id).is_none() && !self.packs.has_loose(id) {
            return Ok(false);
        }
        Ok(self.kind(id)? == Some(gix::object::Kind::Commit))
    }

    /// The kind of an object; `None` if the repository lacks it.
    pub(super) fn kind(&self, id: ObjectId) -> Result<Option<gix::object::Kind>, GitError> {
        let Some(repo) = &self.repo else { return Ok(None) };
        let header = repo.try_find_header(id).map_err(failed)?;
        Ok(header.map(|header| header.kind()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_share_the_order_of_a_pack_while_one_has_it_open() {
        let orders = PackOrders::default();
        let name = |byte| PackName::from_bytes([byte; 32]);
        let order = |length: u32| move || (0..length).collect::<Arc<[u32]>>();
        let first = orders.get_or_insert(name(1), order(3));
        let second = orders.get_or_insert(name(1), || unreachable!("it is known"));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(orders.get_or_insert(name(2), order(5)).len(), 5);
        drop((first, second));
        assert_eq!(orders.get_or_insert(name(1), order(4)).len(), 4, "nobody had it open");
        for byte in 0..=255 {
            orders.get_or_insert(name(byte), order(1));
        }
        assert!(orders.lock().len() < 200, "names of closed packs are removed");
    }
}
