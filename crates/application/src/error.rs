//! Why a use case did not do what was asked for: by meaning, not by transport.

use std::fmt;

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::UserId;
use hexforge_domain::policy::Denied;
use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::ports::vault::VaultError;
use hexforge_domain::user::ProjectsLimit;

mod reason;

pub use reason::{Conflict, ForbiddenReason, ListRefusal, Missing, Refusal};

/// The one error of all use cases.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller is not known.
    #[error("the caller is not known")]
    Unauthenticated,
    /// The password would be right, but this account signs in by token only.
    #[error("the account has a second factor")]
    SecondFactor,
    /// A bearer token that was good once.
    #[error("the token is {0}")]
    StaleToken(StaleToken),
    /// The caller may not do this.
    #[error("forbidden{}", .0.map(|reason| format!(": {reason}")).unwrap_or_default())]
    Forbidden(Option<ForbiddenReason>),
    /// What was named does not exist, or the caller may not learn that it does.
    #[error("{0:?} not found")]
    NotFound(Thing),
    /// A field without which nothing can be done.
    #[error("`{0}` is not given")]
    NotGiven(&'static str),
    /// Fields that do not fit the rules.
    #[error("invalid: {0}")]
    Invalid(FieldErrors),
    /// Something exists already that may exist only once.
    #[error(transparent)]
    Conflict(Conflict),
    /// Fields that clash with what is there.
    #[error("conflicting: {0}")]
    ConflictingFields(FieldErrors),
    /// The rules of the thing at hand do not allow it.
    #[error(transparent)]
    Refused(Refusal),
    /// What was named does not exist, in a call that answers in its own way.
    #[error(transparent)]
    Missing(Missing),
    /// The rules of boards do not allow it.
    #[error(transparent)]
    ListRefused(ListRefusal),
    /// The number is not an access level.
    #[error("the access level is unknown")]
    UnknownAccessLevel,
    /// An address to which no hook can be sent.
    #[error("the address of the hook is no http address")]
    HookUrl,
    /// The user has as many projects as this limit allows.
    #[error("the user may not have more than {} projects", .0.0)]
    LimitReached(ProjectsLimit),
    /// Too many failures; the caller has to wait this many seconds.
    #[error("too many failures, wait {0} s")]
    Throttled(u64),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Files could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// What was sealed does not open.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// What has become of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleToken {
    /// Its time is over.
    Expired,
    /// It was taken back.
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

/// What was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A row looked up by its id, which the interface does not name.
    Record,
    /// A user, where the interface names it.
    User,
    /// A key, where the interface names it.
    Key,
    /// An e-mail address, where the interface names it.
    Email,
    /// A group, where the interface names it.
    Group,
    /// A project, where the interface names it.
    Project,
    /// The namespace into which something was to go.
    TargetNamespace,
    /// A system hook, where the interface names it.
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
    /// Something that only the call itself names.
    Nameless,
    /// A label, where the interface names it.
    Label,
    /// A label that was to be changed, which the interface names twice.
    LabelToChange,
    /// A board, where the interface names it.
    Board,
    /// The notes on something.
    Notes,
    /// A note, where the interface names it.
    Note,
    /// A trigger, where the interface names it.
    Trigger,
    /// A variable, where the interface names it.
    Variable,
    /// Branches and tags of a commit, of which there is none.
    References,
    /// A member of a group.
    Member(UserId),
    /// The user of a sudo request.
    SudoTarget(String),
}

impl From<FieldErrors> for Error {
    fn from(errors: FieldErrors) -> Self {
        Error::Invalid(errors)
    }
}

impl Error {
    /// The refusal of the policy, about this thing.
    pub fn denied(denied: Denied, thing: Thing) -> Self {
        match denied {
            Denied::Unauthenticated => Error::Unauthenticated,
            Denied::Hidden => Error::NotFound(thing),
            Denied::Forbidden => Error::Forbidden(None),
        }
    }
}
