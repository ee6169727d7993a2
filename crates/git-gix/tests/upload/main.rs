//! The real git fetches from us.

mod clients;
mod hostile;
mod server;
#[path = "../support/mod.rs"]
mod support;
