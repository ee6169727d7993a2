//! Stores LFS objects in an object store.

use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, Builder};

use hexforge_domain::id::{self, ForkNetworkId};
use hexforge_domain::lfs::LfsOid;
use hexforge_domain::lfs::reservation::LfsReservations;
use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::lfs_files::{LfsFiles, NewLfsFile};
use hexforge_domain::ports::uploads::{NewFile, StoredFile};
use sha2::{Digest, Sha256};

use crate::bucket::{Bucket, BucketError};
use crate::read::ObjectReader;
use crate::receive::PendingUpload;

/// Stores LFS objects in an object store.
pub struct BucketLfsFiles {
    bucket: Bucket,
    /// The local folder in which uploads are received.
    scratch: PathBuf,
    reservations: LfsReservations,
}

impl BucketLfsFiles {
    /// The LFS objects in an object store. Uploads are received in the folder `scratch`.
    pub fn new(bucket: Bucket, scratch: &Path) -> Self {
        let reservations = LfsReservations::default();
        Self { bucket, scratch: scratch.to_owned(), reservations }
    }

    /// Asks for the sizes of objects, one after the other.
    fn find_sizes(
        &self,
        network: ForkNetworkId,
        oids: &[LfsOid],
    ) -> Result<Vec<Option<u64>>, BucketError> {
        let find = |oid: &LfsOid| {
            let found = self.bucket.find(&key(network, *oid));
            found.map(|stored| stored.map(|stored| stored.bytes))
        };
        oids.iter().map(find).collect()
    }
}

/// The prefix of all LFS objects.
const ROOT: &str = "lfs";

/// The number of threads that ask for the metadata of objects.
const PARALLEL_REQUESTS: usize = 16;

/// The prefix of the objects of a network.
fn prefix(network: ForkNetworkId) -> String {
    format!("{ROOT}/{network}")
}

fn key(network: ForkNetworkId, oid: LfsOid) -> String {
    let name = oid.to_string();
    format!("{}/{}/{name}", prefix(network), &name[..2])
}

/// Parses the key of an object; `None` if it has another form.
fn parse_key(key: &str) -> Option<(ForkNetworkId, LfsOid)> {
    let mut parts = key.split('/');
    let (ROOT, network) = (parts.next()?, parts.next()?) else { return None };
    let (_, name, None) = (parts.next()?, parts.next()?, parts.next()) else { return None };
    Some((ForkNetworkId(id::parse(network)?), LfsOid::parse(name)?))
}

/// Why a visit of all objects ended early.
enum VisitError {
    /// The object store did not respond.
    Bucket(BucketError),
    /// The visitor failed.
    Visitor(FilesError),
}

impl From<BucketError> for VisitError {
    fn from(error: BucketError) -> Self {
        VisitError::Bucket(error)
    }
}

fn file_error(what: &'static str) -> impl FnOnce(BucketError) -> FilesError {
    move |error| error.into_files_error(&format!("an LFS object could not be {what}"))
}

impl LfsFiles for BucketLfsFiles {
    fn begin(
        &self,
        network: ForkNetworkId,
        oid: LfsOid,
    ) -> Result<Box<dyn NewLfsFile>, FilesError> {
        let upload = PendingUpload::begin(&self.bucket, &self.scratch, key(network, oid))?;
        let (bucket, key) = (self.bucket.clone(), key(network, oid));
        Ok(Box::new(Receiving { upload, bucket, key, oid, digest: Sha256::new() }))
    }

    fn reservations(&self) -> &LfsReservations {
        &self.reservations
    }

    fn sizes(
        &self,
        network: ForkNetworkId,
        oids: &[LfsOid],
    ) -> Result<Vec<Option<u64>>, FilesError> {
        // Each object is a request, so they are sent in parallel.
        let share = oids.len().div_ceil(PARALLEL_REQUESTS).max(1);
        let found = thread::scope(|scope| {
            let mut shares = oids.chunks(share);
            let first = shares.next().unwrap_or_default();
            let threads: Vec<_> = shares
                .map(|oids| {
                    Builder::new().spawn_scoped(scope, move || self.find_sizes(network, oids))
                })
                .collect();
            let mut sizes = self.find_sizes(network, first)?;
            for started in threads {
                let ended = started?.join().unwrap_or_else(|panic| resume_unwind(panic));
                sizes.extend(ended?);
            }
            Ok::<_, BucketError>(sizes)
        });
        found.map_err(file_error("looked for"))
    }

    fn for_each(
        &self,
        visit: &mut dyn FnMut(ForkNetworkId, LfsOid) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        let visited =
            self.bucket.each::<VisitError>(ROOT, &mut |stored| match parse_key(&stored.key) {
                Some((network, oid)) => visit(network, oid).map_err(VisitError::Visitor),
                None => Ok(()),
            });
        visited.map_err(|error| match error {
            VisitError::Bucket(error) => file_error("listed")(error),
            VisitError::Visitor(error) => error,
        })
    }

    fn open(
        &self,
        network: ForkNetworkId,
        oid: LfsOid,
        from: u64,
    ) -> Result<Option<StoredFile>, FilesError> {
        let opened = self.bucket.find(&key(network, oid)).and_then(|found| {
            let Some(stored) = found else { return Ok(None) };
            let size = stored.bytes;
            let content = Box::new(ObjectReader::open_from(&self.bucket, stored, from)?);
            Ok(Some(StoredFile { size, content }))
        });
        opened.map_err(file_error("read"))
    }

    fn remove(&self, network: ForkNetworkId, oid: LfsOid) -> Result<(), FilesError> {
        self.bucket.remove_one(&key(network, oid)).map_err(file_error("removed"))
    }

    fn remove_network(&self, network: ForkNetworkId) -> Result<(), FilesError> {
        let removed = self.bucket.list(&prefix(network)).and_then(|found| {
            self.bucket.remove(found.into_iter().map(|stored| stored.key).collect())
        });
        removed.map_err(file_error("removed"))
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        // Unfinished uploads are local files, not objects, so there is nothing to remove.
        Ok(())
    }
}

/// An object that is received into a local file.
struct Receiving {
    upload: PendingUpload,
    bucket: Bucket,
    key: String,
    oid: LfsOid,
    digest: Sha256,
}

impl NewLfsFile for Receiving {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        self.digest.update(chunk);
        self.upload.append(chunk)
    }

    fn seal(&mut self) -> Result<LfsOid, FilesError> {
        let found = LfsOid::from_bytes(self.digest.finalize_reset().into());
        // Content with another name is never sent to the store.
        if found == self.oid {
            self.upload.prepare()?;
        }
        Ok(found)
    }

    fn finish(self: Box<Self>) -> Result<(), FilesError> {
        let Self { upload, bucket, key, .. } = *self;
        Box::new(upload).finish()?;
        // A failed upload of the same object may have removed it since it was sealed.
        match bucket.find(&key).map_err(file_error("finished"))? {
            Some(_) => Ok(()),
            None => {
                let cause = io::Error::from(io::ErrorKind::NotConnected);
                Err(FilesError("an LFS object was removed meanwhile".to_owned(), cause.into()))
            }
        }
    }
}
