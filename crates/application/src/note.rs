//! Notes on issues.

use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::event::EventAction;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::{IssueId, NoteId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issuable::award::{Award, EmojiName};
use hexforge_domain::issue::{Issue, mention};
use hexforge_domain::note::commands::{Command, extract};
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::note::{NewNote, Note, NoteBody};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::{NoteAbility, TrackerAbility};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::User;

use crate::access::tracker::Tracker;
use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue::Editor;
use crate::issue::activity::{self, EventSubject};
use crate::issue::commands;
use crate::issue::mentions::{Mentions, find_references};
use crate::view::note::{self as view, NoteView};

/// Lists the notes on an issue, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    issue: IssueId,
    page: Page,
) -> Result<Paged<NoteView>, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let issue = find_issue(tx, &tracker, issue, Entity::Notes)?;
        let notes = tx.notes().list(issue.id.into(), note_reader(&tracker)?, page)?;
        Ok(view::page(tx, notes)?)
    })
}

/// A note by its issue and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteRef {
    pub issue: IssueId,
    pub note: NoteId,
}

/// The fields of a new note in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteFields {
    pub body: String,
    pub created_at: Option<Timestamp>,
}

/// Returns one note.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, id: NoteRef) -> Result<NoteView, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let (_, note) = find(tx, &tracker, id)?;
        Ok(view::load(tx, note)?)
    })
}

/// The outcome of a request to write a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteOutcome {
    /// A note was written.
    Note(Box<NoteView>),
    /// An emoji was awarded.
    Award(Award, Box<User>),
    /// No note: the text consisted of commands only, which this user applied.
    Commands(Issuable, Box<User>, Timestamp),
}

/// The parsed text of a new note. It is parsed before the transaction, because parsing time grows with the text and
/// other transactions wait for the locks.
struct Draft {
    /// The emoji, if the text is one and nothing else.
    emoji: Option<EmojiName>,
    /// The text of the note without commands; `None` if all lines are commands.
    body: Option<NoteBody>,
    commands: Vec<Command>,
}

impl Draft {
    fn read(text: &NoteBody, today: NaiveDate) -> Result<Self, FieldErrors> {
        let emoji = EmojiName::from_note(text.as_str());
        let (left, commands) = extract(text.as_str(), today);
        let body = (!left.is_empty()).then(|| NoteBody::parse(&left)).transpose()?;
        Ok(Self { emoji, body, commands })
    }
}

/// Writes a note and updates the issue. A single emoji on another user's issue becomes an award instead. Lines with
/// commands are applied and left out of the note.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    issue: IssueId,
    fields: &NoteFields,
) -> Result<NoteOutcome, Error> {
    let author = access::own_account(actor)?;
    let body = NoteBody::parse(&fields.body);
    let mentioned = find_references(app, &[body.as_ref().ok().map(NoteBody::as_str)]);
    let draft = body.and_then(|body| Draft::read(&body, app.today()));
    app.store.write(|tx| {
        let (tracker, mentions) = Mentions::lock(tx, app.requester(actor), named, &mentioned)?;
        let issue = find_issue(tx, &tracker, issue, Entity::Note)?;
        let Draft { emoji, body, commands } = draft?;
        let now = app.clock.now();
        let editor = Editor { user: author, tracker: &tracker, now };
        if let Some(emoji) = emoji.filter(|_| issue.author != author) {
            let award = tx.issuables().award(issue.id.into(), author, &emoji, now)?;
            return Ok(NoteOutcome::Award(award, Box::new(find_user(tx, author)?)));
        }
        let Some(body) = body else {
            let issue = commands::apply(tx, editor, issue, &commands)?;
            let by = Box::new(find_user(tx, author)?);
            return Ok(NoteOutcome::Commands(issue.id.into(), by, now));
        };
        // Only owners may set the creation time.
        let created_at = fields.created_at.filter(|_| tracker.allows(TrackerAbility::DeleteIssues));
        let created_at = created_at.unwrap_or(now);
        let new = NewNote {
            project: tracker.project.id,
            on: issue.id.into(),
            position: None,
            author,
            body,
            system: false,
            source: None,
            created_at,
            at: created_at,
        };
        let note = tx.notes().insert(new)?;
        tx.issuables().participate(issue.id.into(), author)?;
        tx.issuables()
            .mention(issue.id.into(), &mention::mentioned_usernames(note.body.as_str()))?;
        let issue = Issue { updated_at: now, ..issue };
        tx.issues().update(&issue)?;
        let about = EventSubject::Note(&note, &issue);
        activity::record_event(tx, author, EventAction::CommentedOn, about, now)?;
        activity::record_note_hook_event(tx, &tracker.project, &issue, &note, now)?;
        mentions.write_notes(tx, editor, &issue)?;
        if !commands.is_empty() {
            commands::apply(tx, editor, issue, &commands)?;
        }
        Ok(NoteOutcome::Note(Box::new(view::load(tx, note)?)))
    })
}

