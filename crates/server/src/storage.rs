//! Selects the storage of packs and files: the data folder, or an object store with a cache in the data folder.

mod claim;
mod keeper;
mod move_in;

pub use claim::{claim, ensure_unclaimed, forget as forget_claim};
pub use keeper::CacheKeeper;
pub use move_in::move_in;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use hexforge_blobs_object_store::{
    Bucket, BucketBuildFiles, BucketLfsFiles, BucketUploads, CachedPacks,
};
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::lfs_files::LfsFiles;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain::ports::uploads::Uploads;
use hexforge_pack_store::FolderPacks;

use crate::config::Config;
use crate::system::{FsBuildFiles, FsLfsFiles, FsUploads, Trash};

/// The adapters of the ports to packs and files.
pub struct Storage {
    pub packs: Arc<dyn PackStore>,
    pub uploads: Arc<dyn Uploads>,
    pub build_files: Arc<dyn BuildFiles>,
    pub lfs_files: Arc<dyn LfsFiles>,
    /// The cache of packs, if an object store is used.
    pub cache: Option<Arc<CachedPacks>>,
}

impl Storage {
    /// Opens the storage that the settings name.
    pub fn open(config: &Config, trash: &Arc<Trash>) -> Result<Self> {
        Ok(match object_storage(config)? {
            None => Self {
                packs: Arc::new(local_packs(config, Check::Bytes)),
                uploads: Arc::new(FsUploads::new(&config.data_dir, Arc::clone(trash))),
                build_files: Arc::new(FsBuildFiles::new(&config.data_dir, Arc::clone(trash))),
                lfs_files: Arc::new(FsLfsFiles::new(&config.data_dir, Arc::clone(trash))),
                cache: None,
            },
            Some(ObjectStorage { packs, uploads, build_files, lfs_files }) => Self {
                packs: packs.clone(),
                uploads: Arc::new(uploads),
                build_files: Arc::new(build_files),
                lfs_files: Arc::new(lfs_files),
                cache: Some(packs),
            },
        })
    }
}

/// How packs are checked before they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Checks only the lengths.
    Lengths,
    /// Checks all bytes.
    Bytes,
}

/// Opens the packs in the data folder.
pub fn local_packs(config: &Config, check: Check) -> FolderPacks {
    let folder = config.data_dir.join(PACKS);
    match check {
        Check::Lengths => FolderPacks::with_size_check_only(folder),
        Check::Bytes => FolderPacks::new(folder),
    }
}

/// The directory of packs in a data folder.
pub(crate) const PACKS: &str = "packs";

/// Packs and files in an object store.
pub struct ObjectStorage {
    pub packs: Arc<CachedPacks>,
    pub uploads: BucketUploads,
    pub build_files: BucketBuildFiles,
    pub lfs_files: BucketLfsFiles,
}

/// Opens the packs and files in the object store, if the settings name one.
pub fn object_storage(config: &Config) -> Result<Option<ObjectStorage>> {
    let Some(bucket) = bucket(config)? else { return Ok(None) };
    let folders = CacheFolders::new(config);
    let limit = (config.cache_gb * f64::from(1 << 30)) as u64;
    let packs = CachedPacks::open(bucket.clone(), folders.packs, limit)
        .context("the cache of packs cannot be opened")?;
    Ok(Some(ObjectStorage {
        packs: Arc::new(packs),
        uploads: BucketUploads::new(bucket.clone(), &folders.receiving),
        build_files: BucketBuildFiles::new(bucket.clone(), &folders.receiving),
        lfs_files: BucketLfsFiles::new(bucket, &folders.receiving),
    }))
}

/// Opens the object store, if the settings name one.
pub fn bucket(config: &Config) -> Result<Option<Bucket>> {
    let Some(address) = &config.object_store_url else { return Ok(None) };
    let opened = open_bucket(address);
    Ok(Some(opened.with_context(|| format!("object_store_url is `{address}`"))?))
}

/// Opens the object store with this URL. The credentials come from the environment.
pub fn open_bucket(address: &str) -> Result<Bucket> {
    let is_of_a_store =
        |name: &str| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| name.starts_with(start));
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| is_of_a_store(name));
    Ok(Bucket::open(address, variables)?)
}

/// The directories of the cache in the data folder.
struct CacheFolders {
    root: PathBuf,
    packs: PathBuf,
    /// Temporary files, until they are in the object store.
    receiving: PathBuf,
}

impl CacheFolders {
    fn new(config: &Config) -> Self {
        let root = config.data_dir.join("cache");
        Self { packs: root.join("packs"), receiving: root.join("receiving"), root }
    }
}
