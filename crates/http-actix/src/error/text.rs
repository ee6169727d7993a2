//! The texts of refusals, to the letter as clients of the API know them.

use hexforge_application::branch::DeletionRefusal;
use hexforge_application::error::{
    ActionRefusal, Conflict, Entity, FileRefusal, ForbiddenReason, ListRefusal, MergeRefusal,
    Missing, Refusal,
};
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::user::ProjectsLimit;

/// The reason behind `403 Forbidden  - `.
pub fn forbidden(reason: ForbiddenReason) -> &'static str {
    match reason {
        ForbiddenReason::SudoNeedsAdmin => "Must be admin to use sudo",
        ForbiddenReason::SudoNeedsPrivateToken => {
            "Private token must be specified in order to use sudo"
        }
        ForbiddenReason::BlockOfDirectory => "LDAP blocked users cannot be modified by the API",
        ForbiddenReason::UnblockOfDirectory => "LDAP blocked users cannot be unblocked by the API",
        ForbiddenReason::BuildNotRetryable => "Build is not retryable",
        ForbiddenReason::BuildNotErasable => "Build is not erasable!",
        ForbiddenReason::BuildErased => "Build has been erased!",
        ForbiddenReason::BuildNotRunning => "build is not running",
        ForbiddenReason::RunnerShared => "Runner is shared",
        ForbiddenReason::RunnerLocked => "Runner is locked",
        ForbiddenReason::RunnerHasProjects => "Runner associated with more than one project",
        ForbiddenReason::RunnerOnlyProject => {
            "Only one project associated with the runner. Please remove the runner instead"
        }
        ForbiddenReason::RunnerAccess => "No access granted",
    }
}

pub fn conflict(conflict: Conflict) -> &'static str {
    match conflict {
        Conflict::EmailTaken => "Email has already been taken",
        Conflict::UsernameTaken => "Username has already been taken",
        Conflict::MemberExists => "Member already exists",
        Conflict::LabelExists => "Label already exists",
        Conflict::ReleaseExists => "Release already exists",
        Conflict::AlreadyForked => "Project already forked",
        Conflict::AlreadyShared => "Group already shared with this group",
        Conflict::ShareLevel => "Group access is not included in the list",
        Conflict::SharedWithOwnGroup => "Project cannot be shared with the project it is in.",
        Conflict::RunnerEnabled => "Runner was already enabled for this project",
    }
}

pub fn not_found(thing: &Entity) -> String {
    let name = match thing {
        // Clients see which of these two it was by one letter.
        Entity::Record => return "404 Not found".to_owned(),
        Entity::Unnamed => return "404 Not Found".to_owned(),
        Entity::Member(user) => return format!("404 Member: user_id:{user} Not Found"),
        Entity::SudoTarget(name) => {
            return format!("404 No user id or username for: {name} Not Found");
        }
        Entity::User => "User",
        Entity::Key => "Key",
        Entity::DeployKey => "Deploy Key",
        Entity::Email => "Email",
        Entity::Group => "Group",
        Entity::Project => "Project",
        Entity::TargetNamespace => "Target Namespace",
        Entity::SystemHook => "System hook",
        Entity::Branch => "Branch",
        Entity::Tag => "Tag",
        Entity::Tree => "Tree",
        Entity::Commit => "Commit",
        Entity::File => "File",
        Entity::Blob => "Blob",
        Entity::Label => "Label",
        Entity::LabelToChange => "Label not found",
        Entity::Board => "Board",
        Entity::Notes => "Notes",
        Entity::Note => "Note",
        Entity::AwardEmoji => "Award Emoji",
        Entity::Snippet => "Snippet",
        Entity::Runner => "Runner",
        Entity::Service => "Service",
        Entity::Trigger => "Trigger",
        Entity::Variable => "Variable",
        Entity::References => "References for commit",
    };
    format!("404 {name} Not Found")
}

pub fn missing(missing: Missing) -> &'static str {
    match missing {
        Missing::Branch => "No such branch",
        Missing::Tag => "No such tag",
        Missing::TagOfRelease => "Tag does not exist",
        Missing::Release => "Release does not exist",
    }
}

pub fn merge_refusal(refusal: MergeRefusal) -> String {
    match refusal {
        MergeRefusal::NotReady(_) => "405 Method Not Allowed".to_owned(),
        MergeRefusal::Conflict => "Branch cannot be merged".to_owned(),
        MergeRefusal::HeadDiffers(head) => {
            format!("SHA does not match HEAD of source branch: {head}")
        }
        MergeRefusal::NoAutomaticMerge => "Can't cancel the automatic merge".to_owned(),
    }
}

