//! Payloads of hooks, except pushes.

pub mod ci;
pub mod issue;
pub mod merge_request;
pub mod note;
pub mod slack;
pub mod system;

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::outbox::project::ProjectCard;
use hexforge_domain::pipeline::CommitFacts;
use serde_json::{Value, json};

use hexforge_http_edge::links::Links;

/// A commit without its files. The URL is that of its page in the project.
fn commit_block(id: ObjectId, commit: &CommitFacts, project: &ProjectCard, links: &Links) -> Value {
    json!({
        "id": id.to_string(),
        "message": commit.message,
        "timestamp": commit.committed_at.format("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        "url": format!("{}/commit/{id}", links.project(&project.path_with_namespace)),
        "author": { "name": commit.author_name, "email": commit.author_email },
    })
}

/// `2015-05-17 18:08:09 UTC`, the time format of project hooks.
fn row_time(moment: Timestamp) -> String {
    moment.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `2012-07-21T07:30:54Z`, the time format of system hooks.
fn system_time(moment: Timestamp) -> String {
    moment.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}
