//! The rules for the issues, labels, milestones and boards of a project, and for a single issue or note.

use super::merge_request::{MergeRequestAbility, MergeRequestFacts};
use super::project::ProjectFacts;
use super::snippet::{SnippetAbility, SnippetFacts, SnippetsAbility};
use super::{Actor, Protected};
use crate::member::AccessLevel;

/// The facts for decisions about the issues of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackerFacts {
    /// The facts about the project and the actor.
    pub project: ProjectFacts,
    /// Whether issues are enabled in the project.
    pub issues: bool,
    /// Whether merge requests are enabled in the project.
    pub merge_requests: bool,
}

/// The operations on the issues, labels, milestones and boards of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackerAbility {
    /// See the project, and its board.
    SeeProject,
    /// See its issues and their notes.
    ReadIssues,
    /// Create issues and notes.
    CreateIssues,
    /// See all confidential issues, edit all issues, set their labels, milestone, assignee and due date.
    AdministerIssues,
    /// Change and delete the notes of other users.
    ModerateNotes,
    /// Delete issues, and set the creation time of issues and notes.
    DeleteIssues,
    /// See and subscribe to labels.
    ReadLabels,
    /// Create, change and delete labels.
    AdministerLabels,
    /// See milestones.
    ReadMilestones,
    /// Create and change milestones.
    AdministerMilestones,
    /// Add and move lists of the board. In the `Original` dialect also delete them.
    AdministerLists,
    /// Delete lists of the board in the `Specification` dialect.
    DeleteLists,
}

impl TrackerAbility {
    /// All abilities.
    pub const ALL: [TrackerAbility; 12] = [
        Self::SeeProject,
        Self::ReadIssues,
        Self::CreateIssues,
        Self::AdministerIssues,
        Self::ModerateNotes,
        Self::DeleteIssues,
        Self::ReadLabels,
        Self::AdministerLabels,
        Self::ReadMilestones,
        Self::AdministerMilestones,
        Self::AdministerLists,
        Self::DeleteLists,
    ];
}

impl Protected for TrackerFacts {
    type Ability = TrackerAbility;
    const READ: TrackerAbility = TrackerAbility::SeeProject;

    fn allows(&self, actor: Actor, ability: TrackerAbility) -> bool {
        let team = |least| self.project.is_team(actor, least);
        // Anonymous callers have no access to this area, not even in public projects.
        let sees =
            actor != Actor::Anonymous && (self.project.open_to(actor) || team(AccessLevel::Guest));
        let labels = self.issues || self.merge_requests;
        match ability {
            TrackerAbility::SeeProject => sees,
            TrackerAbility::ReadIssues | TrackerAbility::CreateIssues => self.issues && sees,
            TrackerAbility::AdministerIssues => self.issues && team(AccessLevel::Reporter),
            TrackerAbility::ModerateNotes => self.issues && team(AccessLevel::Master),
            TrackerAbility::DeleteIssues => self.issues && self.project.is_owner(actor),
            TrackerAbility::ReadLabels | TrackerAbility::ReadMilestones => labels && sees,
            TrackerAbility::AdministerLabels => labels && team(AccessLevel::Reporter),
            TrackerAbility::AdministerMilestones => labels && team(AccessLevel::Master),
            TrackerAbility::AdministerLists => team(AccessLevel::Reporter),
            TrackerAbility::DeleteLists => self.project.is_owner(actor),
        }
    }
}

/// The facts for decisions about one issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssueFacts {
    /// The facts about the issues of the project.
    pub tracker: TrackerFacts,
    /// Whether the issue is confidential.
    pub confidential: bool,
    /// Whether the actor is the author or the assignee.
    pub concerns_actor: bool,
}

/// The operations on one issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueAbility {
    /// See it and its notes, and add notes.
    Read,
    /// Change its title, description, state and confidentiality.
    Update,
}

impl Protected for IssueFacts {
    type Ability = IssueAbility;
    const READ: IssueAbility = IssueAbility::Read;

    fn allows(&self, actor: Actor, ability: IssueAbility) -> bool {
        let trusted =
            self.concerns_actor || self.tracker.allows(actor, TrackerAbility::AdministerIssues);
        let seen = self.tracker.allows(actor, TrackerAbility::ReadIssues)
            && (!self.confidential || trusted);
        match ability {
            IssueAbility::Read => seen,
            IssueAbility::Update => seen && trusted,
        }
    }
}

/// The facts about the subject of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteSubject {
    /// The note is on an issue.
    Issue(IssueFacts),
    /// The note is on a merge request.
    MergeRequest(MergeRequestFacts),
    /// The note is on a snippet.
    Snippet(SnippetFacts),
}

impl NoteSubject {
    /// Returns whether the actor sees the project of the subject.
    fn is_project_seen_by(&self, actor: Actor) -> bool {
        match self {
            NoteSubject::Issue(issue) => issue.tracker.allows(actor, TrackerAbility::SeeProject),
            NoteSubject::MergeRequest(request) => {
                request.allows(actor, MergeRequestAbility::SeeProject)
            }
            NoteSubject::Snippet(snippet) => {
                snippet.snippets.allows(actor, SnippetsAbility::SeeProject)
            }
        }
    }

    /// Returns whether the actor sees the subject, and therefore its notes.
    fn is_seen_by(&self, actor: Actor) -> bool {
        match self {
            NoteSubject::Issue(issue) => issue.allows(actor, IssueAbility::Read),
            NoteSubject::MergeRequest(request) => request.allows(actor, MergeRequestAbility::Read),
            NoteSubject::Snippet(snippet) => snippet.allows(actor, SnippetAbility::Discuss),
        }
    }

    /// Returns whether the actor may change and delete the notes of other users.
    fn is_moderated_by(&self, actor: Actor) -> bool {
        match self {
            NoteSubject::Issue(issue) => issue.tracker.allows(actor, TrackerAbility::ModerateNotes),
            NoteSubject::MergeRequest(request) => request.requests.moderates_notes(actor),
            NoteSubject::Snippet(snippet) => snippet.is_moderated_by(actor),
        }
    }
}

/// The facts for decisions about one note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteFacts {
    /// The facts about the subject of the note.
    pub on: NoteSubject,
    /// Whether the actor is the author.
    pub written_by_actor: bool,
    /// Whether it is a system note, written by the service.
    pub system: bool,
}

/// The operations on one note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteAbility {
    /// See it.
    Read,
    /// Change its text.
    Update,
    /// Remove it.
    Delete,
}

impl Protected for NoteFacts {
    type Ability = NoteAbility;
    const READ: NoteAbility = NoteAbility::Read;

    fn allows(&self, actor: Actor, ability: NoteAbility) -> bool {
        let (seen, moderates) = (self.on.is_seen_by(actor), self.on.is_moderated_by(actor));
        // A system note names the acting user as its author, but does not belong to that user.
        // Authors keep their rights when they do not see the subject any more, for example a confidential issue.
        let own = self.written_by_actor && !self.system && self.on.is_project_seen_by(actor);
        match ability {
            NoteAbility::Read => seen,
            NoteAbility::Update => own || (seen && moderates && !self.system),
            NoteAbility::Delete => own || (seen && moderates),
        }
    }
}

#[cfg(test)]
pub(super) mod matrix;
