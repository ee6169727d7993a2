//! Environments of projects: lists, creates, updates and deletes them. Builds deploy to them, and the deletion of their
//! branch stops them.

mod stop;

pub(crate) use stop::{stop_rest, stop_with_branches};

use hexforge_domain::environment::{Environment, EnvironmentName, ExternalUrl, NewEnvironment};
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::{EnvironmentId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};

use crate::access::Requester;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::project::{self as project_view, ProjectView};

/// The environment fields of a request. `None` means not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentFields {
    pub name: Option<String>,
    /// `Some(None)` removes the URL, as a blank text does.
    pub external_url: Option<Option<String>>,
}

/// An environment with its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentView {
    /// The environment.
    pub environment: Environment,
    /// The project of the environment.
    pub project: ProjectView,
}

/// A page of the environments of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentPage {
    /// The environments.
    pub environments: Paged<Environment>,
    /// The project of all environments.
    pub project: ProjectView,
}

/// Lists the environments of a project, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<EnvironmentPage, Error> {
    let requester = app.requester(actor);
    app.store.read(|tx| {
        let project = requester.ci_project(tx, CiAbility::ReadEnvironments, named)?;
        let environments = tx.environments().list(project.id, page)?;
        Ok(EnvironmentPage { environments, project: project_view::full(tx, project, requester)? })
    })
}

/// Creates an environment.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    fields: &EnvironmentFields,
) -> Result<EnvironmentView, Error> {
    let requester = app.requester(actor);
    app.store.write(|tx| {
        let project = requester.locked_ci_project(tx, CiAbility::Run, named)?;
        let mut errors = FieldErrors::default();
        let name = EnvironmentName::parse(fields.name.as_deref().unwrap_or_default());
        let name = check_name(tx, &mut errors, project.id, name)?;
        let url = check_url(tx, &mut errors, project.id, fields.given_url())?;
        let new = errors.into_result_with(|| {
            let (name, external_url) = (name?, url?);
            Some(NewEnvironment { project: project.id, name, external_url, at: app.clock.now() })
        })?;
        let environment = tx.environments().insert(new)?;
        view(tx, environment, project, requester)
    })
}

/// Updates the given fields of an environment.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: EnvironmentId,
    fields: &EnvironmentFields,
) -> Result<EnvironmentView, Error> {
    let requester = app.requester(actor);
    app.store.write(|tx| {
        let project = requester.locked_ci_project(tx, CiAbility::Administer, named)?;
        let before = find(tx, project.id, id)?;
        let mut errors = FieldErrors::default();
        let name = match fields.name.as_deref() {
            Some(name) if name != before.name.as_str() => {
                check_name(tx, &mut errors, project.id, EnvironmentName::parse(name))?
            }
            Some(_) | None => Some(before.name.clone()),
        };
        let old_url = before.external_url.as_ref().map(ExternalUrl::as_str);
        let url = match fields.external_url {
            Some(_) if fields.given_url() != old_url => {
                check_url(tx, &mut errors, project.id, fields.given_url())?
            }
            Some(_) | None => Some(before.external_url.clone()),
        };
        let mut after = errors.into_result_with(|| {
            Some(Environment { name: name?, external_url: url?, ..before.clone() })
        })?;
        if after != before {
            after.updated_at = app.clock.now();
            tx.environments().update(&after)?;
        }
        view(tx, after, project, requester)
    })
}

/// Deletes an environment with its deployments, and returns its last state. No call shows them any more. If they are
/// many, their rows are deleted afterwards, like those of a project.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: EnvironmentId,
) -> Result<EnvironmentView, Error> {
    let requester = app.requester(actor);
    app.store.write(|tx| {
        // Callers without the permission get an error before they wait for other deletions.
        requester.ci_project(tx, CiAbility::Administer, named)?;
        tx.removals().begin()?;
        let project = requester.locked_ci_project(tx, CiAbility::Administer, named)?;
        let environment = find(tx, project.id, id)?;
        tx.environments().delete(id)?;
        view(tx, environment, project, requester)
    })
}

impl EnvironmentFields {
    /// Returns the given URL, unless it is blank.
    fn given_url(&self) -> Option<&str> {
        let given = self.external_url.as_ref().and_then(|url| url.as_deref());
        given.filter(|url| !url.trim().is_empty())
    }
}

/// Returns a parsed name that no other environment of the project has, or records the errors.
fn check_name(
    tx: &mut dyn Tx,
    errors: &mut FieldErrors,
    project: ProjectId,
    parsed: Result<EnvironmentName, FieldErrors>,
) -> Result<Option<EnvironmentName>, StoreError> {
    let Some(name) = errors.merge(parsed) else { return Ok(None) };
    if tx.environments().find_by_name(project, name.as_str())?.is_some() {
        errors.add("name", FieldProblem::Taken);
    }
    Ok(Some(name))
}

/// Returns a valid URL that no other environment of the project has, or records the errors.
fn check_url(
    tx: &mut dyn Tx,
    errors: &mut FieldErrors,
    project: ProjectId,
    given: Option<&str>,
) -> Result<Option<Option<ExternalUrl>>, StoreError> {
    let parsed = errors.check_optional("external_url", given.map(ExternalUrl::parse));
    if let Some(Some(url)) = &parsed
        && tx.environments().find_by_url(project, url.as_str())?.is_some()
    {
        errors.add("external_url", FieldProblem::Taken);
    }
    Ok(parsed)
}

fn find(tx: &mut dyn Tx, project: ProjectId, id: EnvironmentId) -> Result<Environment, Error> {
    tx.environments().find(project, id)?.ok_or(Error::NotFound(Entity::Record))
}

fn view(
    tx: &mut dyn Tx,
    environment: Environment,
    project: Project,
    requester: Requester,
) -> Result<EnvironmentView, Error> {
    Ok(EnvironmentView { environment, project: project_view::full(tx, project, requester)? })
}
