//! Slashes at the end of addresses.

use actix_web::dev::ServiceRequest;
use actix_web::{HttpMessage, HttpRequest};

/// Marks a request whose address ended in a slash before it was removed.
struct EndedInSlash;

/// Stores that the address ended in a slash.
pub fn mark(request: &ServiceRequest) {
    request.extensions_mut().insert(EndedInSlash);
}

/// Returns whether the address ended in a slash.
pub fn ended_in_one(request: &HttpRequest) -> bool {
    request.extensions().contains::<EndedInSlash>()
}
