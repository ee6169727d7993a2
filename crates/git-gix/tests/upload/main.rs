//! The real git fetches from us.

mod clients;
mod hostile;
mod partial;
mod server;
#[path = "../support/mod.rs"]
mod support;
