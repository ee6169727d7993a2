//! The issue or merge request that a note is on.

use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issue::Issue;
use hexforge_domain::merge_request::{MergeRequest, MergeRequestCommand};
use hexforge_domain::note::Note;
use hexforge_domain::note::commands::Command;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::policy::tracker::{NoteSubject, TrackerAbility};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;

use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue::activity::{self, EventSubject};
use crate::issue::mentions::{MentionPlace, Mentions};
use crate::issue::{self, Editor};
use crate::merge_request::fields::MergeRequestFields;
use crate::merge_request::update::{Prepared, RequestChange};
use crate::merge_request::version::NewRefs;
use crate::merge_request::{self, RequestEditor};
use crate::todo::{TodoSubject, TodoWriter};

/// The subject of a note.
pub(crate) enum Subject {
    Issue(Issue),
    MergeRequest(MergeRequest),
}

impl Subject {
    /// Returns the issue or merge request. If the actor may not see it, `thing` is reported as not found.
    pub(crate) fn find(
        tx: &mut dyn Tx,
        tracker: &Tracker,
        on: Issuable,
        thing: Entity,
    ) -> Result<Self, Error> {
        let found = Self::load(tx, tracker, on)?;
        if found.is_seen(tracker) { Ok(found) } else { Err(Error::NotFound(thing)) }
    }

    /// Returns the issue or merge request of the project, whether or not the actor may see it.
    pub(crate) fn load(tx: &mut dyn Tx, tracker: &Tracker, on: Issuable) -> Result<Self, Error> {
        let project = tracker.project.id;
        let found = match on {
            Issuable::Issue(id) => tx.issues().find(project, id)?.map(Subject::Issue),
            Issuable::MergeRequest(id) => {
                tx.merge_requests().find(project, id)?.map(Subject::MergeRequest)
            }
        };
        found.ok_or(Error::NotFound(Entity::Record))
    }

    /// Returns whether the actor may see it and its notes.
    pub(crate) fn is_seen(&self, tracker: &Tracker) -> bool {
        match self {
            Subject::Issue(issue) => tracker.sees(issue),
            Subject::MergeRequest(request) => tracker.allows_on(MergeRequestAbility::Read, request),
        }
    }

    pub(crate) fn id(&self) -> Issuable {
        match self {
            Subject::Issue(issue) => issue.id.into(),
            Subject::MergeRequest(request) => request.id.into(),
        }
    }

    pub(crate) fn author(&self) -> UserId {
        match self {
            Subject::Issue(issue) => issue.author,
            Subject::MergeRequest(request) => request.author,
        }
    }

    /// The place that mentions what its notes mention.
    pub(crate) fn place(&self) -> MentionPlace<'_> {
        match self {
            Subject::Issue(issue) => MentionPlace::Issue(issue),
            Subject::MergeRequest(request) => MentionPlace::MergeRequest(request),
        }
    }

    /// The target of todos.
    pub(crate) fn todo_subject(&self) -> TodoSubject<'_> {
        match self {
            Subject::Issue(issue) => TodoSubject::Issue(issue),
            Subject::MergeRequest(request) => TodoSubject::MergeRequest(request),
        }
    }

    /// The subject of the activity event about a note.
    pub(crate) fn event_of<'a>(&'a self, note: &'a Note) -> EventSubject<'a> {
        match self {
            Subject::Issue(issue) => EventSubject::Note(note, issue),
            Subject::MergeRequest(request) => EventSubject::NoteOnMergeRequest(note, request),
        }
    }

    /// The facts for decisions about its notes.
    pub(crate) fn facts(&self, tracker: &Tracker) -> NoteSubject {
        match self {
            Subject::Issue(issue) => NoteSubject::Issue(tracker.issue_facts(issue)),
            Subject::MergeRequest(request) => {
                NoteSubject::MergeRequest(tracker.request_facts(request))
            }
        }
    }

    /// Returns whether lines with commands are carried out. On a merge request that the actor may not change they are
    /// plain text.
    pub(crate) fn takes_commands(&self, tracker: &Tracker) -> bool {
        match self {
            Subject::Issue(_) => true,
            Subject::MergeRequest(request) => {
                tracker.allows_on(MergeRequestAbility::Update, request)
            }
        }
    }

    /// Returns whether the actor may set the creation time of notes.
    pub(crate) fn is_owned(&self, tracker: &Tracker) -> bool {
        match self {
            Subject::Issue(_) => tracker.allows(TrackerAbility::DeleteIssues),
            Subject::MergeRequest(request) => {
                tracker.allows_on(MergeRequestAbility::Delete, request)
            }
        }
    }
}

