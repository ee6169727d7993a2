//! The rules about the snippets of a project.

use super::project::ProjectFacts;
use super::{Actor, Protected};
use crate::member::AccessLevel;
use crate::visibility::Visibility;

/// The facts for decisions about all snippets of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnippetsFacts {
    /// The facts about the project and the actor.
    pub project: ProjectFacts,
    /// Whether snippets are enabled in the project.
    pub enabled: bool,
}

/// The operations on all snippets of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnippetsAbility {
    /// See the project, and list its snippets as far as their levels allow.
    SeeProject,
    /// Create snippets.
    Create,
}

impl Protected for SnippetsFacts {
    type Ability = SnippetsAbility;
    const READ: SnippetsAbility = SnippetsAbility::SeeProject;

    fn allows(&self, actor: Actor, ability: SnippetsAbility) -> bool {
        match ability {
            // Anonymous callers have no access to snippets, not even in public projects.
            SnippetsAbility::SeeProject => {
                actor != Actor::Anonymous
                    && (self.project.open_to(actor)
                        || self.project.is_team(actor, AccessLevel::Guest))
            }
            SnippetsAbility::Create => {
                self.enabled && self.project.is_team(actor, AccessLevel::Reporter)
            }
        }
    }
}

impl SnippetsFacts {
    /// Returns the lowest level whose snippets the actor sees; `None` if the actor sees no snippets. The team sees all
    /// levels. External users who are not in the team do not see internal snippets.
    pub fn lowest_visible(&self, actor: Actor) -> Option<Visibility> {
        if !self.enabled || !self.allows(actor, SnippetsAbility::SeeProject) {
            return None;
        }
        if self.project.is_team(actor, AccessLevel::Guest) {
            return Some(Visibility::Private);
        }
        Some(match actor {
            Actor::User { external: true, .. } | Actor::Anonymous => Visibility::Public,
            Actor::User { external: false, .. } | Actor::Admin { .. } => Visibility::Internal,
        })
    }
}

/// The facts for decisions about one snippet of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnippetFacts {
    /// The facts about all snippets of the project.
    pub snippets: SnippetsFacts,
    /// The level of the snippet.
    pub visibility: Visibility,
    /// Whether the actor is the author.
    pub written_by_actor: bool,
}

/// The operations on one snippet of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnippetAbility {
    /// See it and its content.
    Read,
    /// Read and write its notes. The author may, even after leaving the team.
    Discuss,
    /// Change and delete it. Masters may not, unless they are the author.
    Update,
}

impl Protected for SnippetFacts {
    type Ability = SnippetAbility;
    const READ: SnippetAbility = SnippetAbility::Read;

    fn allows(&self, actor: Actor, ability: SnippetAbility) -> bool {
        let lowest = self.snippets.lowest_visible(actor);
        let seen = lowest.is_some_and(|lowest| self.visibility >= lowest);
        match ability {
            SnippetAbility::Read => seen,
            SnippetAbility::Discuss => seen || lowest.is_some() && self.written_by_actor,
            SnippetAbility::Update => {
                seen && (self.written_by_actor || matches!(actor, Actor::Admin { .. }))
            }
        }
    }
}

/// The facts for decisions about a personal snippet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonalSnippetFacts {
    /// The level of the snippet.
    pub visibility: Visibility,
    /// Whether the actor is the author.
    pub written_by_actor: bool,
}

impl PersonalSnippetFacts {
    /// Returns whether the page of the snippet exists for the actor: authors see theirs, external users and strangers
    /// those of others that are public, and other users also internal ones.
    pub fn is_read_by(&self, actor: Actor) -> bool {
        let lowest = match actor {
            Actor::Anonymous | Actor::User { external: true, .. } => Visibility::Public,
            Actor::User { external: false, .. } | Actor::Admin { .. } => Visibility::Internal,
        };
        self.written_by_actor || self.visibility >= lowest
    }
}

