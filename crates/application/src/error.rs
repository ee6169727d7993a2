//! The errors of use cases. They name the meaning; each transport maps them to its own responses.

use std::fmt;

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::UserId;
use hexforge_domain::merge_request::validity::InvalidRequest;
use hexforge_domain::policy::Denied;
use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::ports::vault::VaultError;
use hexforge_domain::user::ProjectsLimit;

mod reason;

pub use reason::{
    ActionRefusal, Conflict, FileRefusal, ForbiddenReason, ListRefusal, MergeRefusal, Missing,
    Refusal,
};

/// The error type of all use cases.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller is not authenticated.
    #[error("the caller is not authenticated")]
    Unauthenticated,
    /// The password is correct, but this account may only sign in with a token.
    #[error("the account has a second factor, so it can only sign in with a token")]
    SecondFactor,
    /// The bearer token has expired or was revoked.
    #[error("the token is {0}")]
    StaleToken(StaleToken),
    /// The caller may not do this.
    #[error("forbidden{}", .0.map(|reason| format!(": {reason}")).unwrap_or_default())]
    Forbidden(Option<ForbiddenReason>),
    /// The object does not exist, or the caller may not know that it exists.
    #[error("{0:?} not found")]
    NotFound(Entity),
    /// A required field is missing.
    #[error("the required field `{0}` is missing")]
    NotGiven(&'static str),
    /// Fields that violate validation rules.
    #[error("invalid: {0}")]
    Invalid(FieldErrors),
    /// A unique object or value exists already.
    #[error(transparent)]
    Conflict(Conflict),
    /// Fields that conflict with stored rows.
    #[error("conflicting: {0}")]
    ConflictingFields(FieldErrors),
    /// A domain rule does not allow the change.
    #[error(transparent)]
    Refused(Refusal),
    /// The object does not exist, in a call that has its own response for this case.
    #[error(transparent)]
    Missing(Missing),
    /// The branches of a merge request do not fit, or another open merge request has the same ones.
    #[error(transparent)]
    InvalidMergeRequest(InvalidRequest),
    /// The merge request cannot be merged now.
    #[error(transparent)]
    MergeRefused(MergeRefusal),
    /// The rules of issue boards do not allow the change.
    #[error(transparent)]
    ListRefused(ListRefusal),
    /// The number is not an access level.
    #[error("the access level is unknown")]
    UnknownAccessLevel,
    /// The URL of the hook is not an HTTP URL.
    #[error("the URL of the hook is not an http or https URL")]
    HookUrl,
    /// The user has reached this project limit.
    #[error("the user has reached the limit of {} projects", .0.0)]
    LimitReached(ProjectsLimit),
    /// Too many failed attempts; the caller has to wait this many seconds.
    #[error("too many failed attempts: try again in {0} seconds")]
    Throttled(u64),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Files could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A stored secret could not be decrypted.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The server could not run the use case.
    #[error("{0}")]
    Internal(String),
}

/// Why a token is no longer valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleToken {
    /// The token has passed its expiry time.
    Expired,
    /// The token was revoked.
    Revoked,
}

impl fmt::Display for StaleToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StaleToken::Expired => "expired",
            StaleToken::Revoked => "revoked",
        })
    }
}

/// The kind of object that was not found. It selects the text of the API response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A row looked up by its id; the API response does not name its kind.
    Record,
    /// A user, where the API response names it.
    User,
    /// An SSH key, where the API response names it.
    Key,
    /// A deploy key, where the API response names it.
    DeployKey,
    /// An e-mail address, where the API response names it.
    Email,
    /// A group, where the API response names it.
    Group,
    /// A project, where the API response names it.
    Project,
    /// The target namespace of a fork, where the API response names it.
    TargetNamespace,
    /// A system hook, where the API response names it.
    SystemHook,
    /// A branch.
    Branch,
    /// A tag.
    Tag,
    /// A folder of a repository.
    Tree,
    /// A commit.
    Commit,
    /// A file of a repository.
    File,
    /// The content of a file.
    Blob,
    /// An object that the API response does not name: the text is only `404 Not Found`.
    Unnamed,
    /// A label, where the API response names it.
    Label,
    /// The label of a change request; the API response says twice that it was not found.
    LabelToChange,
    /// A board, where the API response names it.
    Board,
    /// The issue of a request for its notes; the API response says that the notes were not found.
    Notes,
    /// A snippet, where the API response names it.
    Snippet,
    /// A note, where the API response names it.
    Note,
    /// A runner, where the API response names it.
    Runner,
    /// An award, or the hidden object of a request for its awards, where the API response names it.
    AwardEmoji,
    /// A service, where the API response names it.
    Service,
    /// A trigger, where the API response names it.
    Trigger,
    /// A variable, where the API response names it.
    Variable,
    /// The branches and tags that contain a commit, when there are none.
    References,
    /// A member of a group.
    Member(UserId),
    /// The user named in a sudo request.
    SudoTarget(String),
}

impl From<FieldErrors> for Error {
    fn from(errors: FieldErrors) -> Self {
        Error::Invalid(errors)
    }
}

impl Error {
    /// Maps a denial of the policy about this object to an error.
    pub fn denied(denied: Denied, thing: Entity) -> Self {
        match denied {
            Denied::Unauthenticated => Error::Unauthenticated,
            Denied::Hidden => Error::NotFound(thing),
            Denied::Forbidden => Error::Forbidden(None),
        }
    }
}
