//! hexforge's REST v3 interface over HTTP: thin. It parses a request, calls one use case and renders
//! the answer. What every call has in common is here once, as mechanisms that routes only use:
//!
//! - [`connection`]: connections, and answers to requests that cannot be parsed;
//! - `call`: the declaration of a call, from which its route and its description follow;
//! - [`params`]: parameters from query, form, multipart and JSON as one set, with the coercion rules;
//! - [`client`]: from where a request comes, behind proxies too;
//! - [`api`]: who asks, and the one bridge to the synchronous use cases;
//! - [`paging`], [`respond`]: pages with their headers, and the shapes of answers;
//! - `conditional`: names for the states of answers, and 304;
//! - [`error`]: the one mapping from meanings to statuses and bodies;
//! - [`dialect`]: the few calls that answer in two ways;
//! - [`limits`]: how many requests are taken;
//! - [`git_http`], [`stream`]: git clients, and answers that are written while they are read;
//! - [`openapi`]: the interface described for machines;
//! - [`payloads`]: what hooks are sent;
//! - [`middleware`]: request ids, the access log, metrics, slashes, HEAD, gzip.

pub mod api;
mod call;
pub mod client;
mod conditional;
pub mod connection;
pub mod dialect;
pub mod entities;
pub mod error;
pub mod git_http;
pub mod health;
mod known_callers;
pub mod limits;
mod meter;
pub mod middleware;
pub mod openapi;
pub mod paging;
pub mod params;
pub mod payloads;
pub mod respond;
pub mod routes;
pub mod shared;
pub mod stream;
mod work;

pub use dialect::Dialect;
pub use limits::RateLimits;
pub use payloads::JsonPayloads;
pub use routes::configure;
pub use shared::{HttpSettings, Shared};
