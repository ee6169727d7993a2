//! hexforge's store on SQLite and PostgreSQL: one code base, one schema, two databases.
//!
//! Queries are written once against [`connection::DbConn`]; what differs between the two databases
//! is in `backend.rs` and in the two folders of migrations.

#[macro_use]
mod backend;
pub mod connection;
mod email;
mod error;
mod event;
mod identity;
mod key;
pub mod migrations;
mod namespace;
mod outbox;
mod page;
mod pool;
pub mod schema;
mod sign_in;
pub mod store;
mod time;
mod token;
mod tx;
mod user;
mod user_search;

pub use connection::DatabaseUrl;
pub use store::{DieselStore, OpenError, Options};

#[cfg(feature = "testing")]
pub mod testing;
