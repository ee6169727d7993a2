//! Stores packs in an object store, and caches the packs in use in a local folder.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hexforge_domain::Timestamp;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use hexforge_pack_store::FolderPacks;
use tempfile::NamedTempFile;

use crate::bucket::{Bucket, BucketError, ObjectInfo};
use crate::cache::CachedNames;
use crate::index;
use crate::single_flight::SingleFlight;

/// The number of attempts to fetch a pack that is evicted right after the download.
const FETCH_ATTEMPTS: u32 = 5;

/// The maximum time in seconds that a fetch waits for space on a full disk.
const MAX_SPACE_WAIT: u32 = 20;

/// A pack store in an object store, with a size-limited cache in a local folder.
///
/// The limit is soft: packs to which repositories have hard links stay, so that no reader loses them. [`Self::excess`]
/// returns by how much the folder is too large, and [`Self::evict_unlinked`] evicts packs.
pub struct CachedPacks {
    bucket: Bucket,
    folder: FolderPacks,
    /// The folder of unfinished downloads.
    incoming: PathBuf,
    names: CachedNames,
    downloads: SingleFlight<PackName, PackError>,
}

impl CachedPacks {
    /// The subfolder of unfinished downloads in the cache folder.
    pub const INCOMING: &str = "incoming";

    /// Opens the packs of an object store, with a local cache of about `limit` bytes.
    pub fn open(bucket: Bucket, folder: impl Into<PathBuf>, limit: u64) -> io::Result<Self> {
        let folder = folder.into();
        let incoming = folder.join(Self::INCOMING);
        let packs = Self {
            bucket,
            folder: FolderPacks::new(folder),
            incoming,
            names: CachedNames::new(limit),
            downloads: SingleFlight::default(),
        };
        let mut found = Vec::new();
        let visited = packs.folder.for_each_pack(&mut |name, since| {
            found.push((since, name));
            Ok(())
        });
        visited.map_err(io::Error::other)?;
        found.sort_unstable();
        for (_, name) in found {
            match packs.record(name) {
                // Only the summary is left of a pack that was evicted.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    packs.folder.remove(name).map_err(io::Error::other)?;
                }
                recorded => recorded?,
            }
        }
        Ok(packs)
    }

    /// Uploads a pack to the object store without caching it, unless it is stored there with the same size.
    pub fn upload(&self, name: PackName, data: &Path, index: &Path) -> Result<(), PackError> {
        let bytes = fs::metadata(data)?.len();
        match self.check_stored(&Pack { name, bytes, objects: 0 }) {
            Err(PackError::Missing(_) | PackError::Damaged(..)) => {
                self.upload_files(name, data, index)
            }
            checked => checked,
        }
    }

    /// Checks that a pack is in the object store with the right size and with its index. Does not read its content.
    pub fn check_stored(&self, pack: &Pack) -> Result<(), PackError> {
        self.find_both(pack).map(drop)
    }

    /// The metadata of a pack and its index in the object store.
    fn find_both(&self, pack: &Pack) -> Result<(ObjectInfo, ObjectInfo), PackError> {
        let missing = || PackError::Missing(pack.name);
        let data = self.find(&data_key(pack.name))?.ok_or_else(missing)?;
        let index = self.find(&index_key(pack.name))?.ok_or_else(missing)?;
        if data.bytes != pack.bytes {
            let text = format!("it has {} bytes instead of {}", data.bytes, pack.bytes);
            return Err(PackError::Damaged(pack.name, text));
        }
        Ok((data, index))
    }

    /// Uploads a pack and its index in parallel.
    fn upload_files(&self, name: PackName, data: &Path, index: &Path) -> Result<(), PackError> {
        let sent = std::thread::scope(|scope| {
            let sent = scope.spawn(|| self.bucket.put_file(&index_key(name), index));
            let data = self.bucket.put_file(&data_key(name), data);
            let index = sent.join().unwrap_or_else(|_| {
                Err(BucketError::Unreachable("the upload of a pack index was aborted".into()))
            });
            data.and(index)
        });
        sent.map_err(to_pack_error)
    }

    /// The number of bytes by which the cache is too large.
    pub fn excess(&self) -> u64 {
        self.names.excess()
    }

    /// Requests that this number of bytes be freed, even below the limit, because the disk is full.
    pub fn request_space(&self, bytes: u64) {
        self.names.request_space(bytes);
    }

    /// Evicts packs without hard links from repositories, the least recently used first, until the cache is small
    /// enough.
    pub fn evict_unlinked(&self) -> Result<(), PackError> {
        if self.excess() == 0 {
            return Ok(());
        }
        for name in self.names.oldest_first() {
            if self.excess() == 0 {
                break;
            }
            match fs::metadata(self.folder.path(name)) {
                Ok(found) if found.nlink() > 1 => (),
                Ok(_) => self.evict(name)?,
                Err(_) => self.names.forget(name),
            }
        }
        Ok(())
    }

    /// Removes a pack from the cache.
    fn evict(&self, name: PackName) -> Result<(), PackError> {
        // The name is removed first: if the pack is fetched again meanwhile, its new record stays.
        self.names.forget(name);
        self.folder.remove(name)
    }

    /// Records a pack that is in the cache folder.
    fn record(&self, name: PackName) -> io::Result<()> {
        let path = self.folder.path(name);
        let bytes = fs::metadata(&path)?.len();
        let index = fs::metadata(path.with_extension("idx")).map_or(0, |found| found.len());
        self.names.record(name, bytes + index);
        Ok(())
    }

    /// Fetches a pack and its index from the object store into the cache. Waits for space when the disk is full.
    fn fetch(&self, pack: &Pack) -> Result<(), PackError> {
        let mut waited = 0;
        loop {
            match self.try_fetch(pack) {
                Err(PackError::Full(text)) => {
                    if waited >= MAX_SPACE_WAIT {
                        self.names.clear_wanted();
                        return Err(PackError::Full(text));
                    }
                    self.names.request_space(pack.bytes * 2);
                    self.evict_unlinked()?;
                    waited += 1;
                    std::thread::sleep(Duration::from_secs(1));
                }
                fetched => {
                    self.names.clear_wanted();
                    return fetched;
                }
            }
        }
    }

    fn try_fetch(&self, pack: &Pack) -> Result<(), PackError> {
        let name = pack.name;
        let (data, index) = self.find_both(pack)?;
        let (data, index) = (self.download(name, &data)?, self.download(name, &index)?);
        let is_intact = index::belongs_to(index.path(), data.path())?;
        if !is_intact {
            return Err(PackError::Damaged(
                name,
                "its index is damaged or belongs to another pack".into(),
            ));
        }
        let stored = self.folder.put(data.path(), index.path(), pack.objects)?;
        if stored.name != name {
            self.folder.remove(stored.name)?;
            return Err(PackError::Damaged(name, format!("its SHA-256 is {}", stored.name)));
        }
        Ok(self.record(name)?)
    }

    fn find(&self, key: &str) -> Result<Option<ObjectInfo>, PackError> {
        self.bucket.find(key).map_err(to_pack_error)
    }

    fn download(&self, name: PackName, stored: &ObjectInfo) -> Result<NamedTempFile, PackError> {
        let made = fs::create_dir_all(&self.incoming);
        let made = made.and_then(|()| NamedTempFile::new_in(&self.incoming));
        let mut file = made?;
        match self.bucket.download(stored, &mut file) {
            Err(BucketError::Missing(_)) => Err(PackError::Missing(name)),
            outcome => outcome.map(|()| file).map_err(to_pack_error),
        }
    }
}

