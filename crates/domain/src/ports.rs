//! Ports: the traits through which the use cases reach the outside world. An adapter crate implements each of them.
//!
//! This module has the ports that belong to no single entity. The ports to the rows of an entity are in the submodule
//! `port` of its module, for example [`project::port`](crate::project::port); [`store::Tx`] lists them all.
//!
//! All ports are synchronous and usable as `dyn` traits.

pub mod build_files;
pub mod clock;
pub mod files;
pub mod git;
pub mod git_browsing;
pub mod git_error;
pub mod git_transport;
pub mod git_writes;
pub mod imports;
pub mod lfs_files;
pub mod maintenance;
pub mod outgoing;
pub mod pack_store;
pub mod passwords;
pub mod payloads;
pub mod public_keys;
pub mod ref_cache;
pub mod secrets;
pub mod store;
pub mod store_error;
pub mod uploads;
pub mod vault;
pub mod work;
