//! Builders of merge requests.

use super::{a_moment, a_title};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::merge_request::{Ends, NewMergeRequest, RequestBranch};

/// The name of a branch of a merge request.
pub fn a_request_branch(name: &str) -> RequestBranch {
    RequestBranch::stored(name.to_owned())
}

/// A merge request of the branch `topic` into `master` of the same project, without an assignee.
pub fn a_merge_request(project: ProjectId, author: UserId, title: &str) -> NewMergeRequest {
    NewMergeRequest {
        ends: Ends {
            source_project: project,
            source_branch: a_request_branch("topic"),
            target_project: project,
            target_branch: a_request_branch("master"),
        },
        author,
        assignee: None,
        milestone: None,
        title: a_title(title),
        description: None,
        at: a_moment(),
    }
}
