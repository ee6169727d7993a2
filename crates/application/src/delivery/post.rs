//! Sends one delivery to a hook.

use std::io::Read;

use hexforge_domain::delivery::{
    Attempt, HookRequest, MAX_STORED_RESPONSE, Outcome, PayloadFormat,
};
use hexforge_domain::hook::HookUrl;
use hexforge_domain::ports::outgoing::{
    Certificates, OutgoingBody, OutgoingError, OutgoingMethod, OutgoingRequest, OutgoingResponse,
    TimeOuts,
};

use crate::app::App;

/// The number of response bytes that are read. Short responses are read completely, so that the connection can be
/// reused.
const MAX_READ_BYTES: u64 = 64 * 1024;

/// Sends a delivery as an HTTP request. Returns the attempt with its outcome. Blocks until the response or a timeout.
pub(crate) fn post(app: &App, request: HookRequest) -> (Attempt, Outcome) {
    let url = HookUrl::stored(request.url.reveal().to_owned()).without_credentials();
    let began = app.clock.now();
    let (outcome, status, answer, error) = match app.outgoing.send(outgoing_request(app, request)) {
        Ok(response) => {
            let status = response.status;
            (
                Outcome::Answered(status),
                Some(status),
                Some(read_answer(response)),
                error_text(status),
            )
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

fn outgoing_request(app: &App, request: HookRequest) -> OutgoingRequest {
    let mut outgoing = OutgoingRequest::new(OutgoingMethod::Post, request.url.reveal())
        .header("Content-Type", request.format.media_type());
    if request.format == PayloadFormat::Json {
        outgoing = outgoing.header("X-Gitlab-Event", request.event);
    }
    if let Some(token) = &request.token {
        outgoing = outgoing.header("X-Gitlab-Token", token.reveal());
    }
    let timeout = app.settings.hook_timeout;
    OutgoingRequest {
        body: OutgoingBody::Bytes(request.body.into_bytes()),
        time_outs: TimeOuts { connect: timeout, idle: timeout, whole: Some(timeout * 2) },
        certificates: match request.verify {
            true => Certificates::Verified,
            false => Certificates::Ignored,
        },
        ..outgoing.header("Idempotency-Key", request.key.as_str())
    }
}

/// Returns the beginning of a response body. If the connection breaks, returns what was read before.
fn read_answer(response: OutgoingResponse) -> String {
    let mut read = Vec::new();
    let _ = response.body.take(MAX_READ_BYTES).read_to_end(&mut read);
    read.truncate(MAX_STORED_RESPONSE);
    String::from_utf8_lossy(&read).into_owned()
}

/// Returns the error text for an unsuccessful status code.
fn error_text(status: u16) -> Option<String> {
    match status {
        200..=299 => None,
        300..=399 => Some(format!("the receiver answered {status}; redirects are not followed")),
        _ => Some(format!("the receiver answered {status}")),
    }
}
