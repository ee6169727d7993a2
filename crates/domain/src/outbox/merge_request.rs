//! Events of merge requests and their notes, for project hooks.

use super::parts::{Person, ProjectCard};
use super::project::NoteRow;
use crate::Timestamp;
use crate::commit::{Commit, ObjectId};
use crate::id::{MergeRequestId, MilestoneId, ProjectId, UserId};
use crate::merge_request::{MergeRequest, MergeRequestState, MergeStatus};
use crate::pipeline::CommitFacts;

/// A change of a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequestEvent {
    /// The kind of change.
    pub action: MergeRequestAction,
    /// The user who made the change.
    pub user: Person,
    /// The merge request after the change.
    pub request: HookedRequest,
    /// The assignee.
    pub assignee: Option<Person>,
    /// The previous tip of the source branch, if the change is a push to it.
    pub old_head: Option<ObjectId>,
}

/// A new note of a user on a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestNoteEvent {
    /// The author of the note.
    pub user: Person,
    /// The note.
    pub note: NoteRow,
    /// The merge request.
    pub request: HookedRequest,
}

/// A merge request with its projects and its last commit, as hook payloads show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookedRequest {
    /// The merge request.
    pub row: MergeRequestRow,
    /// The source project; `None` when it is deleted.
    pub source: Option<ProjectCard>,
    /// The target project, whose hooks receive the event.
    pub target: ProjectCard,
    /// The head; `None` when the source branch does not exist.
    pub last_commit: Option<LastCommit>,
}

/// The head of a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCommit {
    /// The id.
    pub id: ObjectId,
    /// Message, author and times.
    pub facts: CommitFacts,
}

impl From<&Commit> for LastCommit {
    fn from(commit: &Commit) -> Self {
        Self { id: commit.id, facts: CommitFacts::from(commit) }
    }
}

/// The kind of change of a merge request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRequestAction {
    /// The request was created.
    Open,
    /// The request was closed.
    Close,
    /// The request was reopened.
    Reopen,
    /// The request was merged.
    Merge,
    /// Any other change.
    Update,
}

impl MergeRequestAction {
    const ALL: [MergeRequestAction; 5] =
        [Self::Open, Self::Close, Self::Reopen, Self::Merge, Self::Update];

    /// The name of the action in hook payloads and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            MergeRequestAction::Open => "open",
            MergeRequestAction::Close => "close",
            MergeRequestAction::Reopen => "reopen",
            MergeRequestAction::Merge => "merge",
            MergeRequestAction::Update => "update",
        }
    }

    /// Parses the name of an action.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

/// The data of a merge request in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequestRow {
    /// See [`MergeRequest::id`].
    pub id: MergeRequestId,
    /// See [`MergeRequest::iid`].
    pub iid: i64,
    /// The source project, see [`MergeRequest::ends`].
    pub source_project: ProjectId,
    /// The source branch.
    pub source_branch: String,
    /// The target branch.
    pub target_branch: String,
    /// See [`MergeRequest::author`].
    pub author: UserId,
    /// See [`MergeRequest::assignee`].
    pub assignee: Option<UserId>,
    /// See [`MergeRequest::milestone`].
    pub milestone: Option<MilestoneId>,
    /// See [`MergeRequest::updated_by`].
    pub updated_by: Option<UserId>,
    /// See [`MergeRequest::title`].
    pub title: String,
    /// See [`MergeRequest::description`].
    pub description: Option<String>,
    /// See [`MergeRequest::state`].
    pub state: MergeRequestState,
    /// See [`MergeRequest::merge_status`].
    pub merge_status: MergeStatus,
    /// See [`MergeRequest::merge_commit`].
    pub merge_commit: Option<ObjectId>,
    /// See [`MergeRequest::automatic_merge`].
    pub automatic_merge: Option<AutomaticMergeRow>,
    /// See [`MergeRequest::created_at`].
    pub created_at: Timestamp,
    /// See [`MergeRequest::updated_at`].
    pub updated_at: Timestamp,
}

/// The data of an automatic merge in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutomaticMergeRow {
    /// The user on whose behalf the request is merged.
    pub user: UserId,
    /// The message of the merge commit.
    pub message: String,
    /// Whether the source branch is deleted after the merge.
    pub remove_source_branch: Option<bool>,
}

impl From<&MergeRequest> for MergeRequestRow {
    fn from(request: &MergeRequest) -> Self {
        let automatic = request.automatic_merge.as_ref().map(|automatic| AutomaticMergeRow {
            user: automatic.user,
            message: match &automatic.message {
                Some(message) => message.as_str().to_owned(),
                None => request.default_message(),
            },
            remove_source_branch: automatic.remove_source_branch,
        });
        Self {
            id: request.id,
            iid: request.iid,
            source_project: request.ends.source_project,
            source_branch: request.ends.source_branch.as_str().to_owned(),
            target_branch: request.ends.target_branch.as_str().to_owned(),
            author: request.author,
            assignee: request.assignee,
            milestone: request.milestone,
            updated_by: request.updated_by,
            title: request.title.as_str().to_owned(),
            description: request.description.as_ref().map(|text| text.as_str().to_owned()),
            state: request.state,
            merge_status: request.merge_status,
            merge_commit: request.merge_commit,
            automatic_merge: automatic,
            created_at: request.created_at,
            updated_at: request.updated_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_word() {
        for action in MergeRequestAction::ALL {
            assert_eq!(MergeRequestAction::parse(action.as_str()), Some(action));
        }
        assert_eq!(MergeRequestAction::parse("approve"), None);
    }
}
