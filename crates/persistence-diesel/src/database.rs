//! The database: connections, transactions, migrations, and encrypted columns.

#[macro_use]
pub(crate) mod backend;
pub(crate) mod checkpoints;
pub mod connection;
pub(crate) mod error;
pub(crate) mod fair_semaphore;
pub(crate) mod installation;
pub(crate) mod json;
pub mod migrations;
pub(crate) mod pool;
pub mod schema;
pub(crate) mod seal;
pub(crate) mod sealing;
pub(crate) mod snapshot;
pub(crate) mod snapshot_cache;
pub mod store;
pub(crate) mod time;
pub(crate) mod tx;
