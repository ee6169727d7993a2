//! Pack stores. [`FolderPacks`] keeps packs in a local folder.

mod digest;
mod folder;

pub use folder::FolderPacks;
