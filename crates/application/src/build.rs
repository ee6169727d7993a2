//! Builds: reads them with their logs and artifacts, and cancels, retries, plays and erases them.

mod change;
pub mod expiry;
mod files;
mod step;

pub use change::{cancel, erase, keep_artifacts, play, retry};
pub(crate) use files::open as open_artifacts;
pub use files::{
    ArtifactsFile, LogTail, LoggedBuild, SHOWN_LOG, Trace, artifacts, artifacts_of_ref, trace,
    with_log,
};
pub use step::advance;

use hexforge_domain::build::{Build, BuildFilter};
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;

use crate::app::App;
use crate::error::{Entity, Error};
use crate::repository::{self, CommitRef, sight};
use crate::view::build::{self as view, BuildView};

/// Lists the builds of a project, newest first. `statuses` restricts the list to these statuses.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    statuses: Option<Vec<Status>>,
    page: Page,
) -> Result<Paged<BuildView>, Error> {
    app.store.read(|tx| {
        let project =
            app.requester(actor).ci_project(tx, app.settings.strict.to_list_builds(), named)?;
        let filter = BuildFilter { statuses, commit: None };
        let found = tx.builds().list(project.id, &filter, page)?;
        Ok(view::page(tx, found)?)
    })
}

/// Lists the builds of a commit, newest first.
pub fn list_of_commit(
    app: &App,
    actor: Actor,
    CommitRef { project: named, revision }: CommitRef<'_>,
    statuses: Option<Vec<Status>>,
    page: Page,
) -> Result<Paged<BuildView>, Error> {
    let project =
        app.store.read(|tx| app.requester(actor).ci_project(tx, CiAbility::ReadBuilds, named))?;
    let repository = repository::open(app, project.id)?;
    let commit = sight::resolve(app, actor, project.id, repository.as_ref(), revision)?;
    let commit = commit.ok_or(Error::NotFound(Entity::Commit))?;
    // Only a full commit id matches. For a branch name or an abbreviated id the list is empty.
    if commit.to_string() != revision {
        return Ok(Paged { items: vec![], total: 0 });
    }
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadBuilds, named)?;
        let filter = BuildFilter { statuses, commit: Some(commit) };
        let found = tx.builds().list(project.id, &filter, page)?;
        Ok(view::page(tx, found)?)
    })
}

/// Returns one build.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, id: BuildId) -> Result<BuildView, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadBuilds, named)?;
        let build = find(tx, project.id, id)?;
        Ok(view::load(tx, build)?)
    })
}

/// Returns the job with this id, if it belongs to the project.
fn find(tx: &mut dyn Tx, project: ProjectId, id: BuildId) -> Result<Build, Error> {
    let found = tx.builds().find(id)?;
    let found = found.filter(|build| build.project == project && build.kind.is_job());
    found.ok_or(Error::NotFound(Entity::Unnamed))
}
