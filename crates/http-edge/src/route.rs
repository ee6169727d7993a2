//! The pattern of the address of a request, for the log and for metrics.

use actix_web::{HttpMessage, HttpRequest};

/// The pattern of an address that a table of its own matched, instead of a route of actix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern(pub &'static str);

impl Pattern {
    /// Stores the pattern with the request.
    pub fn put_on(self, request: &HttpRequest) {
        request.extensions_mut().insert(self);
    }

    /// The pattern that was stored with the request.
    pub fn of(request: &HttpRequest) -> Option<Self> {
        request.extensions().get::<Self>().copied()
    }
}
