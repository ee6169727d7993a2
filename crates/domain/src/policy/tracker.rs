//! The rules about what a project's issues, labels, milestones and boards are to somebody, and about a
//! single issue.

use super::project::ProjectFacts;
use super::{Actor, Protected};
use crate::member::AccessLevel;

/// What a decision about the issues of a project needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackerFacts {
    /// About the project and the actor.
    pub project: ProjectFacts,
    /// Whether the project has issues.
    pub issues: bool,
    /// Whether the project has merge requests.
    pub merge_requests: bool,
}

/// What can be done with the issues of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackerAbility {
    /// See the project, and its board.
    SeeProject,
    /// See its issues and their notes.
    ReadIssues,
    /// Write issues and notes.
    CreateIssues,
    /// See all confidential issues, edit all issues, set their labels, milestone, assignee and day.
    AdministerIssues,
    /// Change and remove the notes of others.
    ModerateNotes,
    /// Remove issues, and say when something was written.
    DeleteIssues,
    /// See and subscribe to labels.
    ReadLabels,
    /// Make, change and remove labels.
    AdministerLabels,
    /// See milestones.
    ReadMilestones,
    /// Make and change milestones.
    AdministerMilestones,
    /// Add and move lists of the board; by one of two rules also remove them.
    AdministerLists,
    /// Remove lists of the board, by the other rule.
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
        // No call of this area is open to nobody, not even on public projects.
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

/// What a decision about an issue needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssueFacts {
    /// About the issues of its project.
    pub tracker: TrackerFacts,
    /// Whether it is confidential.
    pub confidential: bool,
    /// Whether the actor wrote it or is to do it.
    pub concerns_actor: bool,
}

/// What can be done with an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueAbility {
    /// See it and its notes, and write some.
    Read,
    /// Change its texts, state and confidentiality.
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

/// What a decision about a note needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteFacts {
    /// About the issue it is on.
    pub issue: IssueFacts,
    /// Whether the actor wrote it.
    pub written_by_actor: bool,
    /// Whether the service wrote it.
    pub system: bool,
}

/// What can be done with a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteAbility {
    /// See it.
    Read,
    /// Change what it says.
    Update,
    /// Remove it.
    Delete,
}

impl Protected for NoteFacts {
    type Ability = NoteAbility;
    const READ: NoteAbility = NoteAbility::Read;

    fn allows(&self, actor: Actor, ability: NoteAbility) -> bool {
        let seen = self.issue.allows(actor, IssueAbility::Read);
        let moderates = self.issue.tracker.allows(actor, TrackerAbility::ModerateNotes);
        // What the service wrote down about somebody is not that somebody's.
        let own = self.written_by_actor && !self.system;
        match ability {
            NoteAbility::Read => seen,
            NoteAbility::Update => seen && !self.system && (own || moderates),
            NoteAbility::Delete => seen && (own || moderates),
        }
    }
}

#[cfg(test)]
mod matrix;
