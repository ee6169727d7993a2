//! The port for HTTP requests to other servers.

use std::io::Read;
use std::time::Duration;

/// Sends HTTP requests to URLs that users chose, and only to allowed addresses.
///
/// Every IP address of the host is checked before each connection, and the connection goes to a checked address. So
/// requests cannot reach the server's own network unless its operator allows it.
pub trait Outgoing: Send + Sync {
    /// Sends a request and waits for the head of the response; the body is streamed. A response with any status is
    /// `Ok`. Blocks the current thread.
    fn send(&self, request: OutgoingRequest) -> Result<OutgoingResponse, OutgoingError>;
}

/// A request to another server.
pub struct OutgoingRequest {
    /// The HTTP method.
    pub method: OutgoingMethod,
    /// `http` or `https`, any port. A user name and password in it are sent as Basic authentication.
    pub url: String,
    /// The names and values of additional headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: OutgoingBody,
    /// Whether redirects are followed.
    pub redirects: Redirects,
    /// The timeouts.
    pub time_outs: TimeOuts,
    /// Whether the certificate of the server is verified.
    pub certificates: Certificates,
}

impl OutgoingRequest {
    /// A request with an empty body that follows no redirects and verifies certificates.
    pub fn new(method: OutgoingMethod, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: OutgoingBody::Bytes(Vec::new()),
            redirects: Redirects::Refused,
            time_outs: TimeOuts::default(),
            certificates: Certificates::Verified,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// The HTTP method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutgoingMethod {
    /// GET.
    Get,
    /// POST.
    Post,
}

/// The body of a request.
pub enum OutgoingBody {
    /// A body in memory.
    Bytes(Vec<u8>),
    /// A body that is streamed from a reader until its end.
    Reader(Box<dyn Read + Send>),
}

/// How redirect responses are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// A redirect is not followed; it is returned as the response.
    Refused,
    /// A GET request is redirected after the same checks, at most [`MAX_REDIRECTS`] times and never from `https` to
    /// `http`. Headers that may be secret are not sent to another host, port or scheme. A POST request is never
    /// redirected.
    Checked,
}

/// The maximum number of consecutive redirects.
pub const MAX_REDIRECTS: usize = 5;

/// The timeouts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOuts {
    /// For establishing the connection, DNS lookup included.
    pub connect: Duration,
    /// For the head of the response, and then for each part of its body.
    pub idle: Duration,
    /// For the whole exchange, from the start to the end of the body.
    pub whole: Option<Duration>,
}

impl Default for TimeOuts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_secs(60), whole: None }
    }
}

/// Whether the certificate of the server is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificates {
    /// Only a valid certificate is accepted.
    Verified,
    /// Any certificate is accepted.
    Ignored,
}

/// The response of another server.
pub struct OutgoingResponse {
    /// The URL that responded, after redirects, without user name and password.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// The headers. Names are in lower case; values that are not text are left out.
    pub headers: Vec<(String, String)>,
    /// The body. Reading fails with a timeout when the next part takes longer than the idle timeout of the request.
    pub body: Box<dyn Read + Send>,
}

impl OutgoingResponse {
    /// The first header with this name, which has to be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// Why there is no response. The texts are shown to users and contain neither user names nor passwords.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutgoingError {
    /// The request is not allowed, now or later.
    #[error("{0}")]
    Refused(String),
    /// The server did not respond, or not with HTTP.
    #[error("{0}")]
    Unreachable(String),
    /// The server did not respond within the timeouts.
    #[error("the server did not answer in time")]
    TimedOut,
}