pub fn list_refusal(refusal: ListRefusal) -> &'static str {
    match refusal {
        ListRefusal::NoLabel => "Label not found!",
        ListRefusal::Position => "List could not be moved!",
    }
}

pub fn branch_deletion_refused(kept: DeletionRefusal) -> &'static str {
    match kept {
        DeletionRefusal::Default => "Cannot remove HEAD branch",
        DeletionRefusal::Protected => "Protected branch cant be removed",
    }
}

pub fn projects_limit(ProjectsLimit(limit): ProjectsLimit) -> String {
    if limit == 0 {
        "Personal project creation is not allowed. Please contact your administrator with questions"
            .to_owned()
    } else {
        format!(
            "Your project limit is {limit} projects! Please contact your administrator to increase it"
        )
    }
}

pub fn refusal(refusal: &Refusal) -> String {
    let text = match refusal {
        Refusal::BranchName => "Branch name is invalid",
        Refusal::BranchExists => "Branch already exists",
        Refusal::BranchStart => "Invalid reference name",
        Refusal::BranchMoved(name) => {
            return format!("Could not update branch {name}. Please refresh and try again.");
        }
        Refusal::NotificationLevel(name) => return format!("'{name}' is not a valid level"),
        Refusal::TagName => "Tag name invalid",
        Refusal::TagExists(name) => return format!("Tag {name} already exists"),
        Refusal::TagTarget(target) => return format!("Target {target} is invalid"),
        Refusal::TagMoved(name) => {
            return format!("Could not update tag {name}. Please refresh and try again.");
        }
        Refusal::Push(refusal) => return format!("GitLab: {refusal}"),
        Refusal::BranchProtected => "You are not allowed to push into this branch",
        Refusal::NotOnBranch => "You can only create or edit files when you are on a branch",
        Refusal::Action(refusal) => return action_refusal(refusal),
        Refusal::File(refusal) => file_refusal(*refusal),
        Refusal::FileContent(path) => {
            return format!("The content of the file `{path}` is not valid in git");
        }
        Refusal::Author => "Invalid author",
        Refusal::CherryPick => CHERRY_PICK,
        Refusal::LargeHistory => "The history is too large to search it",
        Refusal::RepositoryFull => "The repository has reached its size limit",
        Refusal::TooManyEntries => "There are too many entries to list them",
        Refusal::SharingDisabled => "The project sharing with group is disabled",
        Refusal::MoveToSameProject => "Cannot move issue to project it originates from!",
        Refusal::MoveNotAllowed => "Cannot move issue due to insufficient permissions!",
        Refusal::NoBuilds => "No builds created",
        Refusal::BuildNotPlayable => "400 (Bad request) \"Unplayable Build\" not given",
        Refusal::StatusTransition { by, from } => return status_transition(*by, *from),
    };
    text.to_owned()
}

/// The 21 spaces are part of the text.
const CHERRY_PICK: &str = "Sorry, we cannot cherry-pick this commit automatically.
                     A cherry-pick may have already been performed with this commit, or a more \
recent commit may have updated some of its content.";

fn action_refusal(refusal: &ActionRefusal) -> String {
    match refusal {
        ActionRefusal::NoPath => "You must specify a file_path.".to_owned(),
        ActionRefusal::Traversal(path) => format!(
            "Your changes could not be committed, because the file name, `{path}` cannot include \
             directory traversal."
        ),
        ActionRefusal::PathCharacters(path) => format!(
            "Your changes could not be committed, because the file name, `{path}` can contain \
             only letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'."
        ),
        ActionRefusal::EmptyRepository(action) => format!("No files to {action}."),
        // The original service appends a `d` to every action.
        ActionRefusal::NotFound { action, path } => {
            format!("File to be {action}d `{path}` does not exist.")
        }
        ActionRefusal::Exists(path) => format!(
            "Your changes could not be committed because a file with the name `{path}` already \
             exists."
        ),
        ActionRefusal::NoPreviousPath(path) => {
            format!("You must supply the original file path when moving file `{path}`.")
        }
        ActionRefusal::DestinationExists(path) => {
            format!("Move destination `{path}` already exists.")
        }
        ActionRefusal::UnknownAction(action) => format!("Unknown action type `{action}`."),
    }
}

fn file_refusal(refusal: FileRefusal) -> &'static str {
    match refusal {
        FileRefusal::Traversal => {
            "Your changes could not be committed, because the file name cannot include directory \
             traversal."
        }
        FileRefusal::PathCharacters => {
            "Your changes could not be committed, because the file name can contain only letters, \
             digits, '_', '-', '@' and '.'. Separate directories with a '/'."
        }
        FileRefusal::Exists => {
            "Your changes could not be committed because a file with the same name already exists"
        }
        FileRefusal::InvalidPath => "Invalid path",
        FileRefusal::NotFound => "A file with this name doesn't exist",
        FileRefusal::Changed => "The file was changed meanwhile",
    }
}

