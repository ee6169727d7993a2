//! Notes on issues, merge requests and snippets.

pub(crate) mod subject;

use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::award::{Award, Awardable, EmojiName, NewAward};
use hexforge_domain::event::EventAction;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::{NoteId, UserId};
use hexforge_domain::issue::IssueCommand;
use hexforge_domain::issue::mention::mentioned_usernames;
use hexforge_domain::note::commands::{Command, extract};
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::note::{NewNote, Note, NoteBody, NotePosition, Noteable};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::NoteAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::User;

use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue::activity;
use crate::issue::mentions::{Mentions, NamedObjects};
use crate::merge_request::own_commits;
use crate::merge_request::version::NewRefs;
use crate::retry;
use crate::todo::TodoWriter;
use crate::view::award::{self as award_view, AwardView};
use crate::view::note::{self as view, NoteView};
use subject::{NoteWriter, Subject, SubjectContent};

/// The number of attempts while pushes change the branches of a merge request.
const TRIES: u32 = 5;

/// Lists the notes on an issue, merge request or snippet, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: Noteable,
    page: Page,
) -> Result<Paged<NoteView>, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let subject = Subject::find(tx, &tracker, on, Entity::Notes)?;
        let notes = tx.notes().list(subject.id(), note_reader(&tracker)?, page)?;
        Ok(view::page(tx, notes)?)
    })
}

/// A note by the issue, merge request or snippet that it is on, and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteRef {
    pub on: Noteable,
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
    Award(Box<AwardView>),
    /// No note: the text consisted of commands only, which this user applied.
    Commands(Noteable, Box<User>, Timestamp),
}

/// The parsed text of a new note. It is parsed before the transaction, because parsing time grows with the text and
/// other transactions wait for the locks.
#[derive(Clone)]
struct Draft {
    /// The emoji, if the text is one and nothing else.
    emoji: Option<EmojiName>,
    /// The text as it was given.
    whole: NoteBody,
    /// The text of the note without commands; `None` if all lines are commands.
    body: Option<NoteBody>,
    commands: Vec<Command>,
}

impl Draft {
    fn read(text: NoteBody, today: NaiveDate) -> Result<Self, FieldErrors> {
        let emoji = EmojiName::from_note(text.as_str());
        let (left, commands) = extract(text.as_str(), today);
        let body = (!left.is_empty()).then(|| NoteBody::parse(&left)).transpose()?;
        Ok(Self { emoji, whole: text, body, commands })
    }

    /// The same text with another command, which replaces those in the text that close or reopen.
    fn with_state(self, command: IssueCommand) -> Self {
        let is_other = |command: &Command| !matches!(command, Command::Close | Command::Reopen);
        let others = self.commands.into_iter().filter(is_other);
        Self { commands: [state_command(command)].into_iter().chain(others).collect(), ..self }
    }

    /// The same text, all of which is the note.
    fn without_commands(self) -> Self {
        Self { body: Some(self.whole.clone()), commands: vec![], ..self }
    }
}

fn state_command(command: IssueCommand) -> Command {
    match command {
        IssueCommand::Close => Command::Close,
        IssueCommand::Reopen => Command::Reopen,
    }
}

/// Writes a note and updates its subject. A single emoji becomes an award instead, unless it is a vote on the author's
/// own issue, merge request or snippet. Lines with commands are applied and left out of the note. On snippets, commands
/// and mentions are plain text.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: Noteable,
    fields: &NoteFields,
) -> Result<NoteOutcome, Error> {
    NewNoteOn::new(app, actor, named, on, fields)?.create()
}

/// Like [`create`], and closes or reopens the issue or merge request in the same transaction.
/// # Errors
/// The actor lacks the permission to change the state. The transaction then writes neither the note nor the state.
pub fn create_with_state(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: Noteable,
    fields: &NoteFields,
    command: IssueCommand,
) -> Result<NoteOutcome, Error> {
    let new = NewNoteOn::new(app, actor, named, on, fields)?;
    NewNoteOn { command: Some(command), ..new }.create()
}

/// Like [`create`], for a note on a line of a diff.
pub fn create_at(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: Noteable,
    fields: &NoteFields,
    position: Option<NotePosition>,
) -> Result<NoteOutcome, Error> {
    let new = NewNoteOn::new(app, actor, named, on, fields)?;
    NewNoteOn { position, ..new }.create()
}

/// Finds what the text of a note mentions. Notes on snippets mention nothing, and those on a merge request do not mention
/// its own commits.
fn find_mentioned(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: Noteable,
    text: Option<&str>,
) -> Result<NamedObjects, Error> {
    let Some(on) = on.issuable() else { return Ok(NamedObjects::default()) };
    let mentioned = NamedObjects::find(app, actor, named, &[text])?;
    match on.merge_request() {
        Some(request) => own_commits::without(app, actor, named, request, mentioned),
        None => Ok(mentioned),
    }
}

