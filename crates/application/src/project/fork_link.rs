//! Adds and removes the fork relation between existing projects.

use hexforge_domain::Timestamp;
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::visibility::Visibility;

use crate::access;
use crate::app::App;
use crate::error::{Conflict, Entity, Error};
use crate::merge_request::fork;

/// The fork relation between two projects. A project has at most one source, so the id of the fork identifies the
/// relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkLink {
    /// The fork.
    pub fork: ProjectId,
    /// The source of the fork.
    pub source: ProjectId,
    /// The time when the relation was added.
    pub at: Timestamp,
}

/// Makes an existing project a fork of another; for administrators.
pub fn create(
    app: &App,
    actor: Actor,
    fork: &ProjectRef,
    source: &ProjectRef,
) -> Result<ForkLink, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let (Some(from), Some(to)) = (tx.projects().header(source)?, tx.projects().header(fork)?)
        else {
            return Err(Error::NotFound(Entity::Project));
        };
        // Locks both projects in the global lock order, so that this cannot deadlock with a removal. Two requests that
        // link two projects to each other run one after the other.
        tx.projects().lock_all(&[from.id, to.id])?;
        let source = requester.project(tx, ProjectAbility::Read, &ProjectRef::Id(from.id))?;
        let fork = requester.project(tx, ProjectAbility::Own, &ProjectRef::Id(to.id))?;
        if fork.forked_from.is_some() {
            return Err(Error::Conflict(Conflict::AlreadyForked));
        }
        // A project must not be its own source, directly or through other forks.
        if source.id == fork.id || tx.projects().is_fork_of(source.id, fork.id)? {
            return Err(FieldErrors::single("forked_from_project_id", FieldProblem::Invalid).into());
        }
        if let Some(text) = too_visible(fork.visibility, source.visibility) {
            return Err(FieldErrors::single("visibility_level", text).into());
        }
        let at = app.clock.now();
        let link = ForkLink { fork: fork.id, source: source.id, at };
        let linked = Project { forked_from: Some(source.id), updated_at: at, ..fork };
        tx.projects().update(&linked).map_err(|error| match error {
            StoreError::Gone => Error::NotFound(Entity::Project),
            error => error.into(),
        })?;
        Ok(link)
    })
}

/// Returns an error text if a fork would be more visible than its source.
pub(super) fn too_visible(fork: Visibility, source: Visibility) -> Option<String> {
    let text = "is not allowed since the fork source project has lower visibility.";
    (fork > source).then(|| format!("{} {text}", fork.as_str()))
}

/// Removes the fork relation of a project. Returns whether there was one.
pub fn delete(app: &App, actor: Actor, named: &ProjectRef) -> Result<bool, Error> {
    app.store.write(|tx| {
        let fork = app.requester(actor).locked_project(tx, ProjectAbility::Own, named)?;
        let was_fork = fork.forked_from.is_some();
        if was_fork {
            fork::queue_closing(tx, &fork, access::own_account(actor)?, app.clock.now())?;
            let alone = Project { forked_from: None, updated_at: app.clock.now(), ..fork };
            tx.projects().update(&alone)?;
        }
        Ok(was_fork)
    })
}