/// Changes the text of a note.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: NoteRef,
    body: &str,
) -> Result<NoteView, Error> {
    let user = access::own_account(actor)?;
    let body = NoteBody::parse(body);
    let mentioned = find_references(app, &[body.as_ref().ok().map(NoteBody::as_str)]);
    app.store.write(|tx| {
        let (tracker, mentions) = Mentions::lock(tx, app.requester(actor), named, &mentioned)?;
        let (issue, note) = find(tx, &tracker, id)?;
        tracker.require_for_note(NoteAbility::Update, &issue, &note)?;
        let note =
            Note { body: body?, updated_by: Some(user), updated_at: app.clock.now(), ..note };
        tx.notes().update(&note)?;
        tx.issuables()
            .mention(issue.id.into(), &mention::mentioned_usernames(note.body.as_str()))?;
        mentions.write_notes(
            tx,
            Editor { user, tracker: &tracker, now: note.updated_at },
            &issue,
        )?;
        Ok(view::load(tx, note)?)
    })
}

/// Deletes a note, and returns its state before.
pub fn delete(app: &App, actor: Actor, named: &ProjectRef, id: NoteRef) -> Result<NoteView, Error> {
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let (issue, note) = find(tx, &tracker, id)?;
        tracker.require_for_note(NoteAbility::Delete, &issue, &note)?;
        let shown = view::load(tx, note)?;
        tx.notes().delete(&shown.note)?;
        Ok(shown)
    })
}

/// Returns the issue with this id. If the actor may not see the issue, `thing` is reported as not found.
fn find_issue(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    id: IssueId,
    thing: Entity,
) -> Result<Issue, Error> {
    let issue = tx.issues().find(tracker.project.id, id)?;
    let issue = issue.ok_or(Error::NotFound(Entity::Record))?;
    if tracker.sees(&issue) { Ok(issue) } else { Err(Error::NotFound(thing)) }
}

fn find(tx: &mut dyn Tx, tracker: &Tracker, id: NoteRef) -> Result<(Issue, Note), Error> {
    let issue = find_issue(tx, tracker, id.issue, Entity::Note)?;
    let note = tx.notes().find(issue.id.into(), id.note, note_reader(tracker)?)?;
    Ok((issue, note.ok_or(Error::NotFound(Entity::Record))?))
}

/// Returns the reader for filtering notes; `None` for administrators, who see all notes.
fn note_reader(tracker: &Tracker) -> Result<Option<NoteReader>, Error> {
    let Requester { actor, today } = tracker.requester;
    match actor {
        Actor::Admin { .. } => Ok(None),
        Actor::User { .. } | Actor::Anonymous => {
            Ok(Some(NoteReader { viewer: access::viewer(actor)?, today }))
        }
    }
}

fn find_user(tx: &mut dyn Tx, id: UserId) -> Result<User, Error> {
    tx.users().find(id)?.ok_or(Error::NotFound(Entity::User))
}
