//! Outgoing HTTP requests on reqwest: imports of repositories and deliveries of hooks.
//!
//! Users choose the targets of these requests, so each passes the [`guard`]: without it, anybody with an account could
//! reach services that only this machine can reach. Only [`GuardedClient`] opens connections.

mod client;
pub mod guard;
mod resolver;
mod tls;

pub use client::GuardedClient;
pub use guard::Guard;
pub use resolver::{Lookup, SystemLookup};
