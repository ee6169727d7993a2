//! Fake of the pack storage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use hexforge_domain::Timestamp;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::pack_store::{PackError, PackStore};

/// Stores the names of packs, without their bytes.
#[derive(Default)]
pub struct FakePackStore(Mutex<BTreeMap<PackName, Timestamp>>);

impl FakePackStore {
    /// Stores a pack at a moment.
    pub fn store(&self, name: PackName, at: Timestamp) {
        self.packs().insert(name, at);
    }

    /// The names of all stored packs.
    pub fn names(&self) -> Vec<PackName> {
        self.packs().keys().copied().collect()
    }

    fn packs(&self) -> MutexGuard<'_, BTreeMap<PackName, Timestamp>> {
        self.0.lock().expect("nobody panics in here")
    }
}

impl PackStore for FakePackStore {
    fn put(&self, _: &Path, _: &Path, _: u64) -> Result<Pack, PackError> {
        Err(PackError::Failed("packs in memory have no bytes".into()))
    }

    fn local_path(&self, pack: &Pack) -> Result<PathBuf, PackError> {
        Err(PackError::Missing(pack.name))
    }

    fn stored_at(&self, name: PackName) -> Result<Option<Timestamp>, PackError> {
        Ok(self.packs().get(&name).copied())
    }

    fn for_each_pack(
        &self,
        visit: &mut dyn FnMut(PackName, Timestamp) -> Result<(), PackError>,
    ) -> Result<(), PackError> {
        let packs = self.packs().clone();
        packs.into_iter().try_for_each(|(name, at)| visit(name, at))
    }

    fn remove(&self, name: PackName) -> Result<(), PackError> {
        self.packs().remove(&name);
        Ok(())
    }

    fn put_summary(&self, _: PackName, _: &[u8]) -> Result<(), PackError> {
        Ok(())
    }

    fn summary(&self, _: PackName) -> Result<Option<Vec<u8>>, PackError> {
        Ok(None)
    }
}
