//! The two dialects: every row of docs/dialects.md is a function here, and nothing else in the
//! program knows that there are two.

use std::str::FromStr;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::branch::Kept;
use hexforge_application::error::{Error, Thing};
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

/// The dialect of the interface, for the calls on which specification and original service differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Responses of the specification.
    #[default]
    Specification,
    /// Responses of the original service, for which today's clients were written.
    Original,
}

/// No dialect of that name.
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
    /// The name by which it is chosen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Specification => "specification",
            Self::Original => "original",
        }
    }

    /// Row 1: a branch was made.
    pub fn created_branch(self) -> StatusCode {
        match self {
            Self::Specification => StatusCode::OK,
            Self::Original => StatusCode::CREATED,
        }
    }

    /// Row 4: a tag cannot be made.
    pub fn tag_refused(self, error: Error) -> ApiError {
        match (self, &error) {
            (Self::Specification, Error::Refused(_)) => {
                ApiError::from(error).with_status(StatusCode::METHOD_NOT_ALLOWED)
            }
            (Self::Specification | Self::Original, _) => error.into(),
        }
    }

    /// Row 5: a branch is not removed.
    pub fn branch_kept(self, kept: Kept) -> ApiError {
        let status = match self {
            Self::Specification => StatusCode::BAD_REQUEST,
            Self::Original => StatusCode::METHOD_NOT_ALLOWED,
        };
        ApiError::message(status, text::branch_kept(kept))
    }

    /// Row 2: the answer to a new label.
    pub fn created_label(self) -> StatusCode {
        match self {
            Self::Specification => StatusCode::OK,
            Self::Original => StatusCode::CREATED,
        }
    }

    /// Row 3: the answer to a new list of a board.
    pub fn created_board_list(self) -> StatusCode {
        match self {
            Self::Specification => StatusCode::OK,
            Self::Original => StatusCode::CREATED,
        }
    }

    /// Row 6: of which changes of a label at least one has to be given.
    pub fn changes_of_a_label(self, given: impl Fn(&str) -> bool) -> &'static [&'static str] {
        const ALL: [&str; 4] = ["new_name", "color", "description", "priority"];
        match self {
            Self::Specification if ALL.iter().any(|name| given(name)) => &ALL[..2],
            Self::Specification | Self::Original => &ALL,
        }
    }

    /// Row 7: what somebody has to be allowed to who removes lists of a board.
    pub fn ability_to_delete_lists(self) -> TrackerAbility {
        match self {
            Self::Specification => TrackerAbility::DeleteLists,
            Self::Original => TrackerAbility::AdministerLists,
        }
    }

    /// Row 8: which colours a label may have.
    pub fn color_rule(self) -> ColorRule {
        match self {
            Self::Specification => ColorRule::Long,
            Self::Original => ColorRule::LongOrShort,
        }
    }

    /// Row 9: what a list that hangs on one entity shows when no page is asked for.
    pub fn unasked_page(self, first: Page) -> Page {
        match self {
            Self::Specification => first,
            Self::Original => Page::Whole,
        }
    }

    /// Row 10: whether a change of a project has to name it.
    pub fn project_name_rule(self) -> NameRule {
        match self {
            Self::Specification => NameRule::Required,
            Self::Original => NameRule::Optional,
        }
    }

    /// Row 11: where a fork goes that names no namespace.
    pub fn fork_target(self, namespace: Option<String>) -> ApiResult<ForkTarget> {
        match (self, namespace) {
            (Self::Specification | Self::Original, Some(named)) => Ok(ForkTarget::Named(named)),
            (Self::Specification, None) => Err(Error::NotGiven("namespace").into()),
            (Self::Original, None) => Ok(ForkTarget::Own),
        }
    }

    /// Row 12: removing a hook of a project that is not there.
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

    /// Row 13: changing a user to a name or address that another one has.
    pub fn taken_on_update(self, error: Error) -> ApiError {
        match (self, &error) {
            (Self::Specification, Error::Conflict(_)) => {
                ApiError::from(error).with_status(StatusCode::NOT_FOUND)
            }
            (Self::Specification | Self::Original, _) => error.into(),
        }
    }

    /// Row 14: deleting a user who is not there. Whom the answer shows.
    pub fn deleted_user(self, deletion: Deletion) -> ApiResult<Option<Box<FullUser>>> {
        match (self, deletion) {
            (Self::Specification | Self::Original, Deletion::Deleted(user)) => Ok(Some(user)),
            (Self::Specification, Deletion::Missing) => Ok(None),
            (Self::Original, Deletion::Missing) => Err(Error::NotFound(Thing::User).into()),
            // The only owner of a group stays with it, in both.
            (Self::Specification | Self::Original, Deletion::SoleOwner) => Ok(None),
        }
    }

    /// Row 15: registering a key that somebody has registered. The specification names the key
    /// beside its fingerprint.
    pub fn used_key(self, error: Error) -> ApiError {
        let taken = "has already been taken";
        match (self, error) {
            (Self::Specification, Error::Invalid(fields))
                if fields.of("fingerprint") == [taken] =>
            {
                let mut fields: FieldErrors = fields;
                fields.add("key", taken);
                Error::Invalid(fields).into()
            }
            (Self::Specification | Self::Original, error) => error.into(),
        }
    }
}