impl SnippetFacts {
    /// Returns whether the actor may change and delete the notes of other users.
    pub(super) fn is_moderated_by(&self, actor: Actor) -> bool {
        self.snippets.enabled && self.snippets.project.is_team(actor, AccessLevel::Master)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;
    use crate::policy::project::ProjectRole;
    use crate::project::Archived;

    const USER: Actor = Actor::User { id: UserId(2), external: false };
    const EXTERNAL: Actor = Actor::User { id: UserId(3), external: true };
    const ADMIN: Actor = Actor::Admin { id: UserId(1) };

    fn facts(visibility: Visibility, level: Option<AccessLevel>, enabled: bool) -> SnippetsFacts {
        let role = ProjectRole { level, owner: false };
        SnippetsFacts {
            project: ProjectFacts { visibility, role, archived: Archived::No },
            enabled,
        }
    }

    /// The whole matrix of who sees which levels.
    #[test]
    fn the_team_sees_all_levels_and_others_the_open_ones() {
        use AccessLevel::{Guest, Reporter};
        use Visibility::{Internal, Private, Public};
        for (actor, project, level, lowest, creates) in [
            (Actor::Anonymous, Public, None, None, false),
            (USER, Private, None, None, false),
            (USER, Internal, None, Some(Internal), false),
            (USER, Public, None, Some(Internal), false),
            (EXTERNAL, Internal, None, None, false),
            (EXTERNAL, Public, None, Some(Public), false),
            (EXTERNAL, Private, Some(Guest), Some(Private), false),
            (USER, Private, Some(Guest), Some(Private), false),
            (USER, Private, Some(Reporter), Some(Private), true),
            (ADMIN, Private, None, Some(Private), true),
        ] {
            let on = facts(project, level, true);
            assert_eq!(on.lowest_visible(actor), lowest, "{actor:?} {project:?} {level:?}");
            assert_eq!(on.allows(actor, SnippetsAbility::Create), creates, "{actor:?} {level:?}");
            let off = facts(project, level, false);
            assert_eq!(off.lowest_visible(actor), None);
            assert!(!off.allows(actor, SnippetsAbility::Create));
        }
    }

    #[test]
    fn personal_snippets_are_read_by_their_level() {
        use Visibility::{Internal, Private, Public};
        for (actor, written_by_actor, seen) in [
            (Actor::Anonymous, false, [false, false, true]),
            (EXTERNAL, false, [false, false, true]),
            (EXTERNAL, true, [true, true, true]),
            (USER, false, [false, true, true]),
            (USER, true, [true, true, true]),
            (ADMIN, false, [false, true, true]),
        ] {
            let reads = |visibility| {
                PersonalSnippetFacts { visibility, written_by_actor }.is_read_by(actor)
            };
            assert_eq!([Private, Internal, Public].map(reads), seen, "{actor:?}");
        }
    }

    #[test]
    fn the_author_changes_a_snippet_and_a_master_does_not() {
        use AccessLevel::Master;
        use SnippetAbility::{Discuss, Read, Update};
        for (actor, level, visibility, written_by_actor, allowed) in [
            (USER, Some(Master), Visibility::Private, false, [true, true, false]),
            (USER, Some(Master), Visibility::Private, true, [true, true, true]),
            (ADMIN, None, Visibility::Private, false, [true, true, true]),
            (USER, None, Visibility::Private, true, [false, true, false]),
            (USER, None, Visibility::Private, false, [false, false, false]),
            (USER, None, Visibility::Internal, true, [true, true, true]),
            (USER, None, Visibility::Internal, false, [true, true, false]),
            (Actor::Anonymous, None, Visibility::Public, false, [false, false, false]),
        ] {
            let snippets = facts(Visibility::Public, level, true);
            let on = SnippetFacts { snippets, visibility, written_by_actor };
            let found = [Read, Discuss, Update].map(|ability| on.allows(actor, ability));
            assert_eq!(found, allowed, "{actor:?} {level:?} {visibility:?} {written_by_actor}");
            let off = SnippetFacts { snippets: facts(Visibility::Public, level, false), ..on };
            assert!([Read, Discuss, Update].iter().all(|ability| !off.allows(actor, *ability)));
        }
    }
}
