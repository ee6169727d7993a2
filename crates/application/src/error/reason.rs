//! The reasons why a use case refuses, one type per kind of response. The texts here are for logs and the command line;
//! each transport has its own.

use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::policy::push::PushRefusal;

/// Why the caller lacks permission, where the response states the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForbiddenReason {
    #[error("only administrators may use sudo")]
    SudoNeedsAdmin,
    #[error("sudo needs a private token")]
    SudoNeedsPrivateToken,
    #[error("the directory blocked the user, so the API cannot block them")]
    BlockOfDirectory,
    #[error("the directory blocked the user, so the API cannot unblock them")]
    UnblockOfDirectory,
    #[error("the build cannot be retried")]
    BuildNotRetryable,
    #[error("the build cannot be erased")]
    BuildNotErasable,
    #[error("the build is erased")]
    BuildErased,
    #[error("the build is not running")]
    BuildNotRunning,
}

/// A duplicate, or a conflict with stored rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    #[error("another account has this e-mail address")]
    EmailTaken,
    #[error("another account has this username")]
    UsernameTaken,
    #[error("the group or user is a member already")]
    MemberExists,
    #[error("a label of this name exists already")]
    LabelExists,
    #[error("the tag has a release already")]
    ReleaseExists,
    #[error("the project is a fork already")]
    AlreadyForked,
    #[error("the project is shared with the group already")]
    AlreadyShared,
    #[error("projects cannot be shared with this access level")]
    ShareLevel,
    #[error("a project cannot be shared with its own group")]
    SharedWithOwnGroup,
}

/// An object that does not exist, in calls that do not use [`Entity`](super::Entity).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("the branch to delete does not exist")]
    Branch,
    #[error("the tag to delete does not exist")]
    Tag,
    #[error("the tag of the release does not exist")]
    TagOfRelease,
    #[error("the tag has no release")]
    Release,
}

/// Why a list of an issue board cannot be added or moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListRefusal {
    #[error("the label of the list does not exist")]
    NoLabel,
    #[error("the list cannot be moved to this position")]
    Position,
}

/// Why a domain rule does not allow a change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the branch name is invalid")]
    BranchName,
    #[error("the branch exists already")]
    BranchExists,
    #[error("the revision at which the branch should start does not exist")]
    BranchStart,
    #[error("the branch `{0}` was changed meanwhile, or its name is a folder of other branches")]
    BranchMoved(String),
    #[error("the tag name is invalid")]
    TagName,
    #[error("the tag `{0}` exists already")]
    TagExists(String),
    #[error("the target `{0}` of the tag does not exist")]
    TagTarget(String),
    #[error("the tag `{0}` was changed meanwhile, or its name is a folder of other tags")]
    TagMoved(String),
    #[error("the rules for pushes do not allow the change: {0}")]
    Push(PushRefusal),
    #[error("the repository has reached its size limit")]
    RepositoryFull,
    #[error("the folder has too many entries to list them")]
    TooManyEntries,
    #[error("the namespace does not allow sharing with groups")]
    SharingDisabled,
    #[error("the issue is in the target project already")]
    MoveToSameProject,
    #[error("the caller may not move issues between these projects")]
    MoveNotAllowed,
    #[error("the pipeline would have no builds")]
    NoBuilds,
    #[error("the build is not a manual build that waits to be started")]
    BuildNotPlayable,
    #[error("the transition {by:?} is not possible from the status {from:?}")]
    StatusTransition {
        /// The requested transition.
        by: Transition,
        /// The current status.
        from: Option<Status>,
    },
}
