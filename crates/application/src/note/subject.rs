//! The issue, merge request or snippet that a note is on.

use hexforge_domain::Timestamp;
use hexforge_domain::award::Awardable;
use hexforge_domain::id::UserId;
use hexforge_domain::issue::Issue;
use hexforge_domain::merge_request::{MergeRequest, MergeRequestCommand};
use hexforge_domain::note::commands::Command;
use hexforge_domain::note::{Note, Noteable};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::policy::snippet::SnippetAbility;
use hexforge_domain::policy::tracker::{IssueAbility, NoteSubject, TrackerAbility};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::snippet::Snippet;

use crate::access::snippet::ProjectSnippets;
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
use crate::snippet;
use crate::todo::{TodoSubject, TodoWriter};

/// The subject of a note.
pub(crate) enum Subject {
    Issue(Issue),
    MergeRequest(MergeRequest),
    Snippet(Snippet, ProjectSnippets),
}

impl Subject {
    /// Returns the subject. If the actor may not see it, `thing` is reported as not found.
    pub(crate) fn find(
        tx: &mut dyn Tx,
        tracker: &Tracker,
        on: Noteable,
        thing: Entity,
    ) -> Result<Self, Error> {
        let found = Self::load(tx, tracker, on)?;
        if found.is_seen(tracker) { Ok(found) } else { Err(Error::NotFound(thing)) }
    }

    /// Returns the subject in the project, whether or not the actor may see it. Commits have calls of their own, and are
    /// not found.
    pub(crate) fn load(tx: &mut dyn Tx, tracker: &Tracker, on: Noteable) -> Result<Self, Error> {
        let project = tracker.project.id;
        let found = match on {
            Noteable::Issue(id) => tx.issues().find(project, id)?.map(Subject::Issue),
            Noteable::MergeRequest(id) => {
                tx.merge_requests().find(project, id)?.map(Subject::MergeRequest)
            }
            Noteable::Snippet(id) => {
                let snippets = tracker.requester.snippets_of(tx, tracker.project.clone())?;
                let snippet = snippet::load(tx, &snippets, id, Entity::Record)?;
                Some(Subject::Snippet(snippet, snippets))
            }
            Noteable::Commit { .. } => None,
        };
        found.ok_or(Error::NotFound(Entity::Record))
    }

    /// Returns whether the actor may see it and its notes.
    pub(crate) fn is_seen(&self, tracker: &Tracker) -> bool {
        match self {
            Subject::Issue(issue) => tracker.sees(issue),
            Subject::MergeRequest(request) => tracker.allows_on(MergeRequestAbility::Read, request),
            Subject::Snippet(snippet, snippets) => {
                snippets.allows(SnippetAbility::Discuss, snippet)
            }
        }
    }

    pub(crate) fn id(&self) -> Noteable {
        match self {
            Subject::Issue(issue) => issue.id.into(),
            Subject::MergeRequest(request) => request.id.into(),
            Subject::Snippet(snippet, _) => snippet.id.into(),
        }
    }

    /// The subject as the target of awards.
    pub(crate) fn awardable(&self) -> Awardable {
        match self {
            Subject::Issue(issue) => Awardable::Issue(issue.id),
            Subject::MergeRequest(request) => Awardable::MergeRequest(request.id),
            Subject::Snippet(snippet, _) => Awardable::Snippet(snippet.id),
        }
    }

    pub(crate) fn author(&self) -> UserId {
        match self {
            Subject::Issue(issue) => issue.author,
            Subject::MergeRequest(request) => request.author,
            Subject::Snippet(snippet, _) => snippet.author,
        }
    }

    /// The place that mentions what its notes mention. Notes on snippets mention nothing.
    pub(crate) fn place(&self) -> Option<MentionPlace<'_>> {
        match self {
            Subject::Issue(issue) => Some(MentionPlace::Issue(issue)),
            Subject::MergeRequest(request) => Some(MentionPlace::MergeRequest(request)),
            Subject::Snippet(..) => None,
        }
    }

    /// The target of todos. Notes on snippets cause no todos.
    pub(crate) fn todo_subject(&self) -> Option<TodoSubject<'_>> {
        match self {
            Subject::Issue(issue) => Some(TodoSubject::Issue(issue)),
            Subject::MergeRequest(request) => Some(TodoSubject::MergeRequest(request)),
            Subject::Snippet(..) => None,
        }
    }

    /// The subject of the activity event about a note.
    pub(crate) fn event_of<'a>(&'a self, note: &'a Note) -> EventSubject<'a> {
        match self {
            Subject::Issue(issue) => EventSubject::Note(note, issue),
            Subject::MergeRequest(request) => EventSubject::NoteOnMergeRequest(note, request),
            Subject::Snippet(snippet, _) => EventSubject::NoteOnSnippet(note, snippet),
        }
    }

    /// The facts for decisions about its notes.
    pub(crate) fn facts(&self, tracker: &Tracker) -> NoteSubject {
        match self {
            Subject::Issue(issue) => NoteSubject::Issue(tracker.issue_facts(issue)),
            Subject::MergeRequest(request) => {
                NoteSubject::MergeRequest(tracker.request_facts(request))
            }
            Subject::Snippet(snippet, snippets) => {
                NoteSubject::Snippet(snippets.snippet_facts(snippet))
            }
        }
    }

    /// Returns whether lines with commands are carried out. On a snippet, and on a merge request that the actor may not
    /// change, they are plain text.
    pub(crate) fn takes_commands(&self, tracker: &Tracker) -> bool {
        match self {
            Subject::Issue(_) => true,
            Subject::MergeRequest(request) => {
                tracker.allows_on(MergeRequestAbility::Update, request)
            }
            Subject::Snippet(..) => false,
        }
    }

    /// Requires the permission to change the subject, such as closing it. The state of a snippet cannot change.
    pub(crate) fn require_update(&self, tracker: &Tracker) -> Result<(), Error> {
        match self {
            Subject::Issue(issue) => {
                tracker.authorize(IssueAbility::Update, issue).map_err(|_| Error::Forbidden(None))
            }
            Subject::MergeRequest(request) => {
                tracker.require_on(MergeRequestAbility::Update, request)
            }
            Subject::Snippet(..) => Err(Error::Forbidden(None)),
        }
    }

    /// Returns whether the actor may set the creation time of notes.
    pub(crate) fn is_owned(&self, tracker: &Tracker) -> bool {
        match self {
            Subject::Issue(_) => tracker.allows(TrackerAbility::DeleteIssues),
            Subject::MergeRequest(request) => {
                tracker.allows_on(MergeRequestAbility::Delete, request)
            }
            Subject::Snippet(_, snippets) => snippets.is_owned(),
        }
    }
}

/// What a note needs from repositories. Only notes on merge requests need anything.
pub(crate) struct SubjectContent(Option<Prepared>);

impl SubjectContent {
    /// Reads the content before the transaction begins.
    pub(crate) fn read(
        app: &App,
        actor: Actor,
        named: &ProjectRef,
        on: Noteable,
        commands: &[Command],
    ) -> Result<Self, Error> {
        let Noteable::MergeRequest(id) = on else { return Ok(Self(None)) };
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
            Subject::Snippet(snippet, snippets) => {
                let snippet = Snippet { updated_at, ..snippet };
                tx.snippets().update(&snippet, None)?;
                Subject::Snippet(snippet, snippets)
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
            Subject::Snippet(snippet, _) => {
                activity::record_snippet_note_hook_event(tx, project, snippet, note, now)
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
            // Snippets take no commands.
            Subject::Snippet(..) => Ok(vec![]),
        }
    }
}
