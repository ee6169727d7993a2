//! Comments.

use hexforge_domain::outbox::project::NoteEvent;
use serde_json::{Value, json};

use super::{issue, row_time};
use crate::entities::blocks::{PersonBlock, Place, ProjectBlock, ShortRepositoryBlock};
use crate::entities::links::Links;

/// The payload for a comment on an issue.
pub fn on_issue(event: &NoteEvent, links: &Links) -> Value {
    let place = Place::from(&event.project);
    let (note, on) = (&event.note, &event.issue);
    let page = issue::page(&event.project, on, links);
    json!({
        "object_kind": "note",
        "user": PersonBlock::new(&event.user, links),
        "project_id": event.project.id.0,
        "project": ProjectBlock::new(place, links),
        "object_attributes": {
            "id": note.id.0,
            "note": note.body,
            "noteable_type": "Issue",
            "author_id": note.author.0,
            "created_at": row_time(note.created_at),
            "updated_at": row_time(note.updated_at),
            "project_id": event.project.id.0,
            "attachment": null,
            "line_code": null,
            "commit_id": null,
            "noteable_id": on.id.0,
            "system": false,
            "st_diff": null,
            "updated_by_id": note.updated_by.map(|user| user.0),
            "type": null,
            "position": null,
            "original_position": null,
            "resolved_at": null,
            "resolved_by_id": null,
            "discussion_id": null,
            "original_discussion_id": null,
            "url": format!("{page}#note_{}", note.id),
        },
        "repository": ShortRepositoryBlock::new(place, links),
        "issue": issue::row(on),
    })
}
