//! The real git fetches from us.

mod bitmaps;
mod clients;
mod hostile;
mod partial;
mod plain;
mod server;
#[path = "../support/mod.rs"]
mod support;
