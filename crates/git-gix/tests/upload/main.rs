//! Fetches by the real git.

mod clients;
mod hostile;
mod partial;
mod plain;
mod server;
#[path = "../support/mod.rs"]
mod support;
