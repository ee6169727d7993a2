//! The progress of an import.

use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::repository::task::ImportState;

use crate::app::App;
use crate::error::Error;

/// Returns the state of the import of a project; `None` when nothing is imported, or the import is done.
pub fn state(app: &App, actor: Actor, named: &ProjectRef) -> Result<Option<ImportState>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Read, named)?;
        let states = tx.repository_tasks().imports(&[project.id])?;
        Ok(states.into_iter().next().map(|(_, state)| state))
    })
}
