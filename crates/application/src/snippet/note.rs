//! Notes on the snippets of a project.

use hexforge_domain::Timestamp;
use hexforge_domain::award::EmojiName;
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{NoteId, SnippetId};
use hexforge_domain::note::{NewNote, Note, NoteBody, Noteable};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::project::{NoteRow, ProjectEvent};
use hexforge_domain::outbox::snippet_note::{SnippetNoteEvent, SnippetRow};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::snippet::SnippetAbility;
use hexforge_domain::policy::tracker::{NoteAbility, NoteFacts, NoteSubject};
use hexforge_domain::policy::{Actor, authorize};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::snippet::Snippet;
use hexforge_domain::text::LongText;

use super::load;
use crate::access;
use crate::access::snippet::ProjectSnippets;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue::activity::person;
use crate::note::{NoteFields, NoteOutcome, find_or_create_award};
use crate::view::award as award_view;
use crate::view::event::kind;
use crate::view::note::{self as view, NoteView};
use crate::view::project as project_view;

/// Lists the notes on a snippet, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: SnippetId,
    page: Page,
) -> Result<Paged<NoteView>, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let snippets = requester.snippets(tx, named)?;
        let snippet = find(tx, &snippets, on, Entity::Notes)?;
        let notes = tx.notes().list(snippet.id.into(), requester.note_reader()?, page)?;
        Ok(view::page(tx, notes)?)
    })
}

/// Returns one note on a snippet.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: SnippetId,
    id: NoteId,
) -> Result<NoteView, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let snippets = requester.snippets(tx, named)?;
        let snippet = find(tx, &snippets, on, Entity::Note)?;
        let note = tx.notes().find(snippet.id.into(), id, requester.note_reader()?)?;
        Ok(view::load(tx, note.ok_or(Error::NotFound(Entity::Record))?)?)
    })
}

/// Writes a note on a snippet, with its event and its hook event, and updates the snippet. A single emoji becomes an award
/// instead, unless it is a vote on the author's own snippet. Commands have no effect.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: SnippetId,
    fields: &NoteFields,
) -> Result<NoteOutcome, Error> {
    let author = access::own_account(actor)?;
    let body = NoteBody::parse(&fields.body);
    app.store.write(|tx| {
        let snippets = app.requester(actor).locked_snippets(tx, named)?;
        let mut snippet = find(tx, &snippets, on, Entity::Note)?;
        let (body, now) = (body?, app.clock.now());
        let is_own = snippet.author == author;
        let emoji = EmojiName::from_note(body.as_str());
        if let Some(emoji) = emoji.filter(|emoji| !(is_own && emoji.is_vote())) {
            let award = find_or_create_award(tx, on.into(), author, &emoji, now)?;
            return Ok(NoteOutcome::Award(Box::new(award_view::load(tx, award)?)));
        }
        let project = &snippets.project;
        // Only owners may set the creation time.
        let created_at = fields.created_at.filter(|_| snippets.is_owned()).unwrap_or(now);
        let note = tx.notes().insert(NewNote {
            project: project.id,
            on: snippet.id.into(),
            position: None,
            author,
            body,
            system: false,
            source: None,
            created_at,
            at: created_at,
        })?;
        snippet.updated_at = now;
        tx.snippets().update(&snippet, None)?;
        record_event(tx, &snippet, &note, now)?;
        let content = tx.snippets().content(snippet.id)?.ok_or(StoreError::Gone)?;
        let event = hook_event(tx, project, &snippet, content, &note)?;
        tx.outbox().record(&event, now)?;
        Ok(NoteOutcome::Note(Box::new(view::load(tx, note)?)))
    })
}

fn record_event(
    tx: &mut dyn Tx,
    snippet: &Snippet,
    note: &Note,
    at: Timestamp,
) -> Result<(), StoreError> {
    let target = EventTarget {
        kind: kind::NOTE.to_owned(),
        id: Some(note.id.0),
        title: Some(snippet.title.as_str().to_owned()),
        belongs_to: Some(note.on),
    };
    let (project, author) = (note.project, note.author);
    let action = EventAction::CommentedOn;
    tx.events().insert(NewEvent {
        project,
        author,
        action,
        target: Some(target),
        push: None,
        at,
    })?;
    tx.projects().record_activity(project, at)
}