/// A note that is about to be written.
struct NewNoteOn<'a> {
    app: &'a App,
    actor: Actor,
    author: UserId,
    named: &'a ProjectRef,
    on: Noteable,
    fields: &'a NoteFields,
    position: Option<NotePosition>,
    /// What happens to the state of the subject.
    command: Option<IssueCommand>,
    mentioned: NamedObjects,
    body: Result<NoteBody, FieldErrors>,
}

impl<'a> NewNoteOn<'a> {
    fn new(
        app: &'a App,
        actor: Actor,
        named: &'a ProjectRef,
        on: Noteable,
        fields: &'a NoteFields,
    ) -> Result<Self, Error> {
        let author = access::own_account(actor)?;
        let body = NoteBody::parse(&fields.body);
        let text = body.as_ref().ok().map(NoteBody::as_str);
        let mentioned = find_mentioned(app, actor, named, on, text)?;
        let (position, command) = (None, None);
        Ok(Self { app, actor, author, named, on, fields, position, command, mentioned, body })
    }

    fn create(self) -> Result<NoteOutcome, Error> {
        let draft = self.body.clone().and_then(|body| Draft::read(body, self.app.today()));
        let draft = draft.map(|draft| match self.command {
            Some(command) => draft.with_state(command),
            None => draft,
        });
        let is_busy = |error: &Error| matches!(error, Error::Store(StoreError::Busy));
        let (outcome, refs) = retry::while_busy(TRIES, is_busy, || self.write(&draft))?;
        for refs in refs {
            refs.publish(self.app);
        }
        Ok(outcome)
    }

    fn write(
        &self,
        draft: &Result<Draft, FieldErrors>,
    ) -> Result<(NoteOutcome, Vec<NewRefs>), Error> {
        let Self { app, actor, author, named, on, .. } = *self;
        let commands = draft.as_ref().map_or(&[][..], |draft| &draft.commands);
        let content = SubjectContent::read(app, actor, named, on, commands)?;
        app.store.write(|tx| {
            let requester = app.requester(actor);
            let (tracker, mentions) = Mentions::lock(tx, requester, named, &self.mentioned)?;
            let subject = Subject::find(tx, &tracker, on, Entity::Note)?;
            if self.command.is_some() {
                subject.require_update(&tracker)?;
            }
            let draft = draft.clone()?;
            let now = app.clock.now();
            let (content, mentions) = (&content, &mentions);
            let writer =
                NoteWriter { app, user: author, tracker: &tracker, content, mentions, now };
            let is_own = subject.author() == author;
            if let Some(emoji) = draft.emoji.as_ref().filter(|emoji| !(is_own && emoji.is_vote())) {
                let award = find_or_create_award(tx, subject.awardable(), author, emoji, now)?;
                let award = award_view::load(tx, award)?;
                if let Some(of_todos) = subject.todo_subject() {
                    writer.todos().finish(tx, of_todos)?;
                }
                let refs = match self.command {
                    Some(command) => writer.apply(tx, subject, &[state_command(command)])?,
                    None => vec![],
                };
                return Ok((NoteOutcome::Award(Box::new(award)), refs));
            }
            let draft =
                if subject.takes_commands(&tracker) { draft } else { draft.without_commands() };
            let Some(body) = draft.body else {
                let refs = writer.apply(tx, subject, &draft.commands)?;
                let by = Box::new(find_user(tx, author)?);
                return Ok((NoteOutcome::Commands(on, by, now), refs));
            };
            let note = self.insert(tx, &tracker, &subject, body, now)?;
            let subject = writer.touch(tx, subject)?;
            if let Some(of_todos) = subject.todo_subject() {
                writer.todos().record_note(tx, of_todos, &note)?;
            }
            let about = subject.event_of(&note);
            activity::record_event(tx, author, EventAction::CommentedOn, about, now)?;
            writer.record_hook_event(tx, &subject, &note)?;
            if let Some(place) = subject.place() {
                mentions.write_notes_of(tx, &tracker, place, author, now)?;
            }
            let refs = if draft.commands.is_empty() {
                vec![]
            } else {
                writer.apply(tx, subject, &draft.commands)?
            };
            Ok((NoteOutcome::Note(Box::new(view::load(tx, note)?)), refs))
        })
    }

