//! Content of repositories: commits, tags, folders, files and archives.

pub(crate) mod annotation;
pub(crate) mod archive;
pub(crate) mod blob;
pub(crate) mod commit;
pub(crate) mod links;
pub(crate) mod objects;
pub(crate) mod peel;
pub(crate) mod revision;
pub(crate) mod tree;
