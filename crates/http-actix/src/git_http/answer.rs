//! Error responses to git clients. They are plain text, not JSON.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, EXPIRES, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE,
};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use hexforge_application::error::Error;
use hexforge_application::git_access::GitRefusal;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::store::StoreError;

use crate::error::ApiError;

/// An error response to a git client.
#[derive(Debug)]
pub(super) enum ErrorAnswer {
    /// The caller has to sign in.
    Challenge,
    NotFound,
    /// 403 with a text, which other clients show but git does not.
    Denied(&'static str),
    Unsupported(&'static str),
    /// The request violates the git protocol.
    Malformed(String),
    Busy,
    /// An error in the format of the API.
    Other(ApiError),
}

impl fmt::Display for ErrorAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl From<GitRefusal> for ErrorAnswer {
    fn from(refusal: GitRefusal) -> Self {
        match refusal {
            GitRefusal::Challenge => ErrorAnswer::Challenge,
            GitRefusal::NotFound => ErrorAnswer::NotFound,
            GitRefusal::Forbidden(_) => ErrorAnswer::Denied("Access denied"),
            GitRefusal::ProtocolOff(protocol) => ErrorAnswer::Denied(protocol.refusal()),
            GitRefusal::Failed(error) => error.into(),
        }
    }
}

impl From<Error> for ErrorAnswer {
    fn from(error: Error) -> Self {
        match error {
            Error::Unauthenticated => ErrorAnswer::Challenge,
            Error::NotFound(_) => ErrorAnswer::NotFound,
            Error::Git(GitError::Protocol(what)) => ErrorAnswer::Malformed(what),
            Error::Store(StoreError::Busy) | Error::Git(GitError::Busy) => ErrorAnswer::Busy,
            error => ErrorAnswer::Other(error.into()),
        }
    }
}

impl From<ApiError> for ErrorAnswer {
    fn from(error: ApiError) -> Self {
        ErrorAnswer::Other(error)
    }
}

impl ResponseError for ErrorAnswer {
    fn status_code(&self) -> StatusCode {
        match self {
            ErrorAnswer::Challenge => StatusCode::UNAUTHORIZED,
            ErrorAnswer::NotFound => StatusCode::NOT_FOUND,
            ErrorAnswer::Denied(_) => StatusCode::FORBIDDEN,
            ErrorAnswer::Unsupported(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorAnswer::Malformed(_) => StatusCode::BAD_REQUEST,
            ErrorAnswer::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ErrorAnswer::Other(error) => error.status_code(),
        }
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        response.insert_header((CONTENT_TYPE, "text/plain; charset=utf-8"));
        match self {
            ErrorAnswer::Challenge => response
                .insert_header((WWW_AUTHENTICATE, "Basic realm=\"GitLab\""))
                .body("HTTP Basic: Access denied\n"),
            ErrorAnswer::NotFound => response.body("Not Found"),
            ErrorAnswer::Denied(text) | ErrorAnswer::Unsupported(text) => response.body(*text),
            ErrorAnswer::Malformed(what) => {
                response.body(format!("The request is not understood: {what}"))
            }
            ErrorAnswer::Busy => response
                .insert_header((RETRY_AFTER, "10"))
                .body("Too many clients are served at this moment."),
            ErrorAnswer::Other(error) => error.error_response(),
        }
    }
}

/// Begins a successful response that must not be cached.
pub(super) fn uncached(media_type: &str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, media_type))
        .insert_header((EXPIRES, "Fri, 01 Jan 1980 00:00:00 GMT"))
        .insert_header((PRAGMA, "no-cache"))
        .insert_header((CACHE_CONTROL, "no-cache, max-age=0, must-revalidate"));
    response
}
