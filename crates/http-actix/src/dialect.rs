//! The two dialects: every row of docs/dialects.md is a function here, and nothing else in the
//! program knows that there are two.

use std::str::FromStr;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::branch::DeletionRefusal;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::edit::NameRule;
use hexforge_application::project::fork::ForkTarget;
use hexforge_application::user::Deletion;
use hexforge_application::view::user::FullUser;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::ProjectHookId;
use hexforge_domain::label::ColorRule;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::project::hook::ProjectHook;

use crate::entities::hook::ProjectHookJson;
use crate::error::{ApiError, ApiResult, text};
use crate::respond;

/// The dialect of the API: it selects the response where the specification and the original service differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Responses of the specification.
    #[default]
    Specification,
    /// Responses of the original service, for which today's clients were written.
    Original,
}

/// There is no dialect with this name.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownDialect;

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        match name {
            "specification" => Ok(Self::Specification),
            "original" => Ok(Self::Original),
            _ => Err(UnknownDialect),
        }
    }
}

impl Dialect {
    /// The name of the dialect in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Specification => "specification",
            Self::Original => "original",
        }
    }

    /// Rows 1 to 3: the status after a branch, a label or a list of a board was created.
    pub fn created(self) -> StatusCode {
        match self {
            Self::Specification => StatusCode::OK,
            Self::Original => StatusCode::CREATED,
        }
    }

    /// Row 4: the error if a tag cannot be created.
    pub fn tag_refused(self, error: Error) -> ApiError {
        match (self, &error) {
            (Self::Specification, Error::Refused(_)) => {
                ApiError::from(error).with_status(StatusCode::METHOD_NOT_ALLOWED)
            }
            (Self::Specification | Self::Original, _) => error.into(),
        }
    }

    /// Row 5: the error if a branch cannot be removed.
    pub fn branch_deletion_refused(self, kept: DeletionRefusal) -> ApiError {
        let status = match self {
            Self::Specification => StatusCode::BAD_REQUEST,
            Self::Original => StatusCode::METHOD_NOT_ALLOWED,
        };
        ApiError::message(status, text::branch_deletion_refused(kept))
    }

    /// Row 6: the parameters of which an update of a label needs at least one.
    pub fn label_changes(self, given: impl Fn(&str) -> bool) -> &'static [&'static str] {
        const ALL: [&str; 4] = ["new_name", "color", "description", "priority"];
        match self {
            Self::Specification if ALL.iter().any(|name| given(name)) => &ALL[..2],
            Self::Specification | Self::Original => &ALL,
        }
    }

    /// Row 7: the permission to remove lists of a board.
    pub fn ability_to_delete_lists(self) -> TrackerAbility {
        match self {
            Self::Specification => TrackerAbility::DeleteLists,
            Self::Original => TrackerAbility::AdministerLists,
        }
    }

    /// Row 8: the valid colours of a label.
    pub fn color_rule(self) -> ColorRule {
        match self {
            Self::Specification => ColorRule::Long,
            Self::Original => ColorRule::LongOrShort,
        }
    }

    /// Row 9: the page of a short list, such as a user's keys, if the request names none.
    pub fn default_page(self, first: Page) -> Page {
        match self {
            Self::Specification => first,
            Self::Original => Page::Whole,
        }
    }

    /// Row 10: whether an update of a project must contain its name.
    pub fn project_name_rule(self) -> NameRule {
        match self {
            Self::Specification => NameRule::Required,
            Self::Original => NameRule::Optional,
        }
    }

    /// Row 11: the target of a fork, also if the request names no namespace.
    pub fn fork_target(self, namespace: Option<String>) -> ApiResult<ForkTarget> {
        match (self, namespace) {
            (Self::Specification | Self::Original, Some(named)) => Ok(ForkTarget::Named(named)),
            (Self::Specification, None) => Err(Error::NotGiven("namespace").into()),
            (Self::Original, None) => Ok(ForkTarget::Own),
        }
    }

    /// Row 12: the response if the project hook to be removed does not exist.
    pub fn removed_hook(
        self,
        id: ProjectHookId,
        hook: Option<ProjectHook>,
    ) -> ApiResult<HttpResponse> {
        match (self, hook) {
            (Self::Specification | Self::Original, Some(hook)) => {
                respond::ok(ProjectHookJson::from(hook))
            }
            (Self::Specification, None) => Ok(HttpResponse::Ok().finish()),
            (Self::Original, None) => Err(ApiError::message(
                StatusCode::NOT_FOUND,
                format!("404 Error deleting hook {id} Not Found"),
            )),
        }
    }

    /// Row 13: the error if a user is given the name or e-mail address of another one.
    pub fn taken_on_update(self, error: Error) -> ApiError {
        match (self, &error) {
            (Self::Specification, Error::Conflict(_)) => {
                ApiError::from(error).with_status(StatusCode::NOT_FOUND)
            }
            (Self::Specification | Self::Original, _) => error.into(),
        }
    }

    /// Row 14: the user that the response to a deletion shows, also if the user does not exist.
    pub fn deleted_user(self, deletion: Deletion) -> ApiResult<Option<Box<FullUser>>> {
        match (self, deletion) {
            (Self::Specification | Self::Original, Deletion::Deleted(user)) => Ok(Some(user)),
            (Self::Specification, Deletion::Missing) => Ok(None),
            (Self::Original, Deletion::Missing) => Err(Error::NotFound(Entity::User).into()),
            // The only owner of a group is not deleted, in both dialects.
            (Self::Specification | Self::Original, Deletion::SoleOwner) => Ok(None),
        }
    }

    /// Row 15: the error if a key is registered already. In the specification it names the key beside its fingerprint.
    pub fn used_key(self, error: Error) -> ApiError {
        let taken = "has already been taken";
        match (self, error) {
            (Self::Specification, Error::Invalid(fields))
                if fields.messages("fingerprint") == [taken] =>
            {
                let mut fields: FieldErrors = fields;
                fields.add("key", taken);
                Error::Invalid(fields).into()
            }
            (Self::Specification | Self::Original, error) => error.into(),
        }
    }
}