impl PackStore for CachedPacks {
    fn put(&self, data: &Path, index: &Path, objects: u64) -> Result<Pack, PackError> {
        let pack = self.folder.put(data, index, objects)?;
        self.record(pack.name)?;
        self.upload_files(pack.name, data, index)?;
        Ok(pack)
    }

    fn local_path(&self, pack: &Pack) -> Result<PathBuf, PackError> {
        for _ in 0..FETCH_ATTEMPTS {
            match self.folder.local_path(pack) {
                // The pack is being evicted: its index is already gone.
                Ok(path) if !path.with_extension("idx").exists() => self.evict(pack.name)?,
                Ok(path) => {
                    if self.names.touch(pack.name) || self.record(pack.name).is_ok() {
                        return Ok(path);
                    }
                    // The pack was evicted meanwhile.
                }
                Err(PackError::Missing(_)) => (),
                Err(PackError::Damaged(name, reason)) => {
                    tracing::warn!(%name, reason, "a pack in the cache is damaged; it is fetched again");
                    self.evict(name)?;
                }
                Err(error) => return Err(error),
            }
            let broken = PackError::Failed("the download of a pack was aborted".into());
            self.downloads.run(pack.name, broken, || self.fetch(pack))?;
        }
        Err(PackError::Full("the pack cache is too small for one repository".into()))
    }

