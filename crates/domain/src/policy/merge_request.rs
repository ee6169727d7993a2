//! The rules for the merge requests of a project, and for a single merge request.

use super::tracker::{TrackerAbility, TrackerFacts};
use super::{Actor, Protected};
use crate::member::AccessLevel;
use crate::project::Archived;

/// The operations on the merge requests of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestsAbility {
    /// See the project.
    SeeProject,
    /// List its merge requests.
    List,
    /// Create merge requests from its branches.
    CreateFrom,
    /// Create merge requests into its branches, from a fork.
    CreateInto,
}

/// The facts for decisions about the merge requests of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestsFacts(pub TrackerFacts);

impl RequestsFacts {
    /// Returns whether the actor may read every merge request of the project: merge requests are enabled, the actor is
    /// signed in and may read the code.
    fn reads_all(&self, actor: Actor) -> bool {
        let TrackerFacts { project, merge_requests, .. } = self.0;
        let signed_in = actor != Actor::Anonymous;
        let reads = project.open_to(actor) || project.is_team(actor, AccessLevel::Reporter);
        merge_requests && signed_in && reads
    }

    /// Returns whether merge requests can be created and changed at all.
    fn is_writable(&self) -> bool {
        let TrackerFacts { project, merge_requests, .. } = self.0;
        match project.archived {
            Archived::No => merge_requests,
            Archived::Yes => false,
        }
    }

    /// Returns whether the actor is at least a developer of the project.
    fn is_developer(&self, actor: Actor) -> bool {
        self.0.project.is_team(actor, AccessLevel::Developer)
    }

    /// Returns whether the actor may change and delete the notes of other users on merge requests.
    pub(super) fn moderates_notes(&self, actor: Actor) -> bool {
        self.0.merge_requests && self.0.project.is_team(actor, AccessLevel::Master)
    }

    fn sees_project(&self, actor: Actor) -> bool {
        self.0.allows(actor, TrackerAbility::SeeProject)
    }
}

impl Protected for RequestsFacts {
    type Ability = RequestsAbility;
    const READ: RequestsAbility = RequestsAbility::SeeProject;

    fn allows(&self, actor: Actor, ability: RequestsAbility) -> bool {
        match ability {
            RequestsAbility::SeeProject => self.sees_project(actor),
            RequestsAbility::List => self.reads_all(actor),
            RequestsAbility::CreateFrom => self.is_writable() && self.is_developer(actor),
            RequestsAbility::CreateInto => self.is_writable() && self.sees_project(actor),
        }
    }
}

/// The facts for decisions about one merge request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeRequestFacts {
    /// The facts about the merge requests of the target project.
    pub requests: RequestsFacts,
    /// Whether the actor is the author or the assignee.
    pub concerns_actor: bool,
}

/// The operations on one merge request. Merging depends on the target branch; see
/// [`PushFacts::may_merge_into`](super::push::PushFacts::may_merge_into).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRequestAbility {
    /// See the target project, and therefore learn that the request exists.
    SeeProject,
    /// See it, its commits, changes and notes, and add notes.
    Read,
    /// Change its title, description, target branch and state; subscribe to it; write commands.
    Update,
    /// Set its labels, milestone and assignee.
    Administer,
    /// Delete it.
    Delete,
}

impl MergeRequestAbility {
    /// All abilities.
    pub const ALL: [MergeRequestAbility; 5] =
        [Self::SeeProject, Self::Read, Self::Update, Self::Administer, Self::Delete];
}

impl Protected for MergeRequestFacts {
    type Ability = MergeRequestAbility;
    const READ: MergeRequestAbility = MergeRequestAbility::SeeProject;

    fn allows(&self, actor: Actor, ability: MergeRequestAbility) -> bool {
        let requests = &self.requests;
        let sees = requests.sees_project(actor);
        let enabled = requests.0.merge_requests;
        let concerned = self.concerns_actor && actor != Actor::Anonymous;
        match ability {
            MergeRequestAbility::SeeProject => sees,
            MergeRequestAbility::Read => {
                sees && (requests.reads_all(actor) || enabled && concerned)
            }
            MergeRequestAbility::Update => {
                sees && requests.is_writable() && (concerned || requests.is_developer(actor))
            }
            MergeRequestAbility::Administer => {
                requests.is_writable() && requests.is_developer(actor)
            }
            MergeRequestAbility::Delete => requests.0.project.is_owner(actor),
        }
    }
}

#[cfg(test)]
mod matrix;
