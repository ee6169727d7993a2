//! Archiving projects.

use hexforge_domain::change::Change;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::{ArchiveCommand, Project, ProjectRef};

use crate::app::App;
use crate::error::Error;
use crate::view::project::{self as view, ProjectView};

/// Archives or unarchives a project. Does nothing when the project is in that state already.
pub fn apply(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    command: ArchiveCommand,
) -> Result<ProjectView, Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Own, named)?;
        let project = match project.archived.apply(command) {
            Change::Unchanged => project,
            Change::Applied(archived) => {
                let changed = Project { archived, updated_at: app.clock.now(), ..project };
                tx.projects().update(&changed)?;
                changed
            }
        };
        Ok(view::full(tx, project, app.requester(actor))?)
    })
}
