//! The only mapping from errors to responses.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use hexforge_application::error::{Error, MergeRefusal, StaleToken};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::merge_request::validity::InvalidRequest;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::store::StoreError;
use serde_json::{Map, Value, json};

pub(crate) mod text;

/// The result of a handler.
pub type ApiResult<T> = Result<T, ApiError>;

/// An error response. Its body is `{"message": …}` or `{"error": …}`; the code that raises the error chooses, because
/// clients rely on it.
#[derive(Debug)]
pub struct ApiError(Box<Answer>);

#[derive(Debug)]
struct Answer {
    status: StatusCode,
    body: Value,
    header: Option<(HeaderName, HeaderValue)>,
    /// Nothing was stored, and a retry may succeed.
    busy: bool,
    /// The call changed nothing, and a retry continues its search.
    unfinished: bool,
}

impl ApiError {
    /// An error of a rule or a lookup: `{"message": …}`.
    pub fn message(status: StatusCode, message: impl Into<Value>) -> Self {
        Self::new(status, json!({ "message": message.into() }))
    }

    /// A malformed request, or an unknown route: `{"error": …}`.
    pub fn error(status: StatusCode, error: impl Into<Value>) -> Self {
        Self::new(status, json!({ "error": error.into() }))
    }

    fn new(status: StatusCode, body: Value) -> Self {
        Self(Box::new(Answer { status, body, header: None, busy: false, unfinished: false }))
    }

    /// 400 for a malformed request.
    pub fn bad_request(error: impl Into<Value>) -> Self {
        Self::error(StatusCode::BAD_REQUEST, error)
    }

    /// 404 for an unknown path, or for a method that the path does not have.
    pub fn no_route() -> Self {
        Self::error(StatusCode::NOT_FOUND, "404 Not Found")
    }

    /// 500. The cause is logged, and the response does not show it.
    pub fn internal(cause: &dyn fmt::Display) -> Self {
        tracing::error!(%cause, "a request failed");
        Self::message(StatusCode::INTERNAL_SERVER_ERROR, "500 Internal Server Error")
    }

    /// Whether the transaction was rolled back because of a conflict, so that a retry may succeed.
    pub fn is_busy(&self) -> bool {
        self.0.busy
    }

    /// Whether the call changed nothing and a retry continues its search.
    pub fn is_unfinished(&self) -> bool {
        self.0.unfinished
    }

    /// 503 with `Retry-After`.
    fn unavailable(seconds: &str) -> Self {
        Self::message(StatusCode::SERVICE_UNAVAILABLE, "503 Service Unavailable")
            .with_header(header::RETRY_AFTER, seconds)
    }

    /// 507: the disk is full. The cause is logged for the operator.
    fn storage_full(cause: &dyn fmt::Display) -> Self {
        tracing::error!(%cause, "the disk is full: a request could not be stored");
        Self::message(StatusCode::INSUFFICIENT_STORAGE, "507 Insufficient Storage")
    }

    /// The body as text, for responses that actix does not send.
    pub(crate) fn body(&self) -> String {
        self.0.body.to_string()
    }

    fn busy(mut self) -> Self {
        self.0.busy = true;
        self
    }

    fn unfinished(mut self) -> Self {
        self.0.unfinished = true;
        self
    }

