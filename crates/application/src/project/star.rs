//! Stars of projects.

use hexforge_domain::change::Change;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::star::StarCommand;
use hexforge_domain::project::{Project, ProjectRef};

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::view::project::{self as view, ProjectView};

/// Adds or removes the actor's star on a project.
pub fn apply(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    command: StarCommand,
) -> Result<Change<ProjectView>, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let project = requester.locked_project(tx, ProjectAbility::Star, named)?;
        let Change::Applied(starred) = tx.stars().find(project.id, user)?.apply(command) else {
            return Ok(Change::Unchanged);
        };
        let updated_at = app.clock.now();
        tx.stars().put(project.id, user, starred, updated_at)?;
        // The row is locked, so no other transaction changes the counter.
        let star_count = starred.adjust_count(project.star_count);
        let project = Project { star_count, updated_at, ..project };
        Ok(Change::Applied(view::full(tx, project, requester)?))
    })
}
