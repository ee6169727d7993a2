//! Comments on commits: notes on a whole commit or on a line of its diff.

use hexforge_domain::commit::Commit;
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::UserId;
use hexforge_domain::note::{NewNote, Note, NoteBody, NoteLine, NotePosition, Noteable};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::commit_note::CommitNoteEvent;
use hexforge_domain::outbox::project::{NoteRow, ProjectEvent};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::pipeline::CommitFacts;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::repository::{ChangedLine, LineSide};

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::issue::activity::person;
use crate::issue::mentions::{MentionPlace, Mentions, NamedObjects};
use crate::repository::{Readable, Revision};
use crate::todo::{TodoSubject, TodoWriter};
use crate::view::event::kind;
use crate::view::note::{self as view, NoteView};
use crate::view::project as project_view;

/// The fields of a new comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentFields {
    /// The text.
    pub note: String,
    /// The line of the diff. A line that the commit did not change makes a comment on the whole commit.
    pub line: Option<LineFields>,
}

/// A line of a diff as a request names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFields {
    /// The new path of the file.
    pub path: String,
    /// The number of the line in the new file.
    pub number: i64,
    /// Whether the line was added or removed.
    pub side: LineSide,
}

/// Lists the comments on a commit, oldest first.
pub fn list(
    app: &App,
    readable: &Readable,
    at: &Revision,
    page: Page,
) -> Result<Paged<NoteView>, Error> {
    let (requester, on) = (app.requester(readable.actor()), noteable(readable, at));
    app.store.read(|tx| {
        let notes = tx.notes().list(on, requester.note_reader()?, page)?;
        Ok(view::page(tx, notes)?)
    })
}

fn noteable(readable: &Readable, at: &Revision) -> Noteable {
    Noteable::Commit { project: readable.project_id(), id: at.commit() }
}

/// Finds the line of a comment in the diff of the commit. May take long for a large commit.
pub fn find_line(at: &Revision, line: Option<&LineFields>) -> Result<Option<ChangedLine>, Error> {
    let Some(LineFields { path, number, side }) = line else { return Ok(None) };
    let Ok(number) = u32::try_from(*number) else { return Ok(None) };
    Ok(at.repository().changed_line(at.commit(), path, *side, number)?)
}

/// Writes a comment on a commit, with its event, its hook event, and the notes on issues that it references.
pub fn create(
    app: &App,
    readable: &Readable,
    at: &Revision,
    line: Option<&ChangedLine>,
    fields: &CommentFields,
) -> Result<NoteView, Error> {
    let actor = readable.actor();
    let author = access::own_account(actor)?;
    let body = NoteBody::parse(&fields.note)?;
    let commit = at.repository().commit(at.commit())?.ok_or(GitError::Missing)?;
    let (named, on) = (ProjectRef::Id(readable.project_id()), noteable(readable, at));
    let mentioned = NamedObjects::find(app, actor, &named, &[Some(body.as_str())])?;
    let position = line.zip(fields.line.as_ref()).map(|(found, asked)| NotePosition {
        path: asked.path.clone(),
        line: match asked.side {
            LineSide::New => NoteLine::Added(found.new),
            LineSide::Old => NoteLine::Removed(Some(found.old)),
        },
    });
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let (home, mentions) = Mentions::lock(tx, requester, &named, &mentioned)?;
        let project = &home.project;
        requester.check_project(tx, ProjectAbility::DownloadCode, project)?;
        let now = app.clock.now();
        let note = tx.notes().insert(NewNote {
            project: project.id,
            on,
            position: position.clone(),
            author,
            body: body.clone(),
            system: false,
            source: None,
            created_at: now,
            at: now,
        })?;
        let comment = Comment { note: &note, commit: &commit, project };
        comment.record_event(tx)?;
        comment.record_hook_event(tx, author, line)?;
        let todos = TodoWriter { tracker: &home, author, now };
        todos.record_note(tx, TodoSubject::Commit(commit.id), &note)?;
        let place = MentionPlace::Commit(commit.id, None);
        mentions.write_notes_of(tx, &home, place, author, now)?;
        Ok(view::load(tx, note)?)
    })
}

/// A new comment, for the rows that follow from it.
struct Comment<'a> {
    note: &'a Note,
    commit: &'a Commit,
    project: &'a Project,
}

impl Comment<'_> {
    fn record_event(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        let Note { id, author, created_at, position, .. } = self.note;
        let kind = if position.is_some() { kind::DIFF_NOTE } else { kind::NOTE };
        let target = EventTarget {
            kind: kind.to_owned(),
            id: Some(id.0),
            // PostgreSQL cannot store NUL characters.
            title: Some(self.commit.title().replace('\0', "\u{fffd}")),
            belongs_to: None,
        };
        let (project, action, at) = (self.project.id, EventAction::CommentedOn, *created_at);
        let target = Some(target);
        tx.events().insert(NewEvent {
            project,
            author: *author,
            action,
            target,
            push: None,
            at,
        })?;
        tx.projects().record_activity(project, at)
    }

    fn record_hook_event(
        &self,
        tx: &mut dyn Tx,
        author: UserId,
        line: Option<&ChangedLine>,
    ) -> Result<(), StoreError> {
        let event = CommitNoteEvent {
            user: person(tx, author)?,
            project: project_view::with_namespace(tx, self.project.clone())?.card(),
            note: NoteRow::from(self.note),
            commit: self.commit.id,
            facts: CommitFacts::from(self.commit),
            line: line.cloned(),
        };
        let event = ProjectEvent::NoteOnCommit(event);
        tx.outbox().record(&SystemEvent::InProject(Box::new(event)), self.note.created_at)
    }
}
