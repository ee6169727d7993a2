//! Common parts of the workers of a mixed workload.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use hexforge_tests::program::ROOT;
use hexforge_tests::{Auditor, Request, Response};
use serde_json::Value;

/// The project for issues and files, and the project with a repository and builds.
pub const SHIP: i64 = 1;
pub const YARD: i64 = 2;

/// The servers, which get requests in turn, and their data folder.
pub struct Servers<'a> {
    pub addresses: &'a [SocketAddr],
    pub data: &'a Path,
    pub turn: AtomicUsize,
}

impl<'a> Servers<'a> {
    pub fn new(addresses: &'a [SocketAddr], data: &'a Path) -> Self {
        Self { addresses, data, turn: AtomicUsize::new(0) }
    }

    /// The address of the next server.
    pub fn address(&self) -> SocketAddr {
        self.addresses[self.turn.fetch_add(1, Ordering::Relaxed) % self.addresses.len()]
    }

    /// A request with the token of root.
    pub fn ask(&self, method: &str, path: &str) -> Request {
        self.ask_as(ROOT, method, path)
    }

    /// A request with a user's token.
    pub fn ask_as(&self, token: &str, method: &str, path: &str) -> Request {
        Request::new(self.address(), method, &format!("/api/v3{path}")).token(token)
    }

    pub fn auditor(&self) -> Auditor<'static> {
        Auditor { address: self.address(), token: ROOT }
    }

    /// The URL of the repository.
    pub fn repository(&self) -> String {
        format!("http://root:{ROOT}@{}/root/yard.git", self.address())
    }
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was acknowledged.
    Done,
    /// There was nothing to do.
    Idle,
    /// No answer arrived, so the step was executed or not.
    NoAnswer,
}

/// A worker that changes its own objects, and remembers what was acknowledged.
pub trait Worker: Send {
    /// Makes one change.
    fn step(&mut self, servers: &Servers<'_>) -> Step;

    /// Checks what was acknowledged since the last check. An unacknowledged change must be complete or absent.
    fn check(&mut self, servers: &Servers<'_>, issues: &[Value]);

    /// Checks everything that was ever acknowledged.
    fn check_all(&self, servers: &Servers<'_>, issues: &[Value]);
}

/// Sends a request, and asserts that the status is one of `good`. Returns `None` if the server does not answer.
#[track_caller]
pub fn send_expecting(request: Request, good: &[u16]) -> Option<Response> {
    let answer = request.try_send()?;
    let text = String::from_utf8_lossy(&answer.body);
    assert!(good.contains(&answer.status), "{} {text}", answer.status);
    Some(answer)
}

/// The id of the object in a response.
#[track_caller]
pub fn id_of(value: &Value) -> i64 {
    value["id"].as_i64().expect("it has an id")
}
