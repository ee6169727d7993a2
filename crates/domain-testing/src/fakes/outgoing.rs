//! Fake of outgoing HTTP requests.

use hexforge_domain::ports::outgoing::{
    Certificates, Outgoing, OutgoingBody, OutgoingError, OutgoingRequest, OutgoingResponse,
};
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Answers 200 to every request by default, and records the requests. Clones share their state.
#[derive(Clone, Default)]
pub struct FakeOutgoing(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    asked: Vec<FakeRequest>,
    answer: Option<Box<Answer>>,
}

type Answer = dyn FnMut(&FakeRequest) -> Result<(u16, Vec<u8>), OutgoingError> + Send;

/// A request as the remote server received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeRequest {
    /// The URL.
    pub url: String,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the certificate of the server had to be verified.
    pub certificates: Certificates,
}

impl FakeRequest {
    /// Returns the header with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl FakeOutgoing {
    /// Sets the function that answers the requests.
    pub fn answer(
        &self,
        answer: impl FnMut(&FakeRequest) -> Result<(u16, Vec<u8>), OutgoingError> + Send + 'static,
    ) {
        self.state().answer = Some(Box::new(answer));
    }

    /// Returns the requests since the last call, and clears the record.
    pub fn take_requests(&self) -> Vec<FakeRequest> {
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
