//! What every HTTP edge of hexforge needs, in one place: the REST interface (`http-actix`) and the web pages
//! (`web-askama`) are built on it.
//!
//! - [`client`]: the address and scheme of the client, also behind proxies;
//! - [`permit`], [`work`]: permits for work, and threads that run it;
//! - [`meter`]: the processor time of requests, charged to their callers;
//! - [`known_callers`]: the users of tokens that signed a user in, so that permits count for users;
//! - [`stream`]: responses that are sent while they are written;
//! - [`conditional`], [`gzip`]: entity tags, 304 and compressed bodies;
//! - [`links`]: URLs of the service;
//! - [`session_cookie`]: the session of the web pages, for limits;
//! - [`request_id`], [`route`], [`slashes`]: what middleware tells handlers about a request.

pub mod client;
pub mod conditional;
pub mod edge;
pub mod gzip;
pub mod known_callers;
pub mod links;
pub mod meter;
pub mod permit;
pub mod request_id;
pub mod route;
pub mod session_cookie;
pub mod slashes;
pub mod stream;
pub mod work;

pub use edge::Edge;
