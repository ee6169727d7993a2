//! What the lanes of a mixed workload have in common.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use hexforge_tests::program::ROOT;
use hexforge_tests::{Auditor, Request, Response};
use serde_json::Value;

/// The project for issues and files, and the one with a repository and builds.
pub const SHIP: i64 = 1;
pub const YARD: i64 = 2;

/// Servers that can be asked, in turn, and what they keep.
pub struct Place<'a> {
    pub addresses: &'a [SocketAddr],
    pub data: &'a Path,
    pub turn: AtomicUsize,
}

impl<'a> Place<'a> {
    pub fn new(addresses: &'a [SocketAddr], data: &'a Path) -> Self {
        Self { addresses, data, turn: AtomicUsize::new(0) }
    }

    /// The server whose turn it is.
    pub fn address(&self) -> SocketAddr {
        self.addresses[self.turn.fetch_add(1, Ordering::Relaxed) % self.addresses.len()]
    }

    /// A request of root's.
    pub fn ask(&self, method: &str, path: &str) -> Request {
        self.ask_as(ROOT, method, path)
    }

    /// A request of somebody's.
    pub fn ask_as(&self, token: &str, method: &str, path: &str) -> Request {
        Request::new(self.address(), method, &format!("/api/v3{path}")).token(token)
    }

    pub fn auditor(&self) -> Auditor<'static> {
        Auditor { address: self.address(), token: ROOT }
    }

    /// The address of the repository for git.
    pub fn repository(&self) -> String {
        format!("http://root:{ROOT}@{}/root/yard.git", self.address())
    }
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was acknowledged.
    Done,
    /// There was nothing to do.
    Idle,
    /// No answer came: it was done or not.
    Gone,
}

/// Somebody who changes things that nobody else changes, and remembers what was acknowledged.
pub trait Lane: Send {
    /// Changes something.
    fn step(&mut self, place: &Place<'_>) -> Step;

    /// Checks what was acknowledged since the last time, and that what was not is there in full or not at all.
    fn check(&mut self, place: &Place<'_>, issues: &[Value]);

    /// Checks everything that was ever acknowledged.
    fn check_all(&self, place: &Place<'_>, issues: &[Value]);
}

/// The answer, which has to be one of these, unless the server is gone.
#[track_caller]
pub fn send_expecting(request: Request, good: &[u16]) -> Option<Response> {
    let answer = request.try_send()?;
    let text = String::from_utf8_lossy(&answer.body);
    assert!(good.contains(&answer.status), "{} {text}", answer.status);
    Some(answer)
}

/// The id of what an answer shows.
#[track_caller]
pub fn id_of(value: &Value) -> i64 {
    value["id"].as_i64().expect("it has an id")
}
