//! Where packs and files are kept: in the data folder, or in an object store with a cache in the data folder.

mod move_in;

pub use move_in::move_in;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hexforge_blobs_object_store::{Bucket, BucketBuildFiles, BucketUploads, CachedPacks};
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain::ports::uploads::Uploads;
use hexforge_git_gix::GixStore;
use hexforge_pack_store::FolderPacks;

use crate::config::Config;
use crate::system::{self, FsBuildFiles, FsUploads, Trash};

/// How long a start waits for the process before it to end.
const HANDOVER: Duration = Duration::from_secs(30);

/// The adapters of the ports to packs and files.
pub struct Storage {
    pub packs: Arc<dyn PackStore>,
    pub uploads: Arc<dyn Uploads>,
    pub build_files: Arc<dyn BuildFiles>,
    /// The cache, if they are in an object store.
    pub cache: Option<Arc<CachedPacks>>,
}

impl Storage {
    /// The storage that the settings name.
    pub fn open(config: &Config, trash: &Arc<Trash>) -> Result<Self> {
        Ok(match stored(config)? {
            None => Self {
                packs: Arc::new(local_packs(config, Care::Verify)),
                uploads: Arc::new(FsUploads::new(&config.data_dir, Arc::clone(trash))),
                build_files: Arc::new(FsBuildFiles::new(&config.data_dir, Arc::clone(trash))),
                cache: None,
            },
            Some(Stored { packs, uploads, build_files }) => Self {
                packs: packs.clone(),
                uploads: Arc::new(uploads),
                build_files: Arc::new(build_files),
                cache: Some(packs),
            },
        })
    }
}

/// How packs are checked before they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// By their lengths.
    Glance,
    /// By all of their bytes.
    Verify,
}

/// The packs in the data folder.
pub fn local_packs(config: &Config, care: Care) -> FolderPacks {
    let folder = config.data_dir.join(PACKS);
    match care {
        Care::Glance => FolderPacks::glancing(folder),
        Care::Verify => FolderPacks::new(folder),
    }
}

/// The folder of packs in a data folder.
pub(crate) const PACKS: &str = "packs";

/// Packs and files in an object store.
pub struct Stored {
    pub packs: Arc<CachedPacks>,
    pub uploads: BucketUploads,
    pub build_files: BucketBuildFiles,
}

/// Packs and files in the object store, if the settings name one.
pub fn stored(config: &Config) -> Result<Option<Stored>> {
    let Some(bucket) = bucket(config)? else { return Ok(None) };
    let folders = CacheFolders::of(config);
    let limit = (config.cache_gb * f64::from(1 << 30)) as u64;
    let packs = CachedPacks::open(bucket.clone(), folders.packs, limit)
        .context("the cache of packs cannot be opened")?;
    Ok(Some(Stored {
        packs: Arc::new(packs),
        uploads: BucketUploads::new(bucket.clone(), &folders.receiving),
        build_files: BucketBuildFiles::new(bucket, &folders.receiving),
    }))
}

/// The object store, if the settings name one.
pub fn bucket(config: &Config) -> Result<Option<Bucket>> {
    let Some(address) = &config.object_store_url else { return Ok(None) };
    let opened = open_bucket(address);
    Ok(Some(opened.with_context(|| format!("object_store_url is `{address}`"))?))
}

/// The object store with this address. The environment has the credentials.
pub fn open_bucket(address: &str) -> Result<Bucket> {
    let is_of_a_store =
        |name: &str| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| name.starts_with(start));
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| is_of_a_store(name));
    Ok(Bucket::open(address, variables)?)
}

/// The folders of the cache, in the data folder.
struct CacheFolders {
    root: PathBuf,
    packs: PathBuf,
    /// Files are here until they are in the object store.
    receiving: PathBuf,
}

impl CacheFolders {
    fn of(config: &Config) -> Self {
        let root = config.data_dir.join("cache");
        Self { packs: root.join("packs"), receiving: root.join("receiving"), root }
    }
}

/// Keeps the cache of packs small. While it lives no other server has this data folder: its repositories could lose
/// packs that it does not know to be in use.
pub struct CacheKeeper {
    packs: Arc<CachedPacks>,
    git: GixStore,
    _lock: File,
}

impl CacheKeeper {
    /// Takes the cache of a data folder, and removes what a stopped process left unfinished in it.
    pub fn take(config: &Config, packs: Arc<CachedPacks>, git: GixStore) -> Result<Self> {
        let folders = CacheFolders::of(config);
        system::make_folders(&folders.root)?;
        let lock = lock(&folders.root.join("lock"))?;
        for folder in [&folders.receiving, &folders.packs.join(CachedPacks::INCOMING)] {
            match fs::remove_dir_all(folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                Ok(()) | Err(_) => (),
            }
        }
        Ok(Self { packs, git, _lock: lock })
    }

    /// Drops packs that were not used for the longest time while the cache is too large.
    pub fn trim(&self) {
        if self.packs.excess() == 0 {
            return;
        }
        let is_too_large = || {
            if let Err(error) = self.packs.drop_unlinked() {
                tracing::warn!(%error, "packs cannot be dropped from the cache");
            }
            self.packs.excess() > 0
        };
        if is_too_large()
            && let Err(error) = self.git.unlink_idle(&mut || is_too_large())
        {
            tracing::warn!(%error, "repositories cannot be unlinked from the cache");
        }
    }
}

fn lock(path: &Path) -> Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    let until = Instant::now() + HANDOVER;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                thread::sleep(Duration::from_millis(100));
            }
            Err(fs::TryLockError::WouldBlock) => bail!(
                "another process serves {}: with an object store each process has a data folder of its own",
                path.parent().and_then(Path::parent).unwrap_or(path).display()
            ),
        }
    }
}
