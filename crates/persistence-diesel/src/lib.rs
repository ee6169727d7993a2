//! hexforge's store on SQLite and PostgreSQL: one code base, one schema, two databases.
//!
//! Queries are written once against [`connection::DbConn`]. The differences between the two databases are in
//! `database/backend.rs` and in the two folders of migrations.
//!
//! - `database`: connections, transactions, migrations, encryption of secrets, and the JSON form of stored values;
//! - `query`: building blocks of queries, such as pagination and the visibility of projects;
//! - one folder for each group of aggregates: `users`, `groups`, `projects`, `repositories`, `tracker`, `ci`, `hooks`;
//! - `removal`: deletes the dependent rows of large entities in batches;
//! - [`backup`]: a copy of the whole database.

#[macro_use]
mod database;
mod application_settings;
pub mod backup;
mod broadcast;
mod ci;
mod event;
mod groups;
mod hooks;
mod projects;
mod query;
mod removal;
mod repositories;
mod search;
mod tracker;
mod users;

pub use database::connection::{self, DatabaseUrl};
pub use database::sealing::SealError;
pub use database::store::{self, DieselStore, OpenError, Options};
pub use database::{migrations, schema};

#[cfg(feature = "testing")]
pub mod testing;
