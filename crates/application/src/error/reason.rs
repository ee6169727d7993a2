//! The reasons why a use case refuses, one type per kind of response. The texts here are for logs and the command line;
//! each transport has its own.

use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::merge_request::readiness::NotReady;
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
    #[error("the runner is shared")]
    RunnerShared,
    #[error("the runner is locked to its projects")]
    RunnerLocked,
    #[error("the runner has more than one project")]
    RunnerHasProjects,
    #[error("the runner has no other project")]
    RunnerOnlyProject,
    #[error("the runner serves none of the caller's projects")]
    RunnerAccess,
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
    #[error("the runner is enabled for the project already")]
    RunnerEnabled,
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

/// Why a merge request cannot be merged, or its automatic merge not canceled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeRefusal {
    #[error(transparent)]
    NotReady(NotReady),
    #[error("the branches conflict")]
    Conflict,
    #[error("the head of the merge request is {0}")]
    HeadDiffers(ObjectId),
    #[error("the merge request has no automatic merge")]
    NoAutomaticMerge,
}

/// Why an action of a commit with several actions cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionRefusal {
    #[error("the action has no path")]
    NoPath,
    #[error("the path `{0}` contains `..`")]
    Traversal(String),
    #[error("the path `{0}` contains characters or components that are not allowed")]
    PathCharacters(String),
    #[error("the repository is empty, so there is no file for the action `{0}`")]
    EmptyRepository(String),
    #[error("there is no file `{path}` for the action `{action}`")]
    NotFound {
        /// The name of the action.
        action: String,
        /// The path of the file.
        path: String,
    },
    #[error("the path `{0}` is taken")]
    Exists(String),
    #[error("the action that moves a file to `{0}` has no previous path")]
    NoPreviousPath(String),
    #[error("the new path `{0}` of a moved file is taken")]
    DestinationExists(String),
    #[error("the action `{0}` is unknown")]
    UnknownAction(String),
}

/// Why the change of a single file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileRefusal {
    #[error("the path contains `..`")]
    Traversal,
    #[error("the path contains characters or components that are not allowed")]
    PathCharacters,
    #[error("the path is taken")]
    Exists,
    #[error("the path leads out of the repository or is not valid in git")]
    InvalidPath,
    #[error("the file does not exist")]
    NotFound,
    #[error("the file was changed meanwhile")]
    Changed,
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
    #[error("the branch is protected against pushes of the caller")]
    BranchProtected,
    #[error("there is no branch of this name to commit to")]
    NotOnBranch,
    #[error(transparent)]
    Action(ActionRefusal),
    #[error(transparent)]
    File(FileRefusal),
    #[error("git does not accept this content in the file `{0}`")]
    FileContent(String),
    #[error("the name or the e-mail address of the author is invalid")]
    Author,
    #[error("the commit conflicts with the branch, or the branch contains the change already")]
    CherryPick,
    #[error("the history is too large to search it")]
    LargeHistory,
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
    #[error("the notification level `{0}` is unknown")]
    NotificationLevel(String),
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
