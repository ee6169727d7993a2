//! Fake of the storage of LFS objects.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard};

use hexforge_domain::id::ForkNetworkId;
use hexforge_domain::lfs::LfsOid;
use hexforge_domain::lfs::reservation::LfsReservations;
use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::lfs_files::{LfsFiles, NewLfsFile};
use hexforge_domain::ports::uploads::StoredFile;
use sha2::{Digest, Sha256};

type Files = BTreeMap<(ForkNetworkId, LfsOid), Vec<u8>>;

/// Stores files in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct FakeLfsFiles {
    files: Arc<Mutex<Files>>,
    reservations: LfsReservations,
}

impl FakeLfsFiles {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().expect("no test panics while it holds the files")
    }
}

impl LfsFiles for FakeLfsFiles {
    fn begin(
        &self,
        network: ForkNetworkId,
        oid: LfsOid,
    ) -> Result<Box<dyn NewLfsFile>, FilesError> {
        Ok(Box::new(Receiving { files: self.clone(), key: (network, oid), content: Vec::new() }))
    }

    fn reservations(&self) -> &LfsReservations {
        &self.reservations
    }

    fn sizes(
        &self,
        network: ForkNetworkId,
        oids: &[LfsOid],
    ) -> Result<Vec<Option<u64>>, FilesError> {
        let files = self.files();
        let size = |oid: &LfsOid| files.get(&(network, *oid)).map(|content| content.len() as u64);
        Ok(oids.iter().map(size).collect())
    }

    fn for_each(
        &self,
        visit: &mut dyn FnMut(ForkNetworkId, LfsOid) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        let all: Vec<(ForkNetworkId, LfsOid)> = self.files().keys().copied().collect();
        all.into_iter().try_for_each(|(network, oid)| visit(network, oid))
    }

    fn open(
        &self,
        network: ForkNetworkId,
        oid: LfsOid,
        from: u64,
    ) -> Result<Option<StoredFile>, FilesError> {
        let found = self.files().get(&(network, oid)).cloned();
        Ok(found.map(|content| {
            let size = content.len() as u64;
            let mut content = Cursor::new(content);
            content.set_position(from);
            StoredFile { size, content: Box::new(content) }
        }))
    }

    fn remove(&self, network: ForkNetworkId, oid: LfsOid) -> Result<(), FilesError> {
        self.files().remove(&(network, oid));
        Ok(())
    }

    fn remove_network(&self, network: ForkNetworkId) -> Result<(), FilesError> {
        self.files().retain(|(of, _), _| *of != network);
        Ok(())
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        Ok(())
    }
}

struct Receiving {
    files: FakeLfsFiles,
    key: (ForkNetworkId, LfsOid),
    content: Vec<u8>,
}

impl NewLfsFile for Receiving {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        self.content.extend_from_slice(chunk);
        Ok(())
    }

    fn seal(&mut self) -> Result<LfsOid, FilesError> {
        Ok(LfsOid::from_bytes(Sha256::digest(&self.content).into()))
    }

    fn finish(self: Box<Self>) -> Result<(), FilesError> {
        self.files.files().insert(self.key, self.content);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lfs_files_contract::CASES;

    #[test]
    fn files_in_memory_keep_the_contract() {
        for case in CASES {
            case(&FakeLfsFiles::default());
        }
    }
}
