//! Archiving.

use hexforge_domain::change::Change;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::{ArchiveCommand, Project, ProjectRef};

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::view::project::{self as view, ProjectView, Reader};

/// Archives a project or brings it back. Asking for what already holds changes nothing.
pub fn apply(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    command: ArchiveCommand,
) -> Result<ProjectView, Error> {
    app.store.write(|tx| {
        let project = access::locked_project(tx, actor, ProjectAbility::Own, named, app.today())?;
        let project = match project.archived.apply(command) {
            Change::Unchanged => project,
            Change::Applied(archived) => {
                let changed = Project { archived, updated_at: app.clock.now(), ..project };
                tx.projects().update(&changed)?;
                changed
            }
        };
        Ok(view::full(tx, project, Reader { actor, today: app.today() })?)
    })
}
