//! Comments.

use hexforge_domain::hex;
use hexforge_domain::outbox::commit_note::CommitNoteEvent;
use hexforge_domain::outbox::merge_request::RequestNoteEvent;
use hexforge_domain::outbox::project::{NoteEvent, NoteRow, Person, ProjectCard};
use hexforge_domain::outbox::snippet_note::SnippetNoteEvent;
use hexforge_domain::repository::ChangedLine;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use super::{commit_block, issue, merge_request, row_time};
use crate::entities::blocks::{PersonBlock, Place, ProjectBlock, ShortRepositoryBlock};
use crate::entities::repository::CommitDiffJson;
use hexforge_http_edge::links::Links;

/// The payload for a comment on an issue.
pub fn on_issue(event: &NoteEvent, links: &Links) -> Value {
    let (id, page) = (event.issue.id.0, issue::page(&event.project, &event.issue, links));
    let on = Subject { kind: "Issue", id: Some(id), page };
    let mut payload = comment(&event.user, &event.project, &event.note, &on, links);
    payload["issue"] = issue::row(&event.issue);
    payload
}

/// The payload for a comment on a merge request.
pub fn on_merge_request(event: &RequestNoteEvent, links: &Links) -> Value {
    let (id, page) = (event.request.row.id.0, merge_request::page(&event.request, links));
    let on = Subject { kind: "MergeRequest", id: Some(id), page };
    let mut payload = comment(&event.user, &event.request.target, &event.note, &on, links);
    payload["merge_request"] = merge_request::row(&event.request, links);
    payload
}

/// The payload for a comment on a snippet.
pub fn on_snippet(event: &SnippetNoteEvent, links: &Links) -> Value {
    let SnippetNoteEvent { user, project, note, snippet } = event;
    let page = links.snippet(Some(&project.path_with_namespace), snippet.id.0);
    let on = Subject { kind: "Snippet", id: Some(snippet.id.0), page };
    let mut payload = comment(user, project, note, &on, links);
    payload["snippet"] = json!({
        "id": snippet.id.0,
        "title": snippet.title,
        "content": snippet.content,
        "author_id": snippet.author.0,
        "project_id": snippet.project.map(|project| project.0),
        "created_at": row_time(snippet.created_at),
        "updated_at": row_time(snippet.updated_at),
        "file_name": snippet.file_name,
        "type": "ProjectSnippet",
        "visibility_level": snippet.visibility.level(),
    });
    payload
}

/// The payload for a comment on a commit, or on a line of its diff.
pub fn on_commit(event: &CommitNoteEvent, links: &Links) -> Value {
    let CommitNoteEvent { user, project, note, commit, facts, line } = event;
    let page = format!("{}/commit/{commit}", links.project(&project.path_with_namespace));
    let on = Subject { kind: "Commit", id: None, page };
    let mut payload = comment(user, project, note, &on, links);
    let row = &mut payload["object_attributes"];
    row["commit_id"] = json!(commit.to_string());
    if let Some(line) = line {
        row["line_code"] = json!(line_code(line));
        row["st_diff"] = json!(CommitDiffJson::from(&line.diff));
        row["type"] = json!("LegacyDiffNote");
    }
    payload["commit"] = commit_block(*commit, facts, project, links);
    payload
}

/// The SHA-1 of the path, and the numbers of the line in the old and in the new file.
fn line_code(line: &ChangedLine) -> String {
    let path = hex::encode(&Sha1::digest(line.diff.new_path.as_bytes()));
    format!("{path}_{}_{}", line.old, line.new)
}

/// The subject of a comment.
struct Subject {
    kind: &'static str,
    /// The id of an issue or merge request.
    id: Option<i64>,
    /// The URL of its page.
    page: String,
}

/// The payload of a comment without its subject.
fn comment(
    user: &Person,
    project: &ProjectCard,
    note: &NoteRow,
    on: &Subject,
    links: &Links,
) -> Value {
    let place = Place::from(project);
    json!({
        "object_kind": "note",
        "user": PersonBlock::new(user, links),
        "project_id": project.id.0,
        "project": ProjectBlock::new(place, links),
        "object_attributes": {
            "id": note.id.0,
            "note": note.body,
            "noteable_type": on.kind,
            "author_id": note.author.0,
            "created_at": row_time(note.created_at),
            "updated_at": row_time(note.updated_at),
            "project_id": project.id.0,
            "attachment": null,
            "line_code": null,
            "commit_id": null,
            "noteable_id": on.id,
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
            "url": format!("{}#note_{}", on.page, note.id),
        },
        "repository": ShortRepositoryBlock::new(place, links),
    })
}
