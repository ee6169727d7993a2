//! The only mapping from errors to pages.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{LOCATION, RETRY_AFTER};
use askama::Template;
use hexforge_application::error::Error;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::store::StoreError;

use crate::address;
use crate::forms::{self, SentFields};
use crate::frame::{Frame, ProjectFrame};
use crate::render;
use crate::visit::{Viewer, Visit};

/// The result of a page.
pub(crate) type PageResult<T> = Result<T, PageError>;

/// An error page, with the visitor whose frame it has.
#[derive(Debug)]
pub(crate) struct PageError(Box<Answer>);

#[derive(Debug)]
struct Answer {
    kind: Kind,
    viewer: Viewer,
    place: Option<MissingPlace>,
}

/// A branch, tag, file or folder that a project does not have. Only those who may read the code learn of it.
#[derive(Debug)]
pub(crate) struct MissingPlace {
    /// The frame of the project.
    pub(crate) project: ProjectFrame,
    /// What does not exist.
    pub(crate) text: String,
    /// The name and the address of the nearest place that exists.
    pub(crate) nearest: (String, String),
}

/// The kinds of error pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The visitor has to sign in first.
    SignIn,
    NotFound,
    /// The action is not permitted.
    Refused,
    /// The form did not come from a page of this service.
    Forged,
    /// The form came without a valid token: its session has ended. The page shows what was typed.
    Ended,
    BadRequest,
    TooLarge,
    TooSlow,
    /// Too many requests; the number of seconds to wait.
    Throttled(u64),
    /// The server has too much to do; the number of seconds to wait.
    Busy(u64),
    /// Too many visitors who are not signed in read costly pages.
    BusyForStrangers,
    StorageFull,
    Internal,
}

impl Kind {
    fn status(self) -> StatusCode {
        match self {
            Kind::SignIn => StatusCode::FOUND,
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::Refused | Kind::Forged | Kind::Ended => StatusCode::FORBIDDEN,
            Kind::BadRequest => StatusCode::BAD_REQUEST,
            Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Kind::Throttled(_) => StatusCode::TOO_MANY_REQUESTS,
            Kind::Busy(_) | Kind::BusyForStrangers => StatusCode::SERVICE_UNAVAILABLE,
            Kind::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
            Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The heading, and what to do.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Kind::SignIn => ("Sign in", "Sign in to see this page."),
            Kind::NotFound => (
                "Page not found",
                "The address may be mistyped, the page may have been removed, or you may not be \
                 allowed to see it.",
            ),
            Kind::Refused => {
                ("Not allowed", "You are not allowed to do this. Nothing was changed.")
            }
            Kind::Forged => (
                "Not allowed",
                "The form did not come from this site. Nothing was changed. Go back, reload the \
                 page, and send the form again.",
            ),
            Kind::Ended => (
                "Not allowed",
                "The session of the form has ended, or the form did not come from this site. Nothing was \
                 changed.",
            ),
            Kind::BadRequest => ("Bad request", "The request could not be understood."),
            Kind::TooLarge => ("Too large", "What you sent is too large. Nothing was changed."),
            Kind::TooSlow => ("Too slow", "The form took too long to arrive. Nothing was changed."),
            Kind::Throttled(_) => ("Too many requests", "Wait a moment and try again."),
            Kind::Busy(_) => ("Busy", "The server has too much to do. Try again in some seconds."),
            Kind::BusyForStrangers => (
                "Busy",
                "Too many visitors read pages like this one. Try again in some seconds, or sign in to \
                 go on.",
            ),
            Kind::StorageFull => {
                ("Storage is full", "Nothing was stored. Tell the administrators of this service.")
            }
            Kind::Internal => (
                "Something went wrong",
                "It is not your fault. Tell the administrators the request id below.",
            ),
        }
    }

    /// The seconds after which a visitor may try again.
    fn retry_after(self) -> Option<u64> {
        match self {
            Kind::Throttled(seconds) | Kind::Busy(seconds) => Some(seconds),
            Kind::BusyForStrangers => Some(10),
            _ => None,
        }
    }
}

impl PageError {
    fn new(kind: Kind, viewer: Viewer) -> Self {
        Self(Box::new(Answer { kind, viewer, place: None }))
    }