    /// Inserts the note. The author and the mentioned users become participants of an issue or merge request.
    fn insert(
        &self,
        tx: &mut dyn Tx,
        tracker: &Tracker,
        subject: &Subject,
        body: NoteBody,
        now: Timestamp,
    ) -> Result<Note, StoreError> {
        // Only owners may set the creation time.
        let created_at = self.fields.created_at.filter(|_| subject.is_owned(tracker));
        let created_at = created_at.unwrap_or(now);
        let note = tx.notes().insert(NewNote {
            project: tracker.project.id,
            on: self.on,
            position: self.position.clone(),
            author: self.author,
            body,
            system: false,
            source: None,
            created_at,
            at: created_at,
        })?;
        if let Some(on) = self.on.issuable() {
            tx.issuables().participate(on, self.author)?;
            tx.issuables().mention(on, &mentioned_usernames(note.body.as_str()))?;
        }
        Ok(note)
    }
}

/// Changes the text of a note of the project.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: NoteId,
    body: &str,
) -> Result<NoteView, Error> {
    let user = access::own_account(actor)?;
    let body = NoteBody::parse(body);
    let text = body.as_ref().ok().map(NoteBody::as_str);
    let note = app.store.read_autocommit(|tx| tx.notes().find_all(&[id]))?.pop();
    let mentioned = match note {
        Some(note) => find_mentioned(app, actor, named, note.on, text)?,
        None => NamedObjects::default(),
    };
    app.store.write(|tx| {
        let (tracker, mentions) = Mentions::lock(tx, app.requester(actor), named, &mentioned)?;
        let (subject, note) = find_for(tx, &tracker, NoteAbility::Update, id)?;
        let (updated_by, now) = (Some(user), app.clock.now());
        let note = Note { body: body?, updated_by, updated_at: now, ..note };
        tx.notes().update(&note)?;
        if let Some(on) = subject.id().issuable() {
            tx.issuables().mention(on, &mentioned_usernames(note.body.as_str()))?;
        }
        if let Some(of_todos) = subject.todo_subject() {
            let todos = TodoWriter { tracker: &tracker, author: user, now };
            todos.record_note_edit(tx, of_todos, &note)?;
        }
        if let Some(place) = subject.place() {
            mentions.write_notes_of(tx, &tracker, place, user, now)?;
        }
        Ok(view::load(tx, note)?)
    })
}

/// Deletes a note of the project, and returns its state before.
pub fn delete(app: &App, actor: Actor, named: &ProjectRef, id: NoteId) -> Result<NoteView, Error> {
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let (_, note) = find_for(tx, &tracker, NoteAbility::Delete, id)?;
        let shown = view::load(tx, note)?;
        tx.notes().delete(&shown.note)?;
        Ok(shown)
    })
}

fn find(tx: &mut dyn Tx, tracker: &Tracker, id: NoteRef) -> Result<(Subject, Note), Error> {
    let subject = Subject::find(tx, tracker, id.on, Entity::Note)?;
    let note = tx.notes().find(id.on, id.note, note_reader(tracker)?)?;
    Ok((subject, note.ok_or(Error::NotFound(Entity::Record))?))
}

/// Returns a note on any issue, merge request or snippet of the project, if the actor has this ability on it. As in the
/// reference, a note that the actor may not change is forbidden, not hidden.
fn find_for(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    ability: NoteAbility,
    id: NoteId,
) -> Result<(Subject, Note), Error> {
    let missing = || Error::NotFound(Entity::Record);
    let found = tx.notes().find_all(&[id])?;
    let of_project = found.into_iter().find(|note| note.project == tracker.project.id);
    let on = of_project.ok_or_else(missing)?.on;
    let note = tx.notes().find(on, id, note_reader(tracker)?)?.ok_or_else(missing)?;
    let subject = Subject::load(tx, tracker, on)?;
    let allowed = tracker.require_for_note(ability, subject.facts(tracker), &note);
    allowed.map_err(|error| match error {
        Error::NotFound(_) => Error::Forbidden(None),
        error => error,
    })?;
    Ok((subject, note))
}

/// Returns the reader for filtering notes; `None` for administrators, who see all notes.
fn note_reader(tracker: &Tracker) -> Result<Option<NoteReader>, Error> {
    tracker.requester.note_reader()
}

/// Gives an emoji. An award that the user gave before is returned unchanged.
fn find_or_create_award(
    tx: &mut dyn Tx,
    on: Awardable,
    user: UserId,
    name: &EmojiName,
    at: Timestamp,
) -> Result<Award, StoreError> {
    match tx.awards().find_given(on, user, name)? {
        Some(given) => Ok(given),
        None => tx.awards().insert(NewAward { on, user, name: name.clone(), at }),
    }
}

fn find_user(tx: &mut dyn Tx, id: UserId) -> Result<User, Error> {
    tx.users().find(id)?.ok_or(Error::NotFound(Entity::User))
}