    fn stored_at(&self, name: PackName) -> Result<Option<Timestamp>, PackError> {
        let data = self.find(&data_key(name))?;
        let index = self.find(&index_key(name))?;
        Ok(data.and_then(|data| index.map(|_| data.since)))
    }

    fn for_each_pack(
        &self,
        visit: &mut dyn FnMut(PackName, Timestamp) -> Result<(), PackError>,
    ) -> Result<(), PackError> {
        // Each name is visited once, even if only the pack or only the index exists. The set is needed because some
        // stores do not list objects in key order.
        let mut visited = HashSet::new();
        self.bucket
            .each::<ListingError>("packs", &mut |stored| {
                let name = Path::new(&stored.key).file_stem().and_then(|name| name.to_str());
                match name.and_then(PackName::parse) {
                    Some(name) if visited.insert(name) => {
                        visit(name, stored.since).map_err(ListingError)
                    }
                    Some(_) | None => Ok(()),
                }
            })
            .map_err(|ListingError(error)| error)
    }

    fn remove(&self, name: PackName) -> Result<(), PackError> {
        // The summary goes last: no other is stored once the pack is gone.
        let keys = vec![index_key(name), data_key(name), summary_key(name)];
        self.bucket.remove(keys).map_err(to_pack_error)?;
        self.evict(name)
    }

    fn put_summary(&self, name: PackName, summary: &[u8]) -> Result<(), PackError> {
        if self.find(&data_key(name))?.is_none() {
            return Ok(());
        }
        self.folder.put_summary(name, summary)?;
        let key = summary_key(name);
        self.bucket.put(&key, summary.to_vec().into()).map_err(to_pack_error)?;
        // The pack may have been removed meanwhile.
        if self.find(&data_key(name))?.is_none() {
            self.bucket.remove(vec![key]).map_err(to_pack_error)?;
        }
        Ok(())
    }

    fn summary(&self, name: PackName) -> Result<Option<Vec<u8>>, PackError> {
        if let Some(summary) = self.folder.summary(name)? {
            return Ok(Some(summary));
        }
        let key = summary_key(name);
        let Some(found) = self.find(&key)? else { return Ok(None) };
        let summary = self.bucket.get(&key, 0..found.bytes.min(FolderPacks::MAX_SUMMARY));
        let summary = summary.map_err(to_pack_error)?.to_vec();
        self.folder.put_summary(name, &summary)?;
        Ok(Some(summary))
    }
}

/// The error that ended the listing.
struct ListingError(PackError);

impl From<BucketError> for ListingError {
    fn from(error: BucketError) -> Self {
        Self(to_pack_error(error))
    }
}

fn data_key(name: PackName) -> String {
    key(name, "pack")
}

fn index_key(name: PackName) -> String {
    key(name, "idx")
}

fn summary_key(name: PackName) -> String {
    key(name, "summary")
}

fn key(name: PackName, extension: &str) -> String {
    let name = name.to_string();
    format!("packs/{}/{name}.{extension}", &name[..2])
}

fn to_pack_error(error: BucketError) -> PackError {
    match error {
        BucketError::Missing(key) => PackError::Failed(format!("{key} is missing")),
        BucketError::Unreachable(text) => PackError::Unreachable(text),
        BucketError::Local(error) => error.into(),
        BucketError::Address(text) => PackError::Failed(text),
    }
}
