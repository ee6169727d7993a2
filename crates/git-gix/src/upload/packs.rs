//! The packs of a repository, open for the time of one conversation. Conversations at the same time share them: each
//! would map all of a pack otherwise.
//!
//! What was opened stays readable when another process replaces it meanwhile: what is mapped does not go away.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use gix::ObjectId;
use gix::odb::pack;
use hexforge_domain::ports::git::GitError;

use super::Source;
use crate::error::{failed, io as io_failed};

/// A pack and its index.
pub(crate) struct Pack {
    pub(crate) index: pack::index::File,
    data: OnceLock<Option<pack::data::File>>,
}

impl Pack {
    /// Opens the pack with that index.
    fn open(index: &Path) -> Option<Self> {
        // One that cannot be read may just have been removed; then its objects are elsewhere.
        let index = pack::index::File::at(index, gix::hash::Kind::Sha1).ok()?;
        Some(Self { index, data: OnceLock::new() })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.index.path().with_extension("pack")
    }

    /// The pack itself, opened when it is needed: most requests need few of them. `None` when it was removed
    /// meanwhile; then its objects are elsewhere.
    pub(crate) fn data(&self) -> Option<&pack::data::File> {
        let open = || pack::data::File::at(self.path(), gix::hash::Kind::Sha1).ok();
        self.data.get_or_init(open).as_ref()
    }
}

/// The packs that somebody has open.
#[derive(Default)]
pub(crate) struct OpenPacks(Mutex<HashMap<PathBuf, Weak<Pack>>>);

impl OpenPacks {
    fn open(&self, index: PathBuf) -> Option<Arc<Pack>> {
        // What panics while it opens one leaves nothing half done.
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pack) = open.get(&index).and_then(Weak::upgrade) {
            return Some(pack);
        }
        let pack = Arc::new(Pack::open(&index)?);
        open.retain(|_, pack| pack.strong_count() > 0);
        open.insert(index, Arc::downgrade(&pack));
        Some(pack)
    }
}

/// Where an object lies in the packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// One more than the number of the pack, so that no place takes no room of its own.
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

/// All packs, the largest first: most objects are in it.
#[derive(Default)]
pub(super) struct Packs {
    packs: Vec<Arc<Pack>>,
    folders: Vec<PathBuf>,
}

impl Packs {
    pub(super) fn open(repo: &gix::Repository, shared: &OpenPacks) -> Result<Self, GitError> {
        let own = repo.objects.store_ref().path().to_owned();
        let here = std::env::current_dir().map_err(io_failed)?;
        let borrowed = gix::odb::alternate::resolve(own.clone(), &here).map_err(failed)?;
        let folders: Vec<PathBuf> = [own].into_iter().chain(borrowed).collect();
        let mut packs = Vec::new();
        for folder in &folders {
            let indexes = indexes(&folder.join("pack"))?;
            packs.extend(indexes.into_iter().filter_map(|index| shared.open(index)));
        }
        packs.sort_by_key(|pack| std::cmp::Reverse(pack.index.num_objects()));
        Ok(Self { packs, folders })
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

    /// Where an object can be copied from.
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

/// Opens the packs in a folder, for somebody alone.
pub(crate) fn open_all(folder: &Path) -> Result<Vec<Pack>, GitError> {
    Ok(indexes(folder)?.iter().filter_map(|index| Pack::open(index)).collect())
}

/// The indexes of the packs in a folder.
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
    /// Whether we have a commit of this name. Many that we have not are asked for, so that must be cheap.
    pub(super) fn is_commit(&self, id: ObjectId) -> Result<bool, GitError> {
        if self.packs.find(id).is_none() && !self.packs.has_loose(id) {
            return Ok(false);
        }
        Ok(self.kind(id)? == Some(gix::object::Kind::Commit))
    }

    /// What an object is; `None` when we have none of this name.
    pub(super) fn kind(&self, id: ObjectId) -> Result<Option<gix::object::Kind>, GitError> {
        let Some(repo) = &self.repo else { return Ok(None) };
        let header = repo.try_find_header(id).map_err(failed)?;
        Ok(header.map(|header| header.kind()))
    }
}
