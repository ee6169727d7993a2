//! Records changes of issues, merge requests, notes and milestones, and notes on snippets: activity events, system
//! notes and hook events.

use hexforge_domain::Timestamp;
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::UserId;
use hexforge_domain::issue::Issue;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::milestone::Milestone;
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::note::{NewNote, Note};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::project::{
    IssueAction, IssueEvent, IssueRow, NoteEvent, NoteRow, Person, ProjectEvent,
};
use hexforge_domain::outbox::snippet_note::{SnippetNoteEvent, SnippetRow};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::snippet::Snippet;

use super::Editor;
use crate::view::event::kind;
use crate::view::project as project_view;

/// The object that an activity event is about.
pub enum EventSubject<'a> {
    Issue(&'a Issue),
    Note(&'a Note, &'a Issue),
    MergeRequest(&'a MergeRequest),
    NoteOnMergeRequest(&'a Note, &'a MergeRequest),
    NoteOnSnippet(&'a Note, &'a Snippet),
    Milestone(&'a Milestone),
}

/// Writes an activity event and updates the project's time of last activity.
pub fn record_event(
    tx: &mut dyn Tx,
    author: UserId,
    action: EventAction,
    about: EventSubject<'_>,
    at: Timestamp,
) -> Result<(), StoreError> {
    let (project, kind, id, title, belongs_to) = match about {
        EventSubject::Issue(issue) => {
            (issue.project, kind::ISSUE, issue.id.0, issue.title.as_str(), Some(issue.id.into()))
        }
        EventSubject::Note(note, issue) => {
            (issue.project, kind::NOTE, note.id.0, issue.title.as_str(), Some(issue.id.into()))
        }
        EventSubject::MergeRequest(request) => {
            let id = request.id;
            (request.project(), kind::MERGE_REQUEST, id.0, request.title.as_str(), Some(id.into()))
        }
        EventSubject::NoteOnMergeRequest(note, request) => {
            let id = request.id;
            (request.project(), kind::NOTE, note.id.0, request.title.as_str(), Some(id.into()))
        }
        EventSubject::NoteOnSnippet(note, snippet) => {
            (note.project, kind::NOTE, note.id.0, snippet.title.as_str(), Some(snippet.id.into()))
        }
        EventSubject::Milestone(milestone) => {
            (milestone.project, kind::MILESTONE, milestone.id.0, milestone.title.as_str(), None)
        }
    };
    let target = EventTarget {
        kind: kind.to_owned(),
        id: Some(id),
        title: Some(title.to_owned()),
        belongs_to,
    };
    let new = NewEvent { project, author, action, target: Some(target), push: None, at };
    tx.events().insert(new)?;
    tx.projects().record_activity(project, at)
}

/// Adds a system note about a change of an issue.
pub(crate) fn add_system_note(
    tx: &mut dyn Tx,
    editor: Editor<'_>,
    issue: &Issue,
    note: &SystemNote<'_>,
) -> Result<(), StoreError> {
    let new = NewNote {
        project: issue.project,
        on: issue.id.into(),
        position: None,
        author: editor.user,
        body: note.body(),
        system: true,
        source: None,
        created_at: editor.now,
        at: editor.now,
    };
    tx.notes().insert(new).map(drop)
}

/// Records a hook event for a change of an issue.
pub(crate) fn record_issue_hook_event(
    tx: &mut dyn Tx,
    editor: Editor<'_>,
    issue: &Issue,
    action: IssueAction,
) -> Result<(), StoreError> {
    let user = person(tx, editor.user)?;
    let assignee = match issue.assignee {
        Some(assignee) => Some(person(tx, assignee)?),
        None => None,
    };
    let placed = project_view::with_namespace(tx, editor.tracker.project.clone())?;
    let (project, issue) = (placed.card(), IssueRow::from(issue));
    let event = IssueEvent { action, user, project, issue, assignee };
    tx.outbox().record(&SystemEvent::InProject(Box::new(ProjectEvent::Issue(event))), editor.now)
}

/// Records a hook event for a new note.
pub fn record_note_hook_event(
    tx: &mut dyn Tx,
    project: &Project,
    issue: &Issue,
    note: &Note,
    at: Timestamp,
) -> Result<(), StoreError> {
    let event = NoteEvent {
        user: person(tx, note.author)?,
        project: project_view::with_namespace(tx, project.clone())?.card(),
        note: NoteRow::from(note),
        issue: IssueRow::from(issue),
    };
    tx.outbox().record(&SystemEvent::InProject(Box::new(ProjectEvent::NoteOnIssue(event))), at)
}

/// Records a hook event for a new note on a snippet.
pub(crate) fn record_snippet_note_hook_event(
    tx: &mut dyn Tx,
    project: &Project,
    snippet: &Snippet,
    note: &Note,
    at: Timestamp,
) -> Result<(), StoreError> {
    let content = tx.snippets().content(snippet.id)?.ok_or(StoreError::Gone)?;
    let event = SnippetNoteEvent {
        user: person(tx, note.author)?,
        project: project_view::with_namespace(tx, project.clone())?.card(),
        note: NoteRow::from(note),
        snippet: SnippetRow::new(snippet, content.into_string()),
    };
    tx.outbox().record(&SystemEvent::InProject(Box::new(ProjectEvent::NoteOnSnippet(event))), at)
}

/// Returns a user as hook payloads show it.
pub(crate) fn person(tx: &mut dyn Tx, user: UserId) -> Result<Person, StoreError> {
    let user = tx.users().find(user)?.ok_or(StoreError::Gone)?;
    Ok(Person::from(&user))
}
