//! The REST v3 API of hexforge over HTTP. A handler parses a request, calls one use case and renders the response.
//! Everything that calls have in common is implemented once, in the modules beside [`routes`]:
//!
//! - [`connection`]: connections, and answers to requests that cannot be parsed;
//! - `call`: the declaration of a call, from which its route and its description follow;
//! - [`params`]: parameters from query, form, multipart and JSON as one set, with the coercion rules;
//! - [`api`]: the caller, and the only bridge to the synchronous use cases;
//! - [`paging`], [`respond`]: pages with their headers, and the forms of responses;
//! - [`error`]: the only mapping from errors to statuses and bodies;
//! - [`dialect`]: the few calls whose response depends on a setting;
//! - [`limits`]: rate limits;
//! - [`git_http`]: git over HTTP;
//! - [`openapi`]: the OpenAPI description of the API;
//! - [`payloads`]: the payloads of hooks;
//! - [`middleware`]: request ids, the access log, metrics, slashes, HEAD, entity tags, gzip.
//!
//! What the web pages need too is in the crate `hexforge_http_edge`: clients, permits, threads, streams, links.

pub mod api;
mod call;
pub mod connection;
pub mod dialect;
pub mod entities;
pub mod error;
pub mod git_http;
pub mod health;
mod known_callers;
pub mod limits;
pub mod middleware;
pub mod openapi;
pub mod paging;
pub mod params;
pub mod payloads;
pub mod respond;
pub mod routes;
pub mod shared;

pub use dialect::Dialect;
pub use limits::RateLimits;
pub use payloads::JsonPayloads;
pub use routes::configure;
pub use shared::{HttpSettings, Shared};
