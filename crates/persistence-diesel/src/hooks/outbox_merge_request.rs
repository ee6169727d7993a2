//! The JSON form of merge request events in the outbox.

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{MergeRequestId, MilestoneId, ProjectId, UserId};
use hexforge_domain::merge_request::{MergeRequestState, MergeStatus};
use hexforge_domain::outbox::merge_request::{
    AutomaticMergeRow, HookedRequest, LastCommit, MergeRequestAction, MergeRequestEvent,
    MergeRequestRow, RequestNoteEvent,
};
use hexforge_domain::outbox::project::{NoteRow, Person, ProjectCard};
use hexforge_domain::pipeline::CommitFacts;

use crate::database::json::stored;

stored! {
    MergeRequestEvent {
        action: MergeRequestAction,
        user: Person,
        request: HookedRequest,
        #[serde(default)] assignee: Option<Person>,
        #[serde(default, rename = "oldrev")] old_head: Option<ObjectId>,
    }

    RequestNoteEvent {
        user: Person,
        note: NoteRow,
        request: HookedRequest,
    }

    HookedRequest {
        row: MergeRequestRow,
        #[serde(default)] source: Option<ProjectCard>,
        target: ProjectCard,
        #[serde(default)] last_commit: Option<LastCommit>,
    }

    LastCommit {
        id: ObjectId,
        facts: CommitFacts,
    }

    MergeRequestRow {
        id: MergeRequestId,
        iid: i64,
        #[serde(rename = "source_project_id")] source_project: ProjectId,
        source_branch: String,
        target_branch: String,
        #[serde(rename = "author_id")] author: UserId,
        #[serde(default, rename = "assignee_id")] assignee: Option<UserId>,
        #[serde(default, rename = "milestone_id")] milestone: Option<MilestoneId>,
        #[serde(default, rename = "updated_by_id")] updated_by: Option<UserId>,
        title: String,
        #[serde(default)] description: Option<String>,
        state: MergeRequestState,
        merge_status: MergeStatus,
        #[serde(default, rename = "merge_commit_sha")] merge_commit: Option<ObjectId>,
        #[serde(default)] automatic_merge: Option<AutomaticMergeRow>,
        created_at: Timestamp,
        updated_at: Timestamp,
    }

    AutomaticMergeRow {
        #[serde(rename = "user_id")] user: UserId,
        message: String,
        #[serde(rename = "should_remove_source_branch", default)] remove_source_branch: Option<bool>,
    }
}
