//! The rules about runners. Whoever calls may know that a runner exists, so that every refusal has a reason.

use super::Actor;

/// The facts for decisions about a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunnerFacts {
    /// Whether the runner is shared.
    pub shared: bool,
    /// Whether the runner is restricted to its projects.
    pub locked: bool,
    /// Whether the actor can access the runner; see
    /// [`Runners::is_accessible`](crate::runner::port::Runners::is_accessible). Not needed for administrators.
    pub accessible: bool,
    /// Whether the runner is assigned to more than one project. Only needed to remove it, and to take it from a
    /// project.
    pub several_projects: bool,
}

/// The operations on a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerAbility {
    /// See its details.
    Read,
    /// See its token.
    ReadToken,
    /// See all its projects, not only those that the actor is authorized for.
    ReadAllProjects,
    /// Change it.
    Update,
    /// Remove it.
    Remove,
    /// Assign it to a project that the actor administers.
    Assign,
    /// Take it from a project that the actor administers.
    Unassign,
}

/// Why an operation on a runner is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunnerRefusal {
    /// The runner is shared.
    #[error("the runner is shared")]
    Shared,
    /// The runner is restricted to its projects.
    #[error("the runner is locked to its projects")]
    Locked,
    /// The runner is assigned to more than one project.
    #[error("the runner has several projects")]
    SeveralProjects,
    /// The runner is assigned to no other project.
    #[error("the runner has only one project")]
    OnlyProject,
    /// The actor can not access the runner.
    #[error("the actor has no access to the runner")]
    NoAccess,
}

impl RunnerFacts {
    /// Decides whether the actor may do something with the runner. The first refusal counts.
    pub fn check(&self, actor: Actor, ability: RunnerAbility) -> Result<(), RunnerRefusal> {
        let administers = match actor {
            Actor::Anonymous => return Err(RunnerRefusal::NoAccess),
            Actor::User { .. } => false,
            Actor::Admin { .. } => true,
        };
        let refuse = |is_refused: bool, refusal| if is_refused { Err(refusal) } else { Ok(()) };
        let access = refuse(!administers && !self.accessible, RunnerRefusal::NoAccess);
        let specific = refuse(!administers && self.shared, RunnerRefusal::Shared);
        match ability {
            RunnerAbility::Read if self.shared => Ok(()),
            RunnerAbility::Read => access,
            RunnerAbility::ReadToken => specific,
            RunnerAbility::ReadAllProjects => refuse(!administers, RunnerRefusal::NoAccess),
            RunnerAbility::Update => specific.and(access),
            RunnerAbility::Remove => {
                let several = !administers && self.several_projects;
                specific.and(refuse(several, RunnerRefusal::SeveralProjects)).and(access)
            }
            // Administrators pass only the last check.
            RunnerAbility::Assign => refuse(self.shared, RunnerRefusal::Shared)
                .and(refuse(self.locked, RunnerRefusal::Locked))
                .and(access),
            RunnerAbility::Unassign => refuse(!self.several_projects, RunnerRefusal::OnlyProject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;
    use RunnerAbility::*;
    use RunnerRefusal::{Locked, NoAccess, OnlyProject, SeveralProjects, Shared};

    /// rest_of_v3.md 9.1, 9.3 and 9.4.
    #[test]
    fn the_whole_matrix_of_runners() {
        let strange = RunnerFacts {
            shared: false,
            locked: false,
            accessible: false,
            several_projects: false,
        };
        let own = RunnerFacts { accessible: true, ..strange };
        let shared = RunnerFacts { shared: true, several_projects: true, ..strange };
        let busy = RunnerFacts { several_projects: true, ..own };
        let locked = RunnerFacts { locked: true, ..own };
        let all = [Read, ReadToken, ReadAllProjects, Update, Remove, Assign, Unassign];
        let (ok, no, last) = (Ok(()), Err(NoAccess), Err(OnlyProject));
        for (facts, user, admin) in [
            (strange, [no, ok, no, no, no, no, last], [ok, ok, ok, ok, ok, ok, last]),
            (own, [ok, ok, no, ok, ok, ok, last], [ok, ok, ok, ok, ok, ok, last]),
            (
                shared,
                [ok, Err(Shared), no, Err(Shared), Err(Shared), Err(Shared), ok],
                [ok, ok, ok, ok, ok, Err(Shared), ok],
            ),
            (busy, [ok, ok, no, ok, Err(SeveralProjects), ok, ok], [ok; 7]),
            (
                RunnerFacts { accessible: false, ..busy },
                [no, ok, no, no, Err(SeveralProjects), no, ok],
                [ok; 7],
            ),
            (
                locked,
                [ok, ok, no, ok, ok, Err(Locked), last],
                [ok, ok, ok, ok, ok, Err(Locked), last],
            ),
        ] {
            let check = |actor| all.map(|ability| facts.check(actor, ability));
            assert_eq!(check(Actor::User { id: UserId(2), external: false }), user, "{facts:?}");
            assert_eq!(check(Actor::Admin { id: UserId(1) }), admin, "{facts:?}");
            assert_eq!(check(Actor::Anonymous), [no; 7], "{facts:?}");
        }
    }
}
