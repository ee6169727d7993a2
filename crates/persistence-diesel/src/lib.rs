//! hexforge's store on SQLite and PostgreSQL: one code base, one schema, two databases.
//!
//! Queries are written once against [`connection::DbConn`]; what differs between the two databases
//! is in `backend.rs` and in the two folders of migrations.

#[macro_use]
mod backend;
mod access;
mod access_request;
mod among;
pub mod backup;
mod board;
mod build;
mod build_definition;
mod build_list;
mod build_queue;
mod checkpoints;
pub mod connection;
mod delivery;
mod delivery_batch;
mod delivery_claim;
mod delivery_log;
mod email;
mod error;
mod event;
mod group;
mod group_label;
mod group_list;
mod identity;
mod installation;
mod issue;
mod issue_list;
mod issue_total;
mod key;
mod label;
mod member;
pub mod migrations;
mod milestone;
mod namespace;
mod note;
mod outbox;
mod outbox_ci;
mod outbox_project;
mod pack;
mod page;
mod pipeline;
mod pool;
mod project;
mod project_hook;
mod project_list;
mod project_scope;
mod protection;
mod push;
mod refs;
mod release;
mod removal;
mod removal_steps;
mod repository_task;
mod runner;
pub mod schema;
mod seal;
mod sealing;
mod search;
mod share;
mod sign_in;
mod sql;
mod star;
pub mod store;
mod system_hook;
mod time;
mod title_start;
mod token;
mod trigger;
mod turns;
mod tx;
mod user;
mod variable;

pub use connection::DatabaseUrl;
pub use sealing::SealError;
pub use store::{DieselStore, OpenError, Options};

#[cfg(feature = "testing")]
pub mod testing;
