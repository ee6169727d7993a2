//! Pack stores. [`FolderPacks`] keeps packs in a local folder.

#[cfg(feature = "testing")]
pub mod contract;
mod digest;
mod folder;

pub use folder::FolderPacks;
