//! Deployments: lists them, and records them when a build with an environment succeeds.

use std::collections::HashMap;

use hexforge_domain::Timestamp;
use hexforge_domain::build::{Build, BuildKind};
use hexforge_domain::ci::config;
use hexforge_domain::ci::expand::expand;
use hexforge_domain::deployment::{Deployment, NewDeployment};
use hexforge_domain::environment::{
    Environment, EnvironmentName, EnvironmentState, ExternalUrl, NewEnvironment,
};
use hexforge_domain::id::{BuildId, DeploymentId, EnvironmentId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::limit;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use crate::app::App;
use crate::error::{Entity, Error};
use crate::pipeline::progress::StoredPipeline;
use crate::runner::{self, Server};
use crate::view::build::{self as build_view, BuildView};
use crate::view::user::load_users;

/// A deployment with all related rows.
#[derive(Clone, Debug, PartialEq)]
pub struct DeploymentView {
    /// The deployment.
    pub deployment: Deployment,
    /// The environment.
    pub environment: Environment,
    /// The build that deployed.
    pub build: BuildView,
    /// The user who started the build.
    pub user: Option<User>,
}

/// Lists the deployments of a project, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<DeploymentView>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadEnvironments, named)?;
        let found = tx.deployments().list(project.id, page)?;
        Ok(views(tx, found)?)
    })
}

/// An environment with a page of its deployments, newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvironmentDeployments {
    /// The environment.
    pub environment: Environment,
    /// The deployments.
    pub deployments: Paged<DeploymentView>,
}

/// Returns an environment with its deployments.
pub fn of_environment(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: EnvironmentId,
    page: Page,
) -> Result<EnvironmentDeployments, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadEnvironments, named)?;
        let found = tx.environments().find(project.id, id)?;
        let environment = found.ok_or(Error::NotFound(Entity::Record))?;
        let deployments = tx.deployments().list_to(id, page)?;
        Ok(EnvironmentDeployments { environment, deployments: views(tx, deployments)? })
    })
}

/// Returns one deployment.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: DeploymentId,
) -> Result<DeploymentView, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadEnvironments, named)?;
        let missing = || Error::NotFound(Entity::Record);
        let found = tx.deployments().find(project.id, id)?.ok_or_else(missing)?;
        let page = views(tx, Paged { items: vec![found], total: 1 })?;
        page.items.into_iter().next().ok_or_else(missing)
    })
}

/// Adds the related rows to a page of deployments, with a bounded number of queries.
fn views(
    tx: &mut dyn Tx,
    deployments: Paged<Deployment>,
) -> Result<Paged<DeploymentView>, StoreError> {
    let Paged { items: deployments, total } = deployments;
    if deployments.is_empty() {
        return Ok(Paged { items: vec![], total });
    }
    let ids = sorted_unique(deployments.iter().map(|one| one.environment));
    let environments = tx.environments().find_all(&ids)?.into_iter();
    let environments: HashMap<EnvironmentId, Environment> =
        environments.map(|environment| (environment.id, environment)).collect();
    let ids = sorted_unique(deployments.iter().map(|one| one.build));
    let builds = tx.builds().find_all(&ids)?;
    let builds = build_view::page(tx, Paged { total: builds.len() as u64, items: builds })?;
    let builds: HashMap<BuildId, BuildView> =
        builds.items.into_iter().map(|view| (view.build.id, view)).collect();
    let users = load_users(tx, deployments.iter().filter_map(|one| one.user))?;
    // A deployment is deleted together with its environment and its build, so both exist.
    let view = |deployment: Deployment| {
        Some(DeploymentView {
            environment: environments.get(&deployment.environment)?.clone(),
            build: builds.get(&deployment.build)?.clone(),
            user: deployment.user.and_then(|user| users.get(&user).cloned()),
            deployment,
        })
    };
    Ok(Paged { items: deployments.into_iter().filter_map(view).collect(), total })
}

/// Returns the environment to which a build deploys when it succeeds. Locks the project in that case: every change of
/// environments holds this lock, and it is taken before that of the pipeline.
pub(crate) fn lock_target(
    tx: &mut dyn Tx,
    build: &Build,
) -> Result<Option<config::Environment>, StoreError> {
    let BuildKind::Job(definition) = build.kind else { return Ok(None) };
    let definition = tx.builds().definition(definition)?;
    let target = definition.and_then(|definition| definition.options.environment());
    if target.is_none() {
        return Ok(None);
    }
    let project = tx.projects().lock(build.project)?;
    Ok(target.filter(|_| project.is_some()))
}

