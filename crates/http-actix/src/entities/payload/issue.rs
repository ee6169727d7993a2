//! Issues.

use hexforge_domain::outbox::project::{IssueEvent, IssueRow, ProjectCard};
use serde_json::{Value, json};

use super::row_time;
use crate::entities::blocks::{PersonBlock, Place, ProjectBlock, ShortRepositoryBlock};
use hexforge_http_edge::links::Links;

/// The payload of an issue event.
pub fn payload_json(event: &IssueEvent, links: &Links) -> Value {
    let place = Place::from(&event.project);
    let mut attributes = row(&event.issue);
    attributes["url"] = json!(page(&event.project, &event.issue, links));
    attributes["action"] = json!(event.action.as_str());
    let mut payload = json!({
        "object_kind": "issue",
        "user": PersonBlock::new(&event.user, links),
        "project": ProjectBlock::new(place, links),
        "object_attributes": attributes,
        "repository": ShortRepositoryBlock::new(place, links),
    });
    if let Some(assignee) = &event.assignee {
        payload["assignee"] = json!(PersonBlock::new(assignee, links));
    }
    payload
}

/// The URL of an issue's page.
pub fn page(project: &ProjectCard, issue: &IssueRow, links: &Links) -> String {
    format!("{}/issues/{}", links.project(&project.path_with_namespace), issue.iid)
}

/// The attributes of an issue.
pub fn row(issue: &IssueRow) -> Value {
    json!({
        "id": issue.id.0,
        "title": issue.title,
        "assignee_id": issue.assignee.map(|user| user.0),
        "author_id": issue.author.0,
        "project_id": issue.project.0,
        "created_at": row_time(issue.created_at),
        "updated_at": row_time(issue.updated_at),
        "position": 0,
        "branch_name": null,
        "description": issue.description,
        "milestone_id": issue.milestone.map(|milestone| milestone.0),
        "state": issue.state.as_str(),
        "iid": issue.iid,
        "updated_by_id": issue.updated_by.map(|user| user.0),
        "confidential": issue.confidential,
        "deleted_at": null,
        "due_date": issue.due_date.map(|day| day.to_string()),
        "moved_to_id": issue.moved_to.map(|issue| issue.0),
        "lock_version": null,
    })
}
