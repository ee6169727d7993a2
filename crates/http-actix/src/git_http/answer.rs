//! Answers to git clients, which are no JSON.

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

/// Why a client does not get what it asks for.
#[derive(Debug)]
pub(super) enum Answer {
    /// The caller has to sign in.
    Challenge,
    NotFound,
    /// With a text, which git does not show and other clients do.
    Denied(&'static str),
    Unsupported(&'static str),
    /// The client says what no client says.
    Wrong(String),
    Busy,
    /// An error in the format of the API.
    Other(ApiError),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl From<GitRefusal> for Answer {
    fn from(refusal: GitRefusal) -> Self {
        match refusal {
            GitRefusal::Challenge => Answer::Challenge,
            GitRefusal::NotFound => Answer::NotFound,
            GitRefusal::Forbidden(_) => Answer::Denied("Access denied"),
            GitRefusal::Failed(error) => error.into(),
        }
    }
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        match error {
            Error::Unauthenticated => Answer::Challenge,
            Error::Git(GitError::Protocol(what)) => Answer::Wrong(what),
            Error::Store(StoreError::Busy) | Error::Git(GitError::Busy) => Answer::Busy,
            error => Answer::Other(error.into()),
        }
    }
}

impl From<ApiError> for Answer {
    fn from(error: ApiError) -> Self {
        Answer::Other(error)
    }
}

impl ResponseError for Answer {
    fn status_code(&self) -> StatusCode {
        match self {
            Answer::Challenge => StatusCode::UNAUTHORIZED,
            Answer::NotFound => StatusCode::NOT_FOUND,
            Answer::Denied(_) => StatusCode::FORBIDDEN,
            Answer::Unsupported(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Answer::Wrong(_) => StatusCode::BAD_REQUEST,
            Answer::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Answer::Other(error) => error.status_code(),
        }
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        response.insert_header((CONTENT_TYPE, "text/plain; charset=utf-8"));
        match self {
            Answer::Challenge => response
                .insert_header((WWW_AUTHENTICATE, "Basic realm=\"GitLab\""))
                .body("HTTP Basic: Access denied\n"),
            Answer::NotFound => response.body("Not Found"),
            Answer::Denied(text) | Answer::Unsupported(text) => response.body(*text),
            Answer::Wrong(what) => response.body(format!("The request is not understood: {what}")),
            Answer::Busy => response
                .insert_header((RETRY_AFTER, "10"))
                .body("Too many clients are served at this moment."),
            Answer::Other(error) => error.error_response(),
        }
    }
}

/// The beginning of an answer that nobody may keep.
pub(super) fn uncached(media_type: &str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, media_type))
        .insert_header((EXPIRES, "Fri, 01 Jan 1980 00:00:00 GMT"))
        .insert_header((PRAGMA, "no-cache"))
        .insert_header((CACHE_CONTROL, "no-cache, max-age=0, must-revalidate"));
    response
}