    /// The page of an error of a use case. What a visitor may not see does not exist: only actions are refused.
    pub(crate) fn of(error: Error, viewer: Viewer, is_action: bool) -> Self {
        let kind = match error {
            Error::Unauthenticated | Error::NotFound(_) | Error::Missing(_) => Kind::NotFound,
            Error::Throttled(seconds) => Kind::Throttled(seconds),
            Error::Store(StoreError::Busy) => Kind::Busy(1),
            Error::Git(GitError::Busy | GitError::Unfinished) => Kind::Busy(5),
            // Another request removed or moved it meanwhile.
            Error::Git(GitError::Missing) | Error::Store(StoreError::Gone) => Kind::NotFound,
            Error::Store(StoreError::Full(_)) | Error::Git(GitError::Full(_)) => Kind::StorageFull,
            Error::Files(error) if error.is_full() => Kind::StorageFull,
            Error::Store(StoreError::Unreachable(_)) | Error::Git(GitError::Unreachable(_)) => {
                tracing::warn!(cause = %error, "the storage does not answer");
                Kind::Busy(5)
            }
            Error::Files(error) if error.is_unreachable() => {
                tracing::warn!(cause = %error, "the file storage does not answer");
                Kind::Busy(5)
            }
            // The branch was changed by somebody else, or a name is not valid in git.
            Error::Git(GitError::Conflict(_) | GitError::Invalid(_) | GitError::Protocol(_)) => {
                if is_action {
                    Kind::Refused
                } else {
                    Kind::NotFound
                }
            }
            error @ (Error::Store(_)
            | Error::Files(_)
            | Error::Git(_)
            | Error::Vault(_)
            | Error::Internal(_)) => {
                tracing::error!(cause = %error, "a page failed");
                Kind::Internal
            }
            _ if is_action => Kind::Refused,
            _ => Kind::NotFound,
        };
        Self::new(kind, viewer)
    }

    pub(crate) fn not_found(viewer: Viewer) -> Self {
        Self::new(Kind::NotFound, viewer)
    }

    /// The error of a place that a project does not have.
    pub(crate) fn no_place(viewer: Viewer, place: MissingPlace) -> Self {
        Self(Box::new(Answer { kind: Kind::NotFound, viewer, place: Some(place) }))
    }

    /// Whether the page does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.0.kind == Kind::NotFound
    }

    /// Sends the visitor to the sign-in, which leads back.
    pub(crate) fn sign_in() -> Self {
        Self::new(Kind::SignIn, Viewer::default())
    }

    pub(crate) fn busy_for_strangers() -> Self {
        Self::new(Kind::BusyForStrangers, Viewer::default())
    }

    pub(crate) fn forged() -> Self {
        Self::new(Kind::Forged, Viewer::default())
    }

    /// Refuses a form whose session has ended.
    pub(crate) fn ended(viewer: Viewer) -> Self {
        Self::new(Kind::Ended, viewer)
    }

    /// Whether a form was refused because its session has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.0.kind == Kind::Ended
    }

    pub(crate) fn bad_request() -> Self {
        Self::new(Kind::BadRequest, Viewer::default())
    }

    pub(crate) fn too_large() -> Self {
        Self::new(Kind::TooLarge, Viewer::default())
    }

    pub(crate) fn throttled(seconds: u64) -> Self {
        Self::new(Kind::Throttled(seconds), Viewer::default())
    }

    pub(crate) fn busy(seconds: u64) -> Self {
        Self::new(Kind::Busy(seconds), Viewer::default())
    }

    pub(crate) fn too_slow() -> Self {
        Self::new(Kind::TooSlow, Viewer::default())
    }

    pub(crate) fn internal(cause: &str) -> Self {
        tracing::error!(cause, "a page failed");
        Self::new(Kind::Internal, Viewer::default())
    }

    /// The response. Without a visit, nothing of the frame is known.
    pub(crate) fn into_page(self, visit: Option<&Visit>) -> HttpResponse {
        let Answer { kind, viewer, place } = *self.0;
        let Some(visit) = visit else { return HttpResponse::build(kind.status()).finish() };
        let back = address::value(&visit.here());
        let sign_in = format!("/users/sign_in?return_to={back}");
        if kind == Kind::SignIn {
            return HttpResponse::Found().insert_header((LOCATION, sign_in)).finish();
        }
        let (heading, advice) = kind.texts();
        let is_stranger = viewer.signed_in().is_none();
        let sign_in = match kind {
            Kind::NotFound | Kind::BusyForStrangers if is_stranger => Some(sign_in),
            _ => None,
        };
        let refused = (kind == Kind::Ended).then(|| RefusedForm::of(visit, is_stranger));
        let (project, missing, nearest) = match place {
            Some(MissingPlace { project, text, nearest }) => {
                (Some(project), Some(text), Some(nearest))
            }
            None => (None, None, None),
        };
        let page = ErrorPage {
            frame: match project {
                Some(project) => Frame::of_project(visit, &viewer, heading, project),
                None => Frame::new(visit, &viewer, heading),
            },
            missing,
            nearest,
            heading,
            advice,
            sign_in,
            refused,
            // All pages of missing and of hidden things have the same bytes.
            request_id: (kind != Kind::NotFound).then(|| render::request_id(visit)).flatten(),
        };
        let mut response = render::page_with(kind.status(), visit, &viewer, &page);
        if let Some(seconds) = kind.retry_after()
            && let Ok(value) = seconds.to_string().parse()
        {
            response.headers_mut().insert(RETRY_AFTER, value);
        }
        response
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: Frame,
    heading: &'static str,
    advice: &'static str,
    /// What does not exist, and where to go instead.
    missing: Option<String>,
    nearest: Option<(String, String)>,
    sign_in: Option<String>,
    refused: Option<RefusedForm>,
    request_id: Option<String>,
}

