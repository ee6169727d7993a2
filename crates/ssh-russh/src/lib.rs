//! Git over SSH, for the keys that users register: fetching, pushing and nothing else.
//!
//! A connection has to authenticate within a deadline and is closed when it is idle (`connection`). `command`
//! parses the client's request. `work` checks the permission for each command. Blocking git work runs on its own
//! threads, connected by a `bridge` that buffers only a few pieces.

mod admission;
mod beginning;
mod bridge;
mod closable;
mod command;
mod config;
mod connection;
mod host_keys;
mod server;
mod session;
mod work;

pub use config::Limits;
pub use host_keys::{HostKeyError, HostKeys};
pub use server::{Server, StopHandle};