fn status_transition(by: Transition, from: Option<Status>) -> String {
    let event = match by {
        Transition::Enqueue => "enqueue",
        Transition::Reopen => "reopen",
        Transition::Run => "run",
        Transition::Succeed => "success",
        Transition::Fail => "drop",
        Transition::Cancel => "cancel",
        Transition::Skip => "skip",
    };
    let from = from.map(Status::as_str).unwrap_or_default();
    format!(
        "Cannot transition status via :{event} from :{from} \
         (Reason(s): Status cannot transition via \"{event}\")"
    )
}

#[cfg(test)]
mod tests {
    use hexforge_domain::id::UserId;
    use hexforge_domain::policy::push::PushRefusal;

    use super::*;

    /// The wording of each refusal is part of the API. The matches above name every variant; this table does too.
    #[test]
    fn refusals_have_the_texts_that_clients_know() {
        for (refused, text) in [
            (Refusal::BranchName, "Branch name is invalid"),
            (Refusal::BranchExists, "Branch already exists"),
            (Refusal::BranchStart, "Invalid reference name"),
            (
                Refusal::BranchMoved("a/b".into()),
                "Could not update branch a/b. Please refresh and try again.",
            ),
            (Refusal::TagName, "Tag name invalid"),
            (Refusal::TagExists("v1".into()), "Tag v1 already exists"),
            (Refusal::TagTarget("x".into()), "Target x is invalid"),
            (
                Refusal::TagMoved("v1".into()),
                "Could not update tag v1. Please refresh and try again.",
            ),
            (
                Refusal::Push(PushRefusal::Protected),
                "GitLab: You are not allowed to push code to protected branches on this project.",
            ),
            (Refusal::BranchProtected, "You are not allowed to push into this branch"),
            (Refusal::NotOnBranch, "You can only create or edit files when you are on a branch"),
            (Refusal::FileContent("x".into()), "The content of the file `x` is not valid in git"),
            (Refusal::Author, "Invalid author"),
            (
                Refusal::CherryPick,
                "Sorry, we cannot cherry-pick this commit automatically.\n                     \
                 A cherry-pick may have already been performed with this commit, or a more recent \
                 commit may have updated some of its content.",
            ),
            (Refusal::LargeHistory, "The history is too large to search it"),
            (Refusal::RepositoryFull, "The repository has reached its size limit"),
            (Refusal::TooManyEntries, "There are too many entries to list them"),
            (Refusal::SharingDisabled, "The project sharing with group is disabled"),
            (Refusal::MoveToSameProject, "Cannot move issue to project it originates from!"),
            (Refusal::MoveNotAllowed, "Cannot move issue due to insufficient permissions!"),
            (Refusal::NoBuilds, "No builds created"),
            (Refusal::BuildNotPlayable, "400 (Bad request) \"Unplayable Build\" not given"),
            (
                Refusal::StatusTransition { by: Transition::Run, from: Some(Status::Success) },
                "Cannot transition status via :run from :success \
                 (Reason(s): Status cannot transition via \"run\")",
            ),
        ] {
            assert_eq!(refusal(&refused), text, "{refused:?}");
        }
    }

    /// commits_files.md 5.1.
    #[test]
    fn refused_actions_have_the_texts_that_clients_know() {
        use ActionRefusal::*;
        let missing = |action: &str| NotFound { action: action.into(), path: "x".into() };
        for (refused, text) in [
            (NoPath, "You must specify a file_path."),
            (
                Traversal("../x".into()),
                "Your changes could not be committed, because the file name, `../x` cannot \
                 include directory traversal.",
            ),
            (
                PathCharacters("x y".into()),
                "Your changes could not be committed, because the file name, `x y` can contain \
                 only letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'.",
            ),
            (EmptyRepository("update".into()), "No files to update."),
            (missing("update"), "File to be updated `x` does not exist."),
            (missing("dance"), "File to be danced `x` does not exist."),
            (
                Exists("x".into()),
                "Your changes could not be committed because a file with the name `x` already \
                 exists.",
            ),
            (
                NoPreviousPath("x".into()),
                "You must supply the original file path when moving file `x`.",
            ),
            (DestinationExists("x".into()), "Move destination `x` already exists."),
            (UnknownAction("dance".into()), "Unknown action type `dance`."),
        ] {
            assert_eq!(refusal(&Refusal::Action(refused)), text);
        }
    }

