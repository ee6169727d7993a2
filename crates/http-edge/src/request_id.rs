//! The id of a request.

/// The id of a request, which the log, the response and error pages show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub String);
