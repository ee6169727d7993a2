//! Stars.

use hexforge_domain::change::Change;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::project::star::StarCommand;

use crate::access;
use crate::app::App;
use crate::error::{Error, Thing};
use crate::view::project::{self as view, ProjectView, Reader};

/// Stars a project for the actor, or takes the star back.
pub fn apply(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    command: StarCommand,
) -> Result<Change<ProjectView>, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let today = app.today();
        let project = access::locked_project(tx, actor, ProjectAbility::Star, named, today)?;
        let Change::Applied(starred) = tx.stars().find(project.id, user)?.apply(command) else {
            return Ok(Change::Unchanged);
        };
        tx.stars().put(project.id, user, starred, app.clock.now())?;
        let project = tx.projects().find(&ProjectRef::Id(project.id))?;
        let project = project.ok_or(Error::NotFound(Thing::Project))?;
        Ok(Change::Applied(view::full(tx, project, Reader { actor, today: app.today() })?))
    })
}