/// What a note needs from repositories. Notes on issues need nothing.
pub(crate) struct SubjectContent(Option<Prepared>);

impl SubjectContent {
    /// Reads the content before the transaction begins.
    pub(crate) fn read(
        app: &App,
        actor: Actor,
        named: &ProjectRef,
        on: Issuable,
        commands: &[Command],
    ) -> Result<Self, Error> {
        let Some(id) = on.merge_request() else { return Ok(Self(None)) };
        let reopens = commands.contains(&Command::Reopen);
        let command = reopens.then_some(MergeRequestCommand::Reopen);
        let fields = MergeRequestFields { command, ..MergeRequestFields::default() };
        Ok(Self(Some(Prepared::read(app, actor, named, id, &fields)?)))
    }

    /// # Errors
    /// [`StoreError::Busy`] when the content was not read.
    fn prepared(&self) -> Result<&Prepared, StoreError> {
        self.0.as_ref().ok_or(StoreError::Busy)
    }
}

/// The author of a note, with everything that the effects of the note need.
#[derive(Clone, Copy)]
pub(crate) struct NoteWriter<'a> {
    pub app: &'a App,
    pub user: UserId,
    pub tracker: &'a Tracker,
    pub content: &'a SubjectContent,
    /// What the note mentions.
    pub mentions: &'a Mentions<'a>,
    pub now: Timestamp,
}

impl<'a> NoteWriter<'a> {
    /// The writer of the todos that the note causes.
    pub(crate) fn todos(self) -> TodoWriter<'a> {
        TodoWriter { tracker: self.tracker, author: self.user, now: self.now }
    }

    /// Stores the time of the note as the update time of its subject.
    pub(crate) fn touch(self, tx: &mut dyn Tx, subject: Subject) -> Result<Subject, StoreError> {
        let updated_at = self.now;
        Ok(match subject {
            Subject::Issue(issue) => {
                let issue = Issue { updated_at, ..issue };
                tx.issues().update(&issue)?;
                Subject::Issue(issue)
            }
            Subject::MergeRequest(request) => {
                let request = MergeRequest { updated_at, ..request };
                tx.merge_requests().update(&request)?;
                Subject::MergeRequest(request)
            }
        })
    }

    /// Records the hook event for the new note.
    pub(crate) fn record_hook_event(
        self,
        tx: &mut dyn Tx,
        subject: &Subject,
        note: &Note,
    ) -> Result<(), StoreError> {
        let (user, project, now) = (self.user, &self.tracker.project, self.now);
        match subject {
            Subject::Issue(issue) => {
                activity::record_note_hook_event(tx, project, issue, note, now)
            }
            Subject::MergeRequest(request) => {
                let head = &self.content.prepared()?.head;
                let editor = RequestEditor { user, project, head, now };
                editor.record_note_hook_event(tx, request, note)
            }
        }
    }

    /// Applies the commands of the note. A changed title writes its mentions.
    pub(crate) fn apply(
        self,
        tx: &mut dyn Tx,
        subject: Subject,
        commands: &[Command],
    ) -> Result<Vec<NewRefs>, Error> {
        let Self { app, user, tracker, content, mentions, now } = self;
        match subject {
            Subject::Issue(issue) => {
                let (title, editor) = (issue.title.clone(), Editor { user, tracker, now });
                let after = issue::commands::apply(tx, editor, issue, commands)?;
                if after.title != title {
                    mentions.write_notes(tx, editor, &after)?;
                }
                Ok(vec![])
            }
            Subject::MergeRequest(request) => {
                let read = merge_request::commands::read(tx, &request, commands)?;
                if let Some(subscribed) = read.subscribed {
                    tx.issuables().subscribe(request.id.into(), user, subscribed)?;
                }
                let prepared = content.prepared()?;
                let change = RequestChange { app, tracker, prepared, mentions, user, now };
                let (request, refs) = change.apply(tx, request, &read.fields)?;
                // Last, because changes mark the todo as done.
                if let Some(command) = read.todo {
                    self.todos().apply(tx, TodoSubject::MergeRequest(&request), command)?;
                }
                Ok(refs)
            }
        }
    }
}
