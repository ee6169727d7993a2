//! Sends one delivery to a hook.

use std::io::Read;

use hexforge_domain::delivery::{Attempt, HookRequest, KEPT_ANSWER, Outcome};
use hexforge_domain::hook::HookUrl;
use hexforge_domain::ports::outgoing::{
    Certificates, OutgoingBody, OutgoingError, OutgoingMethod, OutgoingRequest, OutgoingResponse,
    TimeOuts,
};

use crate::app::App;

/// The number of response bytes that are read. Short responses are read completely, so that the connection can be
/// reused.
const READ_ANSWER: u64 = 64 * 1024;

/// Sends a letter as an HTTP request and returns the attempt with its outcome. Blocks until the response or a timeout.
pub(crate) fn post(app: &App, request: HookRequest) -> (Attempt, Outcome) {
    let url = HookUrl::stored(request.url.reveal().to_owned()).shown();
    let began = app.clock.now();
    let (outcome, status, answer, error) = match app.outgoing.send(request(app, request)) {
        Ok(response) => {
            let status = response.status;
            (Outcome::Answered(status), Some(status), Some(answer(response)), complaint(status))
        }
        Err(OutgoingError::Refused(why)) => (Outcome::Refused, None, None, Some(why)),
        Err(OutgoingError::Unreachable(why)) => (Outcome::Unreachable, None, None, Some(why)),
        Err(error @ OutgoingError::TimedOut) => {
            (Outcome::Unreachable, None, None, Some(error.to_string()))
        }
    };
    let took = (app.clock.now() - began).num_milliseconds();
    let millis = u32::try_from(took).unwrap_or_default();
    (Attempt { at: began, url, millis, status, answer, error }, outcome)
}

fn request(app: &App, request: HookRequest) -> OutgoingRequest {
    let mut request = OutgoingRequest::new(OutgoingMethod::Post, request.url.reveal())
        .header("Content-Type", "application/json")
        .header("X-Gitlab-Event", request.event);
    if let Some(token) = &request.token {
        request = request.header("X-Gitlab-Token", token.reveal());
    }
    let timeout = app.settings.hook_timeout;
    OutgoingRequest {
        body: OutgoingBody::Bytes(request.body.into_bytes()),
        time_outs: TimeOuts { connect: timeout, idle: timeout, whole: Some(timeout * 2) },
        certificates: match request.verify {
            true => Certificates::Verified,
            false => Certificates::Ignored,
        },
        ..request.header("Idempotency-Key", request.key.as_str())
    }
}

/// Returns the beginning of a response body. A body that breaks off counts too.
fn answer(response: OutgoingResponse) -> String {
    let mut read = Vec::new();
    let _ = response.body.take(READ_ANSWER).read_to_end(&mut read);
    read.truncate(KEPT_ANSWER);
    String::from_utf8_lossy(&read).into_owned()
}

/// Returns the error text for an unsuccessful status code.
fn complaint(status: u16) -> Option<String> {
    match status {
        200..=299 => None,
        300..=399 => Some(format!("the receiver answered {status}; redirects are not followed")),
        _ => Some(format!("the receiver answered {status}")),
    }
}
