//! Ports that belong to no single aggregate.

pub mod build_files;
pub mod clock;
pub mod files;
pub mod git;
pub mod git_transport;
pub mod imports;
pub mod outgoing;
pub mod pack_store;
pub mod passwords;
pub mod payloads;
pub mod public_keys;
pub mod ref_cache;
pub mod secrets;
pub mod store;
pub mod store_error;
pub mod upkeep;
pub mod uploads;
pub mod vault;
pub mod work;
