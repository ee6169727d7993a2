//! What the pages have in common that change a repository.

use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::repository;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::ProjectRef;

use crate::error::{PageError, PageResult};
use crate::visit::{Viewer, Visit};

/// A project to which the visitor may push.
pub(super) struct Pushable {
    pub(super) project: ProjectPage,
    /// The names of branches and tags that fields suggest.
    pub(super) names: Vec<String>,
}

impl Pushable {
    /// Returns `/namespace/project`.
    pub(super) fn base(&self) -> String {
        format!("/{}", self.project.path())
    }

    /// The default branch, or the name that the first branch gets.
    pub(super) fn default_branch(&self) -> String {
        let branch = self.project.placed.project.default_branch.as_ref();
        branch.map_or_else(|| "master".to_owned(), |name| name.as_str().to_owned())
    }
}

/// Finds the project of a page for those who may push. Strangers who may see the project are sent to the sign-in; for
/// others there is no such page, and forms are refused.
pub(super) async fn find(visit: &Visit) -> PageResult<(Viewer, Pushable)> {
    let (named, client) = (visit.project(), visit.address());
    let found = visit.run(move |app, viewer| read(app, viewer, client, &named)).await?;
    match found {
        (viewer, Some(pushable)) => Ok((viewer, pushable)),
        (_, None) => Err(PageError::sign_in()),
    }
}

fn read(
    app: &App,
    viewer: &Viewer,
    client: Option<std::net::IpAddr>,
    named: &ProjectRef,
) -> Result<Option<Pushable>, Error> {
    let project = project_page::get(app, viewer.actor(), named)?;
    if viewer.signed_in().is_none() {
        return Ok(None);
    }
    if !project.may(ProjectAbility::PushCode) {
        return Err(Error::Forbidden(None));
    }
    let readable = repository::readable(app, viewer.actor(), client, named)?;
    let at = repository::revision_or_default(app, &readable, None)?;
    let names = at.as_ref().map(|at| repository::ref_names(at, "")).unwrap_or_default();
    Ok(Some(Pushable { project, names }))
}
