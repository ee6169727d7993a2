//! Merge requests: the entity, its input type, and the values that belong to it.

pub mod automatic;
pub mod branch;
pub mod message;
pub mod port;
pub mod push;
pub mod query;
pub mod readiness;
pub mod state;
pub mod status;
pub mod validity;
pub mod version;
pub mod wip;

pub use crate::milestone::Title;
pub use automatic::AutomaticMerge;
pub use branch::RequestBranch;
pub use push::BranchPush;
pub use state::{MergeRequestCommand, MergeRequestState};
pub use status::MergeStatus;
pub use version::{NewVersion, Version};

use crate::Timestamp;
use crate::commit::ObjectId;
use crate::id::{MergeRequestId, MilestoneId, ProjectId, UserId};
use crate::refs::reserved::MERGE_REQUESTS;
use crate::text::LongText;

/// A merge request as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequest {
    /// Assigned by the store, never reused.
    pub id: MergeRequestId,
    /// The number in the target project, from 1 on.
    pub iid: i64,
    /// The two branches.
    pub ends: Ends,
    /// The author.
    pub author: UserId,
    /// The user who has to review and merge the request.
    pub assignee: Option<UserId>,
    /// The milestone of the target project that the request belongs to.
    pub milestone: Option<MilestoneId>,
    /// The last editor, if the request was edited.
    pub updated_by: Option<UserId>,
    /// The title, one line.
    pub title: Title,
    /// The description; `None` when it was never given.
    pub description: Option<LongText>,
    /// Opened, reopened, closed or merged.
    pub state: MergeRequestState,
    /// Whether the branches can be merged, as far as it was checked.
    pub merge_status: MergeStatus,
    /// The head of the newest version. `None` when the source branch did not exist at that time.
    pub head: Option<ObjectId>,
    /// The merge commit, if the request was merged through this service.
    pub merge_commit: Option<ObjectId>,
    /// The wish to merge as soon as the pipeline of the head succeeds.
    pub automatic_merge: Option<AutomaticMerge>,
    /// The versions of the repositories whose pushes the newest version includes.
    pub seen: SeenVersions,
    /// The number of notes written by users; system notes do not count.
    pub user_notes_count: u32,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last edit or note.
    pub updated_at: Timestamp,
}

impl MergeRequest {
    /// Returns whether a user is the author or the assignee.
    pub fn concerns(&self, user: UserId) -> bool {
        self.author == user || self.assignee == Some(user)
    }

    /// The target project, to which the number and all rights belong.
    pub fn project(&self) -> ProjectId {
        self.ends.target_project
    }

    /// The ref of the target repository that points to the head of the newest version.
    pub fn head_ref(&self) -> String {
        format!("{MERGE_REQUESTS}{}/head", self.iid)
    }
}

/// The branches of a merge request. They need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The project of the source branch. It keeps its id after the project was deleted.
    pub source_project: ProjectId,
    /// The branch whose commits are merged.
    pub source_branch: RequestBranch,
    /// The project of the target branch, and of the merge request.
    pub target_project: ProjectId,
    /// The branch into which the commits are merged.
    pub target_branch: RequestBranch,
}

impl Ends {
    /// Returns whether the branches belong to different projects.
    pub fn is_from_fork(&self) -> bool {
        self.source_project != self.target_project
    }
}

/// The versions of both repositories, see
/// [`RepositoryState::version`](crate::refs::RepositoryState::version), up to which pushes are included in the newest
/// version of a merge request. A queued push with a lower or equal number was handled already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenVersions {
    /// The version of the source repository.
    pub source: i64,
    /// The version of the target repository.
    pub target: i64,
}

/// The input for a new merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMergeRequest {
    /// See [`MergeRequest::ends`].
    pub ends: Ends,
    /// See [`MergeRequest::author`].
    pub author: UserId,
    /// See [`MergeRequest::assignee`].
    pub assignee: Option<UserId>,
    /// See [`MergeRequest::milestone`].
    pub milestone: Option<MilestoneId>,
    /// See [`MergeRequest::title`].
    pub title: Title,
    /// See [`MergeRequest::description`].
    pub description: Option<LongText>,
    /// The creation time.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests_support {
    use super::*;

    /// A request to merge `topic` into `master`.
    pub(super) fn a_request() -> MergeRequest {
        let branch = |name: &str| RequestBranch::stored(name.to_owned());
        MergeRequest {
            id: MergeRequestId(1),
            iid: 7,
            ends: Ends {
                source_project: ProjectId(1),
                source_branch: branch("topic"),
                target_project: ProjectId(1),
                target_branch: branch("master"),
            },
            author: UserId(1),
            assignee: None,
            milestone: None,
            updated_by: None,
            title: Title::stored("Add a".into()),
            description: None,
            state: MergeRequestState::Opened,
            merge_status: MergeStatus::Unchecked,
            head: None,
            merge_commit: None,
            automatic_merge: None,
            seen: SeenVersions::default(),
            user_notes_count: 0,
            created_at: chrono::DateTime::UNIX_EPOCH,
            updated_at: chrono::DateTime::UNIX_EPOCH,
        }
    }
}
