//! The progress of an import, and another try of one that failed.

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::repository::task::{ImportState, TaskKind};
use hexforge_domain::text::Secret;

use super::fields::import_url;
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};

/// Returns the state of the import of a project; `None` when nothing is imported, or the import is done.
pub fn state(app: &App, actor: Actor, named: &ProjectRef) -> Result<Option<ImportState>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Read, named)?;
        let states = tx.repository_tasks().imports(&[project.id])?;
        Ok(states.into_iter().next().map(|(_, state)| state))
    })
}

/// Imports again into a project whose import failed. The URL is given again, because the credentials in it were
/// forgotten.
/// # Errors
/// Not found unless the import of the project failed.
pub fn retry(app: &App, actor: Actor, named: &ProjectRef, url: &str) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let ability = ProjectAbility::Administer;
        let project = app.requester(actor).locked_project(tx, ability, named)?;
        let states = tx.repository_tasks().imports(&[project.id])?;
        if !matches!(states.as_slice(), [(_, ImportState::Failed(_))]) {
            return Err(Error::NotFound(Entity::Record));
        }
        import_url(url).map_err(|error| FieldErrors::single("import_url", error))?;
        let import = TaskKind::Import { url: Secret::new(url.trim()), user };
        tx.repository_tasks().insert(project.id, &import, app.clock.now())?;
        Ok(())
    })
}
