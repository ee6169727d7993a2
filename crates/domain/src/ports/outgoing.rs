//! The port to other servers: HTTP requests that leave this one.

use std::io::Read;
use std::time::Duration;

/// Sends requests to addresses that users chose, and only where such a request may go.
///
/// Before each connection every address of the host is checked, and only a checked one is connected to:
/// this server's own network cannot be reached unless its operator allows it.
pub trait Outgoing: Send + Sync {
    /// Sends a request and waits for the head of the answer; its body is read as it comes. An answer with
    /// any status is a success here. Blocks, so it is not for a thread that others wait for.
    fn send(&self, request: OutgoingRequest) -> Result<OutgoingResponse, OutgoingError>;
}

/// A request to another server.
pub struct OutgoingRequest {
    pub method: OutgoingMethod,
    /// `http` or `https`, any port. A user name and password in it are sent as Basic authorization.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: OutgoingBody,
    pub redirects: Redirects,
    pub time_outs: TimeOuts,
    pub certificates: Certificates,
}

impl OutgoingRequest {
    /// A request that follows no redirect and believes only good certificates.
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

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutgoingMethod {
    Get,
    Post,
}

/// What a request says.
pub enum OutgoingBody {
    Bytes(Vec<u8>),
    /// Sent as it is read, until its end.
    Reader(Box<dyn Read + Send>),
}

/// What becomes of an answer that points elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// It is the answer.
    Refused,
    /// A GET goes there, after the same checks, at most [`MAX_REDIRECTS`] times and never from `https` to
    /// `http`; another host, port or scheme gets no header that may be secret. A POST never goes elsewhere.
    Checked,
}

/// How many redirects are followed in a row.
pub const MAX_REDIRECTS: usize = 5;

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOuts {
    /// For a connection, looking up its host included.
    pub connect: Duration,
    /// For the head of the answer, and then for each next part of its body.
    pub idle: Duration,
    /// For everything from the first step to the end of the body.
    pub whole: Option<Duration>,
}

impl Default for TimeOuts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_secs(60), whole: None }
    }
}

/// Whether a server has to prove who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificates {
    Verified,
    /// Any certificate will do.
    Ignored,
}

/// The answer of another server.
pub struct OutgoingResponse {
    /// The address that answered, after redirects, without user name and password.
    pub url: String,
    pub status: u16,
    /// Names are in lower case; values that are no text are left out.
    pub headers: Vec<(String, String)>,
    /// Waits no longer than the request's idle time for each part; then it fails as timed out.
    pub body: Box<dyn Read + Send>,
}

impl OutgoingResponse {
    /// The first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer. The texts are for people, and have neither user names nor passwords in them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutgoingError {
    /// Such a request may not be sent, now or later.
    #[error("{0}")]
    Refused(String),
    /// Nobody answered, or not in HTTP.
    #[error("{0}")]
    Unreachable(String),
    #[error("the server did not answer in time")]
    TimedOut,
}