fn hook_event(
    tx: &mut dyn Tx,
    project: &Project,
    snippet: &Snippet,
    content: LongText,
    note: &Note,
) -> Result<SystemEvent, StoreError> {
    let event = SnippetNoteEvent {
        user: person(tx, note.author)?,
        project: project_view::placed(tx, project.clone())?.card(),
        note: NoteRow::from(note),
        snippet: SnippetRow::new(snippet, content.into_string()),
    };
    Ok(SystemEvent::InProject(Box::new(ProjectEvent::NoteOnSnippet(event))))
}

/// Returns a snippet of the project. If the actor may not discuss it, `thing` is reported as not found.
fn find(
    tx: &mut dyn Tx,
    snippets: &ProjectSnippets,
    on: SnippetId,
    thing: Entity,
) -> Result<Snippet, Error> {
    let found = load(tx, snippets, on, Entity::Record)?;
    match snippets.allows(SnippetAbility::Discuss, &found) {
        true => Ok(found),
        false => Err(Error::NotFound(thing)),
    }
}

/// Returns the snippet that a note of the project is on; `None` if the note is missing or on something else.
pub(crate) fn subject_of(
    app: &App,
    named: &ProjectRef,
    id: NoteId,
) -> Result<Option<SnippetId>, Error> {
    app.store.read_autocommit(|tx| {
        let Some(project) = tx.projects().header(named)? else { return Ok(None) };
        let note = tx.notes().find_all(&[id])?.pop().filter(|note| note.project == project.id);
        Ok(note.and_then(|note| match note.on {
            Noteable::Snippet(snippet) => Some(snippet),
            Noteable::Issue(_) | Noteable::MergeRequest(_) | Noteable::Commit { .. } => None,
        }))
    })
}

/// Changes the text of a note on a snippet.
pub(crate) fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: NoteId,
    body: &str,
) -> Result<NoteView, Error> {
    let user = access::own_account(actor)?;
    let body = NoteBody::parse(body);
    app.store.write(|tx| {
        let note = find_note_for(app, tx, actor, named, (NoteAbility::Update, id))?;
        let (updated_by, updated_at) = (Some(user), app.clock.now());
        let note = Note { body: body?, updated_by, updated_at, ..note };
        tx.notes().update(&note)?;
        Ok(view::load(tx, note)?)
    })
}

/// Deletes a note on a snippet, and returns its state before.
pub(crate) fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: NoteId,
) -> Result<NoteView, Error> {
    app.store.write(|tx| {
        let note = find_note_for(app, tx, actor, named, (NoteAbility::Delete, id))?;
        let shown = view::load(tx, note)?;
        tx.notes().delete(&shown.note)?;
        Ok(shown)
    })
}

/// Returns a note on a snippet of the project, if the actor has this ability on it. As in the reference, a note that the
/// actor may not change is forbidden, not hidden.
fn find_note_for(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    named: &ProjectRef,
    (ability, id): (NoteAbility, NoteId),
) -> Result<Note, Error> {
    let missing = || Error::NotFound(Entity::Record);
    let snippets = app.requester(actor).locked_snippets(tx, named)?;
    let note = tx.notes().find_all(&[id])?.pop().ok_or_else(missing)?;
    let Noteable::Snippet(on) = note.on else { return Err(missing()) };
    let snippet = load(tx, &snippets, on, Entity::Record)?;
    let facts = NoteFacts {
        on: NoteSubject::Snippet(snippets.snippet_facts(&snippet)),
        written_by_actor: actor.user() == Some(note.author),
        system: note.system,
    };
    authorize(actor, ability, &facts).map_err(|_| Error::Forbidden(None))?;
    Ok(note)
}
