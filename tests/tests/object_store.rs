//! Installations that keep packs and files in an object store, tested through HTTP and git.

#[path = "object_store/backup_and_move.rs"]
mod backup_and_move;
#[path = "object_store/cache.rs"]
mod cache;
#[path = "object_store/contract.rs"]
mod contract;
#[path = "object_store/faults.rs"]
mod faults;
#[path = "object_store/machines.rs"]
mod machines;
#[path = "object_store/snapshots.rs"]
mod snapshots;
#[path = "object_store/support.rs"]
mod support;
