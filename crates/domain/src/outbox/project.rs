//! Events for project hooks. They hold all data of the payload because the entities may change
//! before the delivery.

use chrono::NaiveDate;

use super::ci::{BuildEvent, PipelineEvent};
use super::commit_note::CommitNoteEvent;
use super::merge_request::{MergeRequestEvent, RequestNoteEvent};
pub use super::parts::{Person, ProjectCard};
use super::snippet_note::SnippetNoteEvent;
use crate::Timestamp;
use crate::id::{IssueId, MilestoneId, NoteId, ProjectId, UserId};
use crate::issue::{Issue, IssueState};
use crate::note::Note;

/// An event in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectEvent {
    /// An issue was created or changed.
    Issue(IssueEvent),
    /// A user wrote a note on an issue.
    NoteOnIssue(NoteEvent),
    /// A merge request was created or changed.
    MergeRequest(MergeRequestEvent),
    /// A user wrote a note on a merge request.
    NoteOnMergeRequest(RequestNoteEvent),
    /// A user wrote a comment on a commit.
    NoteOnCommit(CommitNoteEvent),
    /// A user wrote a note on a snippet.
    NoteOnSnippet(SnippetNoteEvent),
    /// A build was created, started or finished.
    Build(BuildEvent),
    /// The status of a pipeline changed.
    Pipeline(PipelineEvent),
}

impl ProjectEvent {
    /// The project whose hooks receive the event.
    pub fn project(&self) -> ProjectId {
        match self {
            ProjectEvent::Issue(event) => event.project.id,
            ProjectEvent::NoteOnIssue(event) => event.project.id,
            ProjectEvent::MergeRequest(event) => event.request.target.id,
            ProjectEvent::NoteOnMergeRequest(event) => event.request.target.id,
            ProjectEvent::NoteOnCommit(event) => event.project.id,
            ProjectEvent::NoteOnSnippet(event) => event.project.id,
            ProjectEvent::Build(event) => event.project.id,
            ProjectEvent::Pipeline(event) => event.project.id,
        }
    }
}

/// A change of an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueEvent {
    /// The kind of change.
    pub action: IssueAction,
    /// The user who made the change.
    pub user: Person,
    /// The project.
    pub project: ProjectCard,
    /// The issue after the change.
    pub issue: IssueRow,
    /// The assignee.
    pub assignee: Option<Person>,
}

/// The kind of change of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueAction {
    /// The issue was created.
    Open,
    /// The issue was closed.
    Close,
    /// The issue was reopened.
    Reopen,
    /// Any other change.
    Update,
}

impl IssueAction {
    const ALL: [IssueAction; 4] = [Self::Open, Self::Close, Self::Reopen, Self::Update];

    /// The name of the action in hook payloads and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            IssueAction::Open => "open",
            IssueAction::Close => "close",
            IssueAction::Reopen => "reopen",
            IssueAction::Update => "update",
        }
    }

    /// Parses the name of an action.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

/// A new note of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteEvent {
    /// The author of the note.
    pub user: Person,
    /// The project.
    pub project: ProjectCard,
    /// The note.
    pub note: NoteRow,
    /// The issue. Hooks do not receive notes on confidential issues.
    pub issue: IssueRow,
}

/// The data of an issue in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueRow {
    /// See [`Issue::id`].
    pub id: IssueId,
    /// See [`Issue::iid`].
    pub iid: i64,
    /// See [`Issue::project`].
    pub project: ProjectId,
    /// See [`Issue::title`].
    pub title: String,
    /// See [`Issue::description`].
    pub description: Option<String>,
    /// See [`Issue::state`].
    pub state: IssueState,
    /// See [`Issue::author`].
    pub author: UserId,
    /// See [`Issue::assignee`].
    pub assignee: Option<UserId>,
    /// See [`Issue::milestone`].
    pub milestone: Option<MilestoneId>,
    /// See [`Issue::updated_by`].
    pub updated_by: Option<UserId>,
    /// See [`Issue::moved_to`].
    pub moved_to: Option<IssueId>,
    /// See [`Issue::confidential`].
    pub confidential: bool,
    /// See [`Issue::due_date`].
    pub due_date: Option<NaiveDate>,
    /// See [`Issue::created_at`].
    pub created_at: Timestamp,
    /// See [`Issue::updated_at`].
    pub updated_at: Timestamp,
}

impl From<&Issue> for IssueRow {
    fn from(issue: &Issue) -> Self {
        Self {
            id: issue.id,
            iid: issue.iid,
            project: issue.project,
            title: issue.title.as_str().to_owned(),
            description: issue.description.as_ref().map(|text| text.as_str().to_owned()),
            state: issue.state,
            author: issue.author,
            assignee: issue.assignee,
            milestone: issue.milestone,
            updated_by: issue.updated_by,
            moved_to: issue.moved_to,
            confidential: issue.confidential,
            due_date: issue.due_date,
            created_at: issue.created_at,
            updated_at: issue.updated_at,
        }
    }
}

/// The data of a note in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteRow {
    /// See [`Note::id`].
    pub id: NoteId,
    /// See [`Note::body`].
    pub body: String,
    /// See [`Note::author`].
    pub author: UserId,
    /// See [`Note::updated_by`].
    pub updated_by: Option<UserId>,
    /// See [`Note::created_at`].
    pub created_at: Timestamp,
    /// See [`Note::updated_at`].
    pub updated_at: Timestamp,
}

impl From<&Note> for NoteRow {
    fn from(note: &Note) -> Self {
        Self {
            id: note.id,
            body: note.body.as_str().to_owned(),
            author: note.author,
            updated_by: note.updated_by,
            created_at: note.created_at,
            updated_at: note.updated_at,
        }
    }
}
