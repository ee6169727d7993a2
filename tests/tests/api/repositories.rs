//! Branches, tags and the content of repositories.

mod archive;
mod blobs;
mod blobs_large;
mod branches;
mod branches_checks;
mod branches_protect;
mod compare;
mod compare_files;
mod contributors;
pub mod refs_support;
mod releases;
pub mod repository_support;
mod tags;
mod tags_checks;
mod tree;
mod unreachable;