    /// Replaces the status.
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.0.status = status;
        self
    }

    /// Adds a header.
    pub fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        self.0.header = HeaderValue::from_str(value).ok().map(|value| (name, value));
        self
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.status, self.0.body)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.0.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.0.status);
        if let Some(header) = &self.0.header {
            response.insert_header(header.clone());
        }
        response.json(&self.0.body)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Unauthenticated => Self::message(StatusCode::UNAUTHORIZED, "401 Unauthorized"),
            Error::SecondFactor => Self::message(
                StatusCode::UNAUTHORIZED,
                "401 Unauthorized. You have 2FA enabled. Please use a personal access token to \
                 access the API",
            ),
            Error::StaleToken(stale) => stale_token(stale),
            Error::Forbidden(None) => Self::message(StatusCode::FORBIDDEN, "403 Forbidden"),
            // Two spaces: clients compare the text.
            Error::Forbidden(Some(reason)) => {
                let reason = text::forbidden(reason);
                Self::message(StatusCode::FORBIDDEN, format!("403 Forbidden  - {reason}"))
            }
            Error::NotFound(thing) => Self::message(StatusCode::NOT_FOUND, text::not_found(&thing)),
            Error::NotGiven(field) => Self::message(
                StatusCode::BAD_REQUEST,
                format!("400 (Bad request) \"{field}\" not given"),
            ),
            Error::Invalid(fields) => Self::message(StatusCode::BAD_REQUEST, field_map(&fields)),
            Error::Conflict(conflict) => {
                Self::message(StatusCode::CONFLICT, text::conflict(conflict))
            }
            Error::ConflictingFields(fields) => {
                Self::message(StatusCode::CONFLICT, field_map(&fields))
            }
            Error::Refused(refusal) => {
                Self::message(StatusCode::BAD_REQUEST, text::refusal(&refusal))
            }
            Error::Missing(missing) => Self::message(StatusCode::NOT_FOUND, text::missing(missing)),
            Error::InvalidMergeRequest(invalid) => {
                let text = json!([invalid.to_string()]);
                match invalid {
                    InvalidRequest::SameBranch | InvalidRequest::NotAFork => {
                        Self::error(StatusCode::UNPROCESSABLE_ENTITY, text)
                    }
                    InvalidRequest::Twin { .. } => Self::message(StatusCode::CONFLICT, text),
                }
            }
            Error::MergeRefused(refusal) => merge_refused(refusal),
            Error::ListRefused(refusal) => {
                let text = text::list_refusal(refusal);
                Self::message(StatusCode::BAD_REQUEST, json!({ "error": text }))
            }
            Error::UnknownAccessLevel => {
                Self::message(StatusCode::UNPROCESSABLE_ENTITY, "Access level is not known")
            }
            Error::HookUrl => Self::error(StatusCode::UNPROCESSABLE_ENTITY, "Invalid url given"),
            Error::LimitReached(limit) => {
                Self::error(StatusCode::FORBIDDEN, json!([text::projects_limit(limit)]))
            }
            Error::Throttled(seconds) => {
                Self::message(StatusCode::TOO_MANY_REQUESTS, "429 Too Many Requests")
                    .with_header(header::RETRY_AFTER, &seconds.to_string())
            }
            // Another call removed it meanwhile. The response is the same as for a later request.
            Error::Store(StoreError::Gone) => Self::message(StatusCode::NOT_FOUND, "404 Not found"),
            Error::Store(error @ StoreError::Busy) => {
                tracing::warn!(cause = %Chain(&error), "a request conflicts with others");
                Self::unavailable("1").busy()
            }
            Error::Store(error @ StoreError::Unreachable(_)) => {
                tracing::warn!(cause = %Chain(&error), "the database is away");
                Self::unavailable("5")
            }
            Error::Store(error @ StoreError::Full(_)) => Self::storage_full(&Chain(&error)),
            Error::Store(error) => Self::internal(&Chain(&error)),
            Error::Files(error) if error.is_full() => Self::storage_full(&Chain(&error)),
            Error::Files(error) if error.is_unreachable() => {
                tracing::warn!(cause = %Chain(&error), "the file storage does not answer");
                Self::unavailable("5")
            }
            Error::Files(error) => Self::internal(&Chain(&error)),
            Error::Vault(error) => Self::internal(&Chain(&error)),
            Error::Internal(cause) => Self::internal(&cause),
            Error::Git(error @ GitError::Full(_)) => Self::storage_full(&Chain(&error)),
            Error::Git(error @ GitError::Unreachable(_)) => {
                tracing::warn!(cause = %Chain(&error), "the pack store does not answer");
                Self::unavailable("5")
            }
            Error::Git(GitError::Busy) => Self::unavailable("5").busy(),
            Error::Git(GitError::Unfinished) => Self::unavailable("5").unfinished(),
            // Another call removed or moved it meanwhile.
            Error::Git(GitError::Missing) => Self::message(StatusCode::NOT_FOUND, "404 Not found"),
            Error::Git(GitError::Conflict(name)) => Self::message(
                StatusCode::CONFLICT,
                format!("Could not update {name}. Please refresh and try again."),
            ),
            Error::Git(GitError::Protocol(what)) => {
                Self::message(StatusCode::BAD_REQUEST, format!("400 (Bad request) {what}"))
            }
            Error::Git(GitError::Invalid(what)) => {
                Self::message(StatusCode::BAD_REQUEST, format!("400 (Bad request) {what}"))
            }
            Error::Git(
                error @ (GitError::Corrupt(_)
                | GitError::Failed(_)
                | GitError::TooLarge
                | GitError::ReaderGone(_)),
            ) => Self::internal(&Chain(&error)),
        }
    }
}

