//! Responses to LFS clients, which show the message of an error.

use std::io;

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_RANGE, RETRY_AFTER};
use actix_web::{HttpResponse, ResponseError};
use hexforge_application::error::Error;
use hexforge_application::lfs::{LfsRefusal, UploadError};
use serde_json::json;

use crate::git_http::answer::ErrorAnswer;
use crate::git_http::body::BodyError;
use crate::shared::Shared;

/// The media type of requests and responses.
pub(super) const MEDIA_TYPE: &str = "application/vnd.git-lfs+json";

/// An error response to an LFS client.
#[derive(Debug)]
pub(super) enum LfsError {
    Refused(LfsRefusal),
    /// An error response that git clients get too.
    Git(ErrorAnswer),
    /// The client only speaks the protocol from before 2016.
    OutdatedClient,
    /// The project does not have the object, or the request names none.
    NotFound,
    /// The requested range begins after the end of an object of this size.
    Range(u64),
    /// There is no room for the object unless other uploads fail.
    NoRoomNow,
    /// Another status, with a message.
    Message(StatusCode, &'static str),
}

impl From<LfsRefusal> for LfsError {
    fn from(refusal: LfsRefusal) -> Self {
        LfsError::Refused(refusal)
    }
}

impl From<ErrorAnswer> for LfsError {
    fn from(answer: ErrorAnswer) -> Self {
        LfsError::Git(answer)
    }
}

impl From<Error> for LfsError {
    fn from(error: Error) -> Self {
        LfsError::Git(error.into())
    }
}

impl From<BodyError> for LfsError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLong => {
                LfsError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large.")
            }
            BodyError::Broken(cause) => interrupted(&cause),
        }
    }
}

impl From<UploadError> for LfsError {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Refused(refusal) => LfsError::Refused(refusal),
            UploadError::Mismatch => LfsError::unprocessable(
                "The content does not have the announced size and SHA-256. Nothing was stored.",
            ),
            UploadError::TooLarge => LfsError::Message(StatusCode::PAYLOAD_TOO_LARGE, TOO_LARGE),
            UploadError::NoRoomNow => LfsError::NoRoomNow,
            UploadError::Interrupted(cause) => interrupted(&cause),
        }
    }
}

/// The message about an object for which there is no room.
pub(super) const TOO_LARGE: &str =
    "The LFS objects of this project and its forks would be larger than this server allows.";

fn interrupted(cause: &io::Error) -> LfsError {
    match cause.kind() {
        io::ErrorKind::TimedOut => {
            LfsError::Message(StatusCode::REQUEST_TIMEOUT, "The request was sent too slowly.")
        }
        io::ErrorKind::PermissionDenied => LfsError::Refused(LfsRefusal::Forbidden),
        _ => LfsError::Message(StatusCode::BAD_REQUEST, "The request was not sent completely."),
    }
}

impl LfsError {
    /// 422 with a message.
    pub(super) fn unprocessable(message: &'static str) -> Self {
        LfsError::Message(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    fn response(self, shared: &Shared) -> HttpResponse {
        let (status, message) = match self {
            LfsError::Refused(LfsRefusal::Off) => (
                StatusCode::NOT_IMPLEMENTED,
                "Git LFS is not enabled on this GitLab server, contact your admin.",
            ),
            LfsError::Refused(LfsRefusal::Challenge) => {
                return ErrorAnswer::Challenge.error_response();
            }
            LfsError::Refused(LfsRefusal::NoProject) => {
                return ErrorAnswer::NotFound.error_response();
            }
            LfsError::Refused(LfsRefusal::Hidden) | LfsError::NotFound => {
                (StatusCode::NOT_FOUND, "Not found.")
            }
            LfsError::Refused(LfsRefusal::Forbidden) => {
                (StatusCode::FORBIDDEN, "Access forbidden. Check your access level.")
            }
            LfsError::Refused(LfsRefusal::ProtocolOff(protocol)) => {
                (StatusCode::FORBIDDEN, protocol.refusal())
            }
            LfsError::Refused(LfsRefusal::Failed(error)) => {
                return ErrorAnswer::from(error).error_response();
            }
            LfsError::Git(answer) => return answer.error_response(),
            LfsError::OutdatedClient => (
                StatusCode::NOT_IMPLEMENTED,
                "Server supports batch API only, please update your Git LFS client to version 1.0.1 and up.",
            ),
            LfsError::Range(_) => {
                (StatusCode::RANGE_NOT_SATISFIABLE, "The range begins after the end of the object.")
            }
            LfsError::NoRoomNow => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Other uploads to this project and its forks take up the room for this object. Try again later.",
            ),
            LfsError::Message(status, message) => (status, message),
        };
        let body =
            json!({ "message": message, "documentation_url": shared.edge.links.to("/help") });
        let mut response = HttpResponse::build(status);
        match self {
            LfsError::Range(size) => {
                response.insert_header((CONTENT_RANGE, format!("bytes */{size}")));
            }
            LfsError::NoRoomNow => {
                response.insert_header((RETRY_AFTER, "10"));
            }
            _ => (),
        }
        response.content_type(MEDIA_TYPE).body(body.to_string())
    }
}

/// Returns the response of a handler.
pub(super) fn respond(shared: &Shared, outcome: Result<HttpResponse, LfsError>) -> HttpResponse {
    outcome.unwrap_or_else(|error| error.response(shared))
}
