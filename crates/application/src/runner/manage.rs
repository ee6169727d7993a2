//! Manages runners, for administrators.

use hexforge_domain::change::Change;
use hexforge_domain::id::{ProjectId, RunnerId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::runner::Runner;
use hexforge_domain::runner::query::RunnerFilter;
use hexforge_domain::text::Secret;

use crate::access;
use crate::app::App;
use crate::build::expiry;
use crate::ci_token;
use crate::error::{Entity, Error};
use crate::project::create::new_runners_token;

/// A runner with the projects that it is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerView {
    /// The runner.
    pub runner: Runner,
    /// The projects by id; empty for a shared runner.
    pub projects: Vec<ProjectId>,
}

/// Lists all runners, by id.
pub fn list(app: &App, actor: Actor, page: Page) -> Result<Paged<RunnerView>, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    app.store.read(|tx| {
        let Paged { items, total } = tx.runners().list(&RunnerFilter::ALL, page)?;
        let ids: Vec<RunnerId> = items.iter().map(|runner| runner.id).collect();
        let bound = tx.runners().projects_of(&ids)?;
        let view = |runner: Runner| {
            let of_it = bound.partition_point(|(id, _)| *id < runner.id);
            let of_it = bound[of_it..].iter().take_while(|(id, _)| *id == runner.id);
            RunnerView { projects: of_it.map(|(_, project)| *project).collect(), runner }
        };
        Ok(Paged { items: items.into_iter().map(view).collect(), total })
    })
}

/// Activates or pauses a runner. A paused runner gets no new builds, but goes on with the ones it runs.
pub fn set_active(
    app: &App,
    actor: Actor,
    id: RunnerId,
    active: bool,
) -> Result<Change<Runner>, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    app.store.write(|tx| {
        let runner = tx.runners().lock(id)?.ok_or(Error::NotFound(Entity::Record))?;
        if runner.active == active {
            return Ok(Change::Unchanged);
        }
        let runner = Runner { active, updated_at: app.clock.now(), ..runner };
        tx.runners().update(&runner)?;
        Ok(Change::Applied(runner))
    })
}

/// Removes a runner. Its token is refused from then on. The builds that it runs fail.
pub fn remove(app: &App, actor: Actor, id: RunnerId) -> Result<(), Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    let left = app.store.write(|tx| {
        tx.runners().lock(id)?.ok_or(Error::NotFound(Entity::Record))?;
        super::remove_runner(tx, id)
    })?;
    expiry::fail_abandoned_builds(app, &left)?;
    Ok(())
}

/// Returns the token with which runners register for all projects; `None` if the settings of the program contain it, of
/// which only the digest is known.
pub fn service_token(app: &App, actor: Actor) -> Result<Option<Secret>, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    if app.settings.runners_token.is_some() {
        return Ok(None);
    }
    app.store.read(|tx| Ok(Some(ci_token::service_token(app, tx.runners().rotations()?))))
}

/// Replaces the token with which runners register for all projects. Registered runners keep working.
pub fn rotate_service_token(app: &App, actor: Actor) -> Result<Secret, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    app.store.write(|tx| {
        let rotations = tx.runners().rotate()?;
        Ok(ci_token::service_token(app, rotations))
    })
}

/// Replaces the token with which runners register for a project. Registered runners keep working.
pub fn rotate_project_token(app: &App, actor: Actor, named: &ProjectRef) -> Result<Secret, Error> {
    app.store.write(|tx| {
        let ability = ProjectAbility::Administer;
        let project = app.requester(actor).locked_project(tx, ability, named)?;
        let token = new_runners_token(app);
        tx.projects().set_runners_token(project.id, &token)?;
        Ok(token)
    })
}
