//! Other servers, as a test wants them.

use hexforge_domain::ports::outgoing::{
    Certificates, Outgoing, OutgoingBody, OutgoingError, OutgoingRequest, OutgoingResponse,
};
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Answers 200 to everything until it is told otherwise, and remembers what it was asked. Clones are one.
#[derive(Clone, Default)]
pub struct FakeOutgoing(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    asked: Vec<FakeRequest>,
    answer: Option<Box<Answer>>,
}

type Answer = dyn FnMut(&FakeRequest) -> Result<(u16, Vec<u8>), OutgoingError> + Send;

/// A request as the other server saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeRequest {
    /// Where it went.
    pub url: String,
    /// With which headers.
    pub headers: Vec<(String, String)>,
    /// What it said.
    pub body: Vec<u8>,
    /// Whether the server had to prove who it is.
    pub certificates: Certificates,
}

impl FakeRequest {
    /// The header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl FakeOutgoing {
    /// From now on requests are answered like this.
    pub fn answer(
        &self,
        answer: impl FnMut(&FakeRequest) -> Result<(u16, Vec<u8>), OutgoingError> + Send + 'static,
    ) {
        self.state().answer = Some(Box::new(answer));
    }

    /// What was asked since this was looked at last.
    pub fn asked(&self) -> Vec<FakeRequest> {
        std::mem::take(&mut self.state().asked)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outgoing for FakeOutgoing {
    fn send(&self, request: OutgoingRequest) -> Result<OutgoingResponse, OutgoingError> {
        let OutgoingRequest { url, headers, body, certificates, .. } = request;
        let body = match body {
            OutgoingBody::Bytes(bytes) => bytes,
            OutgoingBody::Reader(_) => Vec::new(),
        };
        let request = FakeRequest { url: url.clone(), headers, body, certificates };
        let mut state = self.state();
        let answer = state.answer.as_mut().map_or(Ok((200, Vec::new())), |answer| answer(&request));
        state.asked.push(request);
        let (status, body) = answer?;
        Ok(OutgoingResponse { url, status, headers: vec![], body: Box::new(Cursor::new(body)) })
    }
}
