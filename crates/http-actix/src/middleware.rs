//! Middleware: steps before a request is routed and after it is answered.

mod limit;
mod logged_path;
mod observe;
mod pace;
mod represent;
mod rewrite;

pub use limit::limit;
pub use observe::observe;
pub(crate) use observe::{new_id, record_refused};
pub use pace::pace;
pub use represent::represent;
pub use rewrite::rewrite;

use actix_cors::Cors;
use actix_web::http::header::ACCESS_CONTROL_EXPOSE_HEADERS;
use actix_web::middleware::DefaultHeaders;

/// The CORS headers: pages of any origin may call the API, with tokens but without cookies.
pub fn cors() -> Cors {
    Cors::default().allow_any_origin().send_wildcard().allow_any_method().allow_any_header()
}

/// Response headers that pages of other origins may read. [`cors`] would list them in another order in each process.
pub fn exposed() -> DefaultHeaders {
    DefaultHeaders::new().add((ACCESS_CONTROL_EXPOSE_HEADERS, "Link, ETag"))
}
