//! Who may fetch and push, before anything is fetched or pushed.

use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::{Project, ProjectRef};

use crate::app::App;
use crate::error::{Error, Thing};

/// Why a git client is not served.
#[derive(Debug)]
pub enum GitRefusal {
    /// Nobody known asks: who shows a name and a password may be served.
    Challenge,
    /// There is no such project, as far as the caller may know.
    NotFound,
    /// The caller sees the project and may not do this; the text is the one that people see.
    Forbidden(&'static str),
    /// It could not be found out.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for GitRefusal {
    fn from(error: E) -> Self {
        GitRefusal::Failed(error.into())
    }
}

const NO_DOWNLOAD: &str = "You are not allowed to download code from this project.";
const NO_PUSH: &str = "You are not allowed to push code to this project.";

/// The project from which the actor wants to fetch.
pub fn may_fetch(app: &App, actor: Actor, named: &ProjectRef) -> Result<Project, GitRefusal> {
    check(app, actor, named, ProjectAbility::DownloadCode, NO_DOWNLOAD)
}

/// The project from which a build wants to fetch that works for nobody: it has to be its own.
pub fn may_fetch_own(app: &App, own: ProjectId, named: &ProjectRef) -> Result<Project, GitRefusal> {
    let found = app.store.glance(|tx| tx.projects().find(named))?;
    let found = found.filter(|project| project.id == own && project.features.builds);
    found.ok_or(GitRefusal::NotFound)
}

/// The project to which the actor wants to push. What is pushed is decided upon when it is known.
pub fn may_push(app: &App, actor: Actor, named: &ProjectRef) -> Result<Project, GitRefusal> {
    check(app, actor, named, ProjectAbility::PushCode, NO_PUSH)
}

fn check(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    ability: ProjectAbility,
    forbidden: &'static str,
) -> Result<Project, GitRefusal> {
    let found = app.store.glance(|tx| app.requester(actor).project(tx, ability, named));
    match (found, actor) {
        (Ok(project), _) => Ok(project),
        // Strangers learn nothing, neither what is there nor what is not.
        (
            Err(Error::Unauthenticated | Error::NotFound(_) | Error::Forbidden(_)),
            Actor::Anonymous,
        ) => Err(GitRefusal::Challenge),
        (Err(Error::NotFound(Thing::Project)), _) => Err(GitRefusal::NotFound),
        (Err(Error::Forbidden(_)), _) => Err(GitRefusal::Forbidden(forbidden)),
        (Err(error), _) => Err(GitRefusal::Failed(error)),
    }
}
