//! `hexforge runner`: takes builds from a server and runs them.
//!
//! The crate has two halves. The pure half knows no process, no file and no network: [`variables`], [`mask`], [`glob`],
//! [`script`] and [`plan`] turn an assignment of the server into scripts, names and paths. The other half carries the
//! plan out: [`api`] speaks HTTP, [`executor`] starts processes under a [`supervisor`], [`job`] runs one build from the
//! sources to the final state, and [`work`] takes builds until a signal stops it.

pub mod api;
pub mod archive;
pub mod cache;
pub mod cgroup;
pub mod config;
pub mod error;
pub mod executor;
pub mod glob;
pub mod job;
pub mod log;
pub mod mask;
pub mod metrics;
pub mod plan;
pub mod process;
pub mod protocol;
pub mod recovery;
pub mod remove;
pub mod room;
pub mod script;
pub mod sender;
pub mod slot;
pub mod supervisor;
mod tls;
pub mod user;
pub mod variables;
pub mod work;
