//! hexforge's outgoing HTTP requests on reqwest: repositories that are imported, hooks that are delivered.
//!
//! Users choose where these requests go, so each passes the [`guard`]: without it, anybody with an account
//! could reach what only this machine can reach. [`GuardedClient`] is the only thing that connects.

mod client;
pub mod guard;
mod resolver;
mod tls;

pub use client::GuardedClient;
pub use guard::Guard;
pub use resolver::{Lookup, SystemLookup};
