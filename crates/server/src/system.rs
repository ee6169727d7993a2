//! Implements the ports that need only this machine: time, randomness, password hashing, parsing of keys, files.

mod addresses;
mod backup_lock;
mod build_files;
mod clock;
mod lfs_files;
mod maintenance;
mod passwords;
pub mod permissions;
pub mod project_folders;
mod public_keys;
mod ref_cache;
mod secrets;
mod short_work;
pub mod trash;
mod uploads;
mod vault;
mod waits;
mod work;
mod write_threads;

pub use addresses::own_addresses;
pub use backup_lock::BackupLock;
pub use build_files::FsBuildFiles;
pub use clock::SystemClock;
pub use lfs_files::FsLfsFiles;
pub use maintenance::MaintenanceQueue;
pub use passwords::Argon2Passwords;
pub use public_keys::OpensshKeys;
pub use ref_cache::MemoryRefCache;
pub use secrets::SystemSecrets;
pub use trash::Trash;
pub use uploads::FsUploads;
pub use vault::{InstallationKey, KeyVault};
pub use work::PriorityThreads;
pub use write_threads::WriteThreads;

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use hexforge_domain::hex;

/// Creates a directory with its parents, accessible only to its owner.
pub(crate) fn make_folders(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Returns a random name that is unique, also on storage that several processes share.
pub(crate) fn random_name() -> String {
    let mut random = [0; 16];
    getrandom::fill(&mut random).expect("the operating system has random numbers");
    hex::encode(&random)
}
