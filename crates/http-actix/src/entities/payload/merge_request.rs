//! Merge requests.

use hexforge_domain::merge_request::wip;
use hexforge_domain::outbox::merge_request::{
    HookedRequest, LastCommit, MergeRequestEvent, MergeRequestRow,
};
use serde_json::{Value, json};

use super::{commit_block, row_time};
use crate::entities::blocks::{PersonBlock, Place, ProjectBlock, ShortRepositoryBlock};
use hexforge_http_edge::links::Links;

/// The payload of a merge request event.
pub fn payload_json(event: &MergeRequestEvent, links: &Links) -> Value {
    let target = Place::from(&event.request.target);
    let mut attributes = row(&event.request, links);
    attributes["url"] = json!(page(&event.request, links));
    attributes["action"] = json!(event.action.as_str());
    if let Some(old) = event.old_head {
        attributes["oldrev"] = json!(old.to_string());
    }
    let mut payload = json!({
        "object_kind": "merge_request",
        "user": PersonBlock::new(&event.user, links),
        "project": ProjectBlock::new(target, links),
        "object_attributes": attributes,
        "repository": ShortRepositoryBlock::new(target, links),
    });
    if let Some(assignee) = &event.assignee {
        payload["assignee"] = json!(PersonBlock::new(assignee, links));
    }
    payload
}

/// The URL of the page of a merge request.
pub fn page(request: &HookedRequest, links: &Links) -> String {
    let project = links.project(&request.target.path_with_namespace);
    format!("{project}/merge_requests/{}", request.row.iid)
}

/// The attributes of a merge request, with its projects and its last commit.
pub fn row(request: &HookedRequest, links: &Links) -> Value {
    let HookedRequest { row, source, target, last_commit } = request;
    let mut attributes = columns(row, target.id.0);
    let project = |card| ProjectBlock::new(Place::from(card), links);
    let commit = |LastCommit { id, facts }: &LastCommit| commit_block(*id, facts, target, links);
    attributes["source"] = json!(source.as_ref().map(project));
    attributes["target"] = json!(project(target));
    attributes["last_commit"] = json!(last_commit.as_ref().map(commit));
    attributes["work_in_progress"] = json!(wip::is_work_in_progress(&row.title));
    attributes
}

fn columns(row: &MergeRequestRow, target: i64) -> Value {
    json!({
        "id": row.id.0,
        "target_branch": row.target_branch,
        "source_branch": row.source_branch,
        "source_project_id": row.source_project.0,
        "author_id": row.author.0,
        "assignee_id": row.assignee.map(|user| user.0),
        "title": row.title,
        "created_at": row_time(row.created_at),
        "updated_at": row_time(row.updated_at),
        "milestone_id": row.milestone.map(|milestone| milestone.0),
        "state": row.state.as_str(),
        "merge_status": row.merge_status.as_str(),
        "target_project_id": target,
        "iid": row.iid,
        "description": row.description,
        "position": 0,
        "locked_at": null,
        "updated_by_id": row.updated_by.map(|user| user.0),
        "merge_error": null,
        "merge_params": merge_params(row),
        "merge_when_build_succeeds": row.automatic_merge.is_some(),
        "merge_user_id": row.automatic_merge.as_ref().map(|automatic| automatic.user.0),
        "merge_commit_sha": row.merge_commit.map(|id| id.to_string()),
        "deleted_at": null,
        "in_progress_merge_commit_sha": null,
        "lock_version": null,
    })
}

/// The wishes for the merge. Only an automatic merge has any.
fn merge_params(row: &MergeRequestRow) -> Value {
    let mut params = json!({ "force_remove_source_branch": null });
    if let Some(automatic) = &row.automatic_merge {
        params["commit_message"] = json!(automatic.message);
        if let Some(wish) = automatic.remove_source_branch {
            params["should_remove_source_branch"] = json!(wish);
        }
    }
    params
}