/// A form whose session has ended. Its visitor can send it again, so that nothing typed is lost.
struct RefusedForm {
    action: String,
    /// The page that had the form, if it is known.
    page: Option<String>,
    /// The address to sign in, for visitors without a session.
    sign_in: Option<String>,
    /// The names of fields that the visitor typed, for their labels and for the form, and the values.
    typed: Vec<(String, String, String)>,
    hidden: Vec<(String, String)>,
    /// Whether the form had secrets, which have to be typed again in its own page.
    lacks_secrets: bool,
}

impl RefusedForm {
    fn of(visit: &Visit, is_stranger: bool) -> Self {
        let SentFields { typed, hidden, lacks_secrets } = visit.form().sent();
        let given = visit.form().given(forms::FORM_PAGE);
        let given = given.map(|page| address::return_to(Some(page)).to_owned());
        let page = given.or_else(|| visit.page_of_form()).filter(|page| page != "/");
        // Without the page of the form, there may be no page to return to.
        let sign_in = page.as_deref().map_or_else(
            || "/users/sign_in".to_owned(),
            |page| format!("/users/sign_in?return_to={}", address::value(page)),
        );
        Self {
            action: visit.path_and_query(),
            page,
            sign_in: is_stranger.then_some(sign_in),
            typed: typed.into_iter().map(|(name, value)| (label(&name), name, value)).collect(),
            hidden,
            lacks_secrets,
        }
    }
}

/// A label for a field of a form, by its name.
fn label(name: &str) -> String {
    let words = name.trim_end_matches("[]").replace(['_', '[', ']'], " ");
    let mut letters = words.trim().chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use hexforge_application::error::Entity;

    use super::*;

    /// Nothing that passes by itself, or that others caused, is an internal error.
    #[test]
    fn errors_have_their_pages() {
        type Case = (fn() -> Error, Kind, Kind);
        let errors: [Case; 7] = [
            (|| Error::NotFound(Entity::Project), Kind::NotFound, Kind::NotFound),
            (|| Error::Forbidden(None), Kind::NotFound, Kind::Refused),
            (|| Error::Store(StoreError::Busy), Kind::Busy(1), Kind::Busy(1)),
            (|| Error::Store(StoreError::Gone), Kind::NotFound, Kind::NotFound),
            (|| Error::Git(GitError::Unfinished), Kind::Busy(5), Kind::Busy(5)),
            (|| Error::Git(GitError::Conflict("x".into())), Kind::NotFound, Kind::Refused),
            (|| Error::Internal("x".into()), Kind::Internal, Kind::Internal),
        ];
        for (error, page, action) in errors {
            let kind = |is_action| PageError::of(error(), Viewer::default(), is_action).0.kind;
            assert_eq!((kind(false), kind(true)), (page, action), "{}", error());
        }
    }
}