    /// commits_files.md 6.2.
    #[test]
    fn refused_files_have_the_texts_that_clients_know() {
        for (refused, text) in [
            (
                FileRefusal::Traversal,
                "Your changes could not be committed, because the file name cannot include \
                 directory traversal.",
            ),
            (
                FileRefusal::PathCharacters,
                "Your changes could not be committed, because the file name can contain only \
                 letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'.",
            ),
            (
                FileRefusal::Exists,
                "Your changes could not be committed because a file with the same name already \
                 exists",
            ),
            (FileRefusal::InvalidPath, "Invalid path"),
            (FileRefusal::NotFound, "A file with this name doesn't exist"),
            (FileRefusal::Changed, "The file was changed meanwhile"),
        ] {
            assert_eq!(refusal(&Refusal::File(refused)), text);
        }
    }

    #[test]
    fn conflicts_and_missing_things_have_the_texts_that_clients_know() {
        for (conflicting, text) in [
            (Conflict::EmailTaken, "Email has already been taken"),
            (Conflict::UsernameTaken, "Username has already been taken"),
            (Conflict::MemberExists, "Member already exists"),
            (Conflict::LabelExists, "Label already exists"),
            (Conflict::ReleaseExists, "Release already exists"),
            (Conflict::AlreadyForked, "Project already forked"),
            (Conflict::AlreadyShared, "Group already shared with this group"),
            (Conflict::ShareLevel, "Group access is not included in the list"),
            (Conflict::SharedWithOwnGroup, "Project cannot be shared with the project it is in."),
        ] {
            assert_eq!(conflict(conflicting), text, "{conflicting:?}");
        }
        for (absent, text) in [
            (Missing::Branch, "No such branch"),
            (Missing::Tag, "No such tag"),
            (Missing::TagOfRelease, "Tag does not exist"),
            (Missing::Release, "Release does not exist"),
        ] {
            assert_eq!(missing(absent), text, "{absent:?}");
        }
    }

    #[test]
    fn things_have_the_names_that_clients_know() {
        for (thing, text) in [
            (Entity::Record, "404 Not found"),
            (Entity::Unnamed, "404 Not Found"),
            (Entity::Member(UserId(7)), "404 Member: user_id:7 Not Found"),
            (Entity::SudoTarget("eve".into()), "404 No user id or username for: eve Not Found"),
            (Entity::User, "404 User Not Found"),
            (Entity::Key, "404 Key Not Found"),
            (Entity::Email, "404 Email Not Found"),
            (Entity::Group, "404 Group Not Found"),
            (Entity::Project, "404 Project Not Found"),
            (Entity::TargetNamespace, "404 Target Namespace Not Found"),
            (Entity::SystemHook, "404 System hook Not Found"),
            (Entity::Branch, "404 Branch Not Found"),
            (Entity::Tag, "404 Tag Not Found"),
            (Entity::Tree, "404 Tree Not Found"),
            (Entity::Commit, "404 Commit Not Found"),
            (Entity::File, "404 File Not Found"),
            (Entity::Blob, "404 Blob Not Found"),
            (Entity::Label, "404 Label Not Found"),
            (Entity::LabelToChange, "404 Label not found Not Found"),
            (Entity::Board, "404 Board Not Found"),
            (Entity::Notes, "404 Notes Not Found"),
            (Entity::Note, "404 Note Not Found"),
            (Entity::Trigger, "404 Trigger Not Found"),
            (Entity::Variable, "404 Variable Not Found"),
            (Entity::References, "404 References for commit Not Found"),
        ] {
            assert_eq!(not_found(&thing), text, "{thing:?}");
        }
    }

    #[test]
    fn reasons_have_the_texts_that_clients_know() {
        use ForbiddenReason::*;
        for (reason, text) in [
            (SudoNeedsAdmin, "Must be admin to use sudo"),
            (SudoNeedsPrivateToken, "Private token must be specified in order to use sudo"),
            (BlockOfDirectory, "LDAP blocked users cannot be modified by the API"),
            (UnblockOfDirectory, "LDAP blocked users cannot be unblocked by the API"),
            (BuildNotRetryable, "Build is not retryable"),
            (BuildNotErasable, "Build is not erasable!"),
            (BuildErased, "Build has been erased!"),
            (BuildNotRunning, "build is not running"),
        ] {
            assert_eq!(forbidden(reason), text, "{reason:?}");
        }
        assert_eq!(list_refusal(ListRefusal::NoLabel), "Label not found!");
        assert_eq!(list_refusal(ListRefusal::Position), "List could not be moved!");
        assert_eq!(branch_deletion_refused(DeletionRefusal::Default), "Cannot remove HEAD branch");
        assert_eq!(
            branch_deletion_refused(DeletionRefusal::Protected),
            "Protected branch cant be removed"
        );
    }
}