/// A build that succeeded in this transaction.
pub(crate) struct Succeeded<'a> {
    /// The pipeline and its builds after the change.
    pub stored: &'a StoredPipeline,
    /// The build.
    pub build: BuildId,
    /// The environment of its job; see [`lock_target`].
    pub target: &'a config::Environment,
    /// The version and the revision of the server, which are variables of builds.
    pub version: (&'a str, &'a str),
}

/// Records the deployment of a build that succeeded: updates its environment, or creates it, and adds the deployment,
/// unless the build stopped the environment. A name that is not valid after the replacement of variables has no effect.
/// A URL that is not valid, or that another environment has, is ignored.
pub(crate) fn record(
    app: &App,
    tx: &mut dyn Tx,
    succeeded: &Succeeded<'_>,
    now: Timestamp,
) -> Result<(), Error> {
    let Succeeded { stored, build, target, .. } = *succeeded;
    let build = stored.build(build).ok_or(StoreError::Gone)?;
    let Some((name, url)) = expanded(app, tx, succeeded)? else { return Ok(()) };
    let environment = match tx.environments().find_by_name(build.project, name.as_str())? {
        Some(environment) => environment,
        None => {
            let new = NewEnvironment { project: build.project, name, external_url: None, at: now };
            tx.environments().insert(new)?
        }
    };
    let pipeline = &stored.pipeline;
    let url = free_url(tx, build.project, url)?;
    let mut after = Environment {
        external_url: url.or_else(|| environment.external_url.clone()),
        state: EnvironmentState::after(target.action),
        ..environment.clone()
    };
    if after.state == EnvironmentState::Available {
        after.stop_branch =
            target.on_stop.as_ref().filter(|_| !pipeline.tag).map(|_| pipeline.reference.clone());
        tx.deployments().insert(NewDeployment {
            project: build.project,
            environment: environment.id,
            build: build.id,
            reference: pipeline.reference.clone(),
            sha: pipeline.sha,
            user: build.user,
            on_stop: target.on_stop.clone(),
            at: now,
        })?;
    }
    if after != environment {
        after.updated_at = now;
        tx.environments().update(&after)?;
    }
    Ok(())
}

/// The maximum length in bytes of a name or URL that is valid: each character takes at most four bytes.
const MAX_EXPANDED: usize = 4 * limit::SHORT;

/// Returns the name and the URL of a build's environment with the values of variables, if the name is valid.
fn expanded(
    app: &App,
    tx: &mut dyn Tx,
    succeeded: &Succeeded<'_>,
) -> Result<Option<(EnvironmentName, Option<ExternalUrl>)>, Error> {
    let Succeeded { stored, build, target, version: (version, revision) } = *succeeded;
    let given = runner::load_assignment(app, tx, &stored.pipeline, &stored.builds, build)?;
    let path = given.project.place.path_of(&given.project.project);
    let project_url = format!("{}/{path}", app.settings.external_url);
    let server = Server { version, revision, project_url: &project_url };
    let variables = runner::variables(&given, server);
    // Of two variables with one name, the later wins.
    let values: HashMap<&str, &str> =
        variables.iter().map(|one| (one.key.as_str(), one.value.as_str())).collect();
    let name = expand(&target.name, &values, MAX_EXPANDED);
    let name = name.and_then(|name| EnvironmentName::parse(&name).ok());
    let url = target.url.as_deref().and_then(|url| expand(url, &values, MAX_EXPANDED));
    Ok(name.map(|name| (name, url.and_then(|url| ExternalUrl::parse(&url).ok()))))
}

/// Returns the URL, unless an environment of the project has it.
fn free_url(
    tx: &mut dyn Tx,
    project: ProjectId,
    url: Option<ExternalUrl>,
) -> Result<Option<ExternalUrl>, StoreError> {
    let Some(url) = url else { return Ok(None) };
    let is_taken = tx.environments().find_by_url(project, url.as_str())?.is_some();
    Ok((!is_taken).then_some(url))
}