impl ApiError {
    /// The project limit as an error of a field, as some calls report it.
    pub fn limit_as_field(status: StatusCode, error: Error) -> Self {
        match error {
            Error::LimitReached(limit) => {
                Self::message(status, json!({ "limit_reached": [text::projects_limit(limit)] }))
            }
            error => error.into(),
        }
    }

    /// Invalid fields in one sentence, as some calls report them.
    pub fn sentence(beginning: &str, error: Error) -> Self {
        match error {
            Error::Invalid(fields) => Self::message(
                StatusCode::BAD_REQUEST,
                format!("{beginning} {}", inspected(&fields)),
            ),
            error => error.into(),
        }
    }

    /// An emoji that cannot be given. Invalid fields are part of the text about what was not found.
    pub fn award_refused(error: Error) -> Self {
        match error {
            Error::Invalid(fields) => {
                let text = format!("404 Award Emoji {} Not Found", inspected(&fields));
                Self::message(StatusCode::NOT_FOUND, text)
            }
            error => error.into(),
        }
    }
}

/// Fields and messages as Ruby prints a hash, because clients of the original service know this form.
fn inspected(fields: &FieldErrors) -> String {
    let quoted = |text: &String| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let fields: Vec<String> = fields
        .iter()
        .map(|(field, messages)| {
            let messages: Vec<String> = messages.iter().map(quoted).collect();
            format!(":{field}=>[{}]", messages.join(", "))
        })
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn merge_refused(refusal: MergeRefusal) -> ApiError {
    let status = match refusal {
        MergeRefusal::NotReady(_) => StatusCode::METHOD_NOT_ALLOWED,
        MergeRefusal::Conflict | MergeRefusal::NoAutomaticMerge => StatusCode::NOT_ACCEPTABLE,
        MergeRefusal::HeadDiffers(_) => StatusCode::CONFLICT,
    };
    ApiError::message(status, text::merge_refusal(refusal))
}

fn stale_token(stale: StaleToken) -> ApiError {
    let description = match stale {
        StaleToken::Expired => {
            "Token is expired. You can either do re-authorization or token refresh."
        }
        StaleToken::Revoked => "Token was revoked. You have to re-authorize from the user.",
    };
    let challenge = format!(
        "Bearer realm=\"Protected by OAuth 2.0\", error=\"invalid_token\", \
         error_description=\"{description}\""
    );
    ApiError::new(
        StatusCode::UNAUTHORIZED,
        json!({ "error": "invalid_token", "error_description": description }),
    )
    .with_header(header::WWW_AUTHENTICATE, &challenge)
}

fn field_map(fields: &FieldErrors) -> Value {
    let mut map = Map::new();
    for (field, messages) in fields.iter() {
        map.insert(field.to_owned(), json!(messages));
    }
    Value::Object(map)
}

/// An error with all its causes, for the log.
struct Chain<'a>(&'a (dyn std::error::Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
