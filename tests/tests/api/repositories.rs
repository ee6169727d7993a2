//! Branches, tags and the content of repositories.

mod archive;
mod blobs;
mod blobs_large;
mod branches;
mod branches_checks;
mod branches_protect;
mod cherry_pick;
mod commit_comments;
mod commits_checks;
mod commits_create;
mod commits_effects;
mod commits_effects_tracker;
mod commits_list;
mod commits_list_limits;
pub mod commits_support;
mod compare;
mod compare_files;
mod contributors;
mod files;
pub mod refs_support;
mod releases;
pub mod repository_support;
mod tags;
mod tags_checks;
mod templates;
mod tree;
mod unreachable;
