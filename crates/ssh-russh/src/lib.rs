//! Git over SSH, for the keys that users register: fetching, pushing and nothing else.
//!
//! A connection has to sign in within a deadline and is let go when it does nothing (`connection`). What clients
//! ask for is read by `command`; the right to it is asked for anew each time (`work`). The synchronous work of
//! git runs on threads made for waiting, with a `bridge` that holds no more than a few pieces.

mod admission;
mod beginning;
mod bridge;
mod command;
mod config;
mod connection;
mod cut;
mod host_keys;
mod server;
mod session;
mod watched;
mod work;

pub use config::Limits;
pub use host_keys::{HostKeyError, HostKeys};
pub use server::{Server, StopHandle};
