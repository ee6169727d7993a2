//! The rows of merge requests.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{MergeRequestId, MilestoneId, ProjectId, UserId};
use hexforge_domain::merge_request::{
    AutomaticMerge, Ends, MergeRequest, MergeRequestState, MergeStatus, RequestBranch,
    SeenVersions, Title,
};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::LongText;

use crate::database::schema::merge_requests;
use crate::database::time::{to_naive, to_utc};

#[derive(Queryable)]
pub(super) struct MergeRequestRow {
    pub id: i64,
    project_id: i64,
    iid: i64,
    source_project_id: i64,
    source_branch: String,
    target_branch: String,
    author_id: i64,
    assignee_id: Option<i64>,
    milestone_id: Option<i64>,
    updated_by_id: Option<i64>,
    title: String,
    description: Option<String>,
    state: String,
    merge_status: String,
    head: Option<Vec<u8>>,
    merge_commit: Option<Vec<u8>>,
    merge_user_id: Option<i64>,
    merge_message: Option<String>,
    merge_removes_source: Option<bool>,
    seen_source: i64,
    seen_target: i64,
    user_notes_count: i32,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<MergeRequestRow> for MergeRequest {
    type Error = StoreError;

    fn try_from(row: MergeRequestRow) -> Result<Self, StoreError> {
        let message = long_text(row.merge_message)?;
        let automatic_merge = row.merge_user_id.map(|user| AutomaticMerge {
            user: UserId(user),
            message,
            remove_source_branch: row.merge_removes_source,
        });
        Ok(MergeRequest {
            id: MergeRequestId(row.id),
            iid: row.iid,
            ends: Ends {
                source_project: ProjectId(row.source_project_id),
                source_branch: RequestBranch::stored(row.source_branch),
                target_project: ProjectId(row.project_id),
                target_branch: RequestBranch::stored(row.target_branch),
            },
            author: UserId(row.author_id),
            assignee: row.assignee_id.map(UserId),
            milestone: row.milestone_id.map(MilestoneId),
            updated_by: row.updated_by_id.map(UserId),
            title: Title::stored(row.title),
            description: long_text(row.description)?,
            state: MergeRequestState::parse(&row.state)
                .ok_or(StoreError::Corrupt("state of a merge request"))?,
            merge_status: MergeStatus::parse(&row.merge_status)
                .ok_or(StoreError::Corrupt("merge status"))?,
            head: row.head.as_deref().map(object_id).transpose()?,
            merge_commit: row.merge_commit.as_deref().map(object_id).transpose()?,
            automatic_merge,
            seen: SeenVersions { source: row.seen_source, target: row.seen_target },
            user_notes_count: row.user_notes_count.unsigned_abs(),
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

fn long_text(text: Option<String>) -> Result<Option<LongText>, StoreError> {
    let text = text.map(|text| LongText::parse(&text)).transpose();
    text.map_err(|_| StoreError::Corrupt("text of a merge request"))
}

/// Reads the id of a commit.
pub(super) fn object_id(bytes: &[u8]) -> Result<ObjectId, StoreError> {
    let bytes = <[u8; 20]>::try_from(bytes);
    bytes.map(ObjectId::from_bytes).map_err(|_| StoreError::Corrupt("id of a commit"))
}

/// The columns that [`MergeRequests::update`](hexforge_domain::merge_request::port::MergeRequests::update) stores.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = merge_requests, treat_none_as_null = true)]
pub(super) struct ChangedValues<'a> {
    target_branch: &'a str,
    author_id: i64,
    assignee_id: Option<i64>,
    milestone_id: Option<i64>,
    updated_by_id: Option<i64>,
    title: &'a str,
    description: Option<&'a str>,
    state: &'static str,
    merge_status: &'static str,
    head: Option<&'a [u8]>,
    merge_commit: Option<&'a [u8]>,
    merge_user_id: Option<i64>,
    merge_message: Option<&'a str>,
    merge_removes_source: Option<bool>,
    seen_source: i64,
    seen_target: i64,
    updated_at: NaiveDateTime,
}

impl<'a> From<&'a MergeRequest> for ChangedValues<'a> {
    fn from(request: &'a MergeRequest) -> Self {
        let automatic = request.automatic_merge.as_ref();
        Self {
            target_branch: request.ends.target_branch.as_str(),
            author_id: request.author.0,
            assignee_id: request.assignee.map(|user| user.0),
            milestone_id: request.milestone.map(|milestone| milestone.0),
            updated_by_id: request.updated_by.map(|user| user.0),
            title: request.title.as_str(),
            description: request.description.as_ref().map(LongText::as_str),
            state: request.state.as_str(),
            merge_status: request.merge_status.as_str(),
            head: request.head.as_ref().map(|id| &id.as_bytes()[..]),
            merge_commit: request.merge_commit.as_ref().map(|id| &id.as_bytes()[..]),
            merge_user_id: automatic.map(|automatic| automatic.user.0),
            merge_message: automatic
                .and_then(|automatic| automatic.message.as_ref())
                .map(LongText::as_str),
            merge_removes_source: automatic.and_then(|automatic| automatic.remove_source_branch),
            seen_source: request.seen.source,
            seen_target: request.seen.target,
            updated_at: to_naive(request.updated_at),
        }
    }
}
