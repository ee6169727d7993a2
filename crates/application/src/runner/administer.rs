//! Runners over the API: lists, details, changes, and their assignment to projects.

use chrono::TimeDelta;
use hexforge_domain::build::{Build, Tags};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::RunnerId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::runner::{RunnerAbility, RunnerFacts, RunnerRefusal};
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{ProjectRef, ProjectWithNamespace};
use hexforge_domain::runner::query::{RunnerFilter, RunnerScope, RunnerSelection};
use hexforge_domain::runner::{self, Runner};
use hexforge_domain::text::Secret;

use crate::access;
use crate::app::App;
use crate::build::expiry;
use crate::ci_token;
use crate::error::{Conflict, Entity, Error, ForbiddenReason};
use crate::view::project as project_view;

/// A runner is online if it asked for builds within this time.
const ONLINE: TimeDelta = TimeDelta::hours(1);

/// The maximum number of projects that the details of a runner contain.
pub const SHOWN_PROJECTS: u32 = 100;

/// The scopes that requests name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeName {
    Active,
    Paused,
    Online,
    Specific,
    Shared,
}

/// A runner with everything that its own call shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerDetails {
    /// The runner.
    pub runner: Runner,
    /// Its token. Only administrators see those of shared runners.
    pub token: Option<Secret>,
    /// The newest projects of the runner, by id, at most [`SHOWN_PROJECTS`]. For users who are not administrators only
    /// those that they are authorized for.
    pub projects: Vec<ProjectWithNamespace>,
}

/// The changes of a request. `None` means not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerChanges {
    pub description: Option<String>,
    pub active: Option<bool>,
    pub tags: Option<Tags>,
    pub run_untagged: Option<bool>,
    pub locked: Option<bool>,
}

fn scope(app: &App, name: Option<ScopeName>) -> Option<RunnerScope> {
    Some(match name? {
        ScopeName::Active => RunnerScope::Active,
        ScopeName::Paused => RunnerScope::Paused,
        ScopeName::Online => RunnerScope::Online { since: app.clock.now() - ONLINE },
        ScopeName::Specific => RunnerScope::Specific,
        ScopeName::Shared => RunnerScope::Shared,
    })
}

/// Lists the specific runners that the actor can access, by id.
pub fn list_own(
    app: &App,
    actor: Actor,
    name: Option<ScopeName>,
    page: Page,
) -> Result<Paged<Runner>, Error> {
    let user = access::own_account(actor)?;
    let selection = RunnerSelection::AccessibleTo { user, today: app.today() };
    let filter = RunnerFilter { selection, scope: scope(app, name) };
    Ok(app.store.read(|tx| tx.runners().list(&filter, page))?)
}

/// Lists all runners by id, for administrators.
pub fn list_all(
    app: &App,
    actor: Actor,
    name: Option<ScopeName>,
    page: Page,
) -> Result<Paged<Runner>, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    let filter = RunnerFilter { selection: RunnerSelection::All, scope: scope(app, name) };
    Ok(app.store.read(|tx| tx.runners().list(&filter, page))?)
}

/// Lists the runners that are assigned to a project, and all shared ones, by id.
pub fn list_of_project(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    name: Option<ScopeName>,
    page: Page,
) -> Result<Paged<Runner>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        let selection = RunnerSelection::OfProject(project.id);
        let filter = RunnerFilter { selection, scope: scope(app, name) };
        Ok(tx.runners().list(&filter, page)?)
    })
}

/// Returns a specific runner of a project, for users who may change the runner and the project.
pub fn find_of_project(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: RunnerId,
) -> Result<Runner, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        let missing = || Error::NotFound(Entity::Runner);
        let runner = tx.runners().find(id)?.filter(|runner| !runner.shared).ok_or_else(missing)?;
        if !tx.runners().is_assigned(id, project.id)? {
            return Err(missing());
        }
        require(app, tx, actor, RunnerAbility::Update, &runner)?;
        Ok(runner)
    })
}

/// Returns a runner with its details. Every user may read a shared runner. A specific runner is visible to administrators
/// and to users with [access](hexforge_domain::runner::port::Runners::is_accessible) to it.
pub fn get(app: &App, actor: Actor, id: RunnerId) -> Result<RunnerDetails, Error> {
    access::own_account(actor)?;
    app.store.read(|tx| {
        let runner = find(tx, id)?;
        let facts = require(app, tx, actor, RunnerAbility::Read, &runner)?;
        details(app, tx, actor, (runner, facts))
    })
}

/// Changes the given fields of a runner.
pub fn update(
    app: &App,
    actor: Actor,
    id: RunnerId,
    changes: &RunnerChanges,
) -> Result<RunnerDetails, Error> {
    access::own_account(actor)?;
    app.store.write(|tx| {
        let mut changed = lock(tx, id)?;
        let facts = require(app, tx, actor, RunnerAbility::Update, &changed)?;
        let RunnerChanges { description, active, tags, run_untagged, locked } = changes.clone();
        changed.description = description.unwrap_or(changed.description);
        changed.active = active.unwrap_or(changed.active);
        changed.tags = tags.unwrap_or(changed.tags);
        changed.run_untagged = run_untagged.unwrap_or(changed.run_untagged);
        changed.locked = locked.unwrap_or(changed.locked);
        changed.updated_at = app.clock.now();
        runner::check_texts(&changed.description, &changed.tags)?;
        if !changed.run_untagged && changed.tags.is_empty() {
            let text = "can not be empty when runner is not allowed to pick untagged jobs";
            return Err(FieldErrors::single("tags_list", text).into());
        }
        tx.runners().update(&changed)?;
        details(app, tx, actor, (changed, facts))
    })
}

/// Removes a runner and returns it. Running builds of the runner fail; ended builds are kept. Users who are not
/// administrators may remove a runner only while it has one project.
pub fn remove(app: &App, actor: Actor, id: RunnerId) -> Result<Runner, Error> {
    access::own_account(actor)?;
    let (runner, left) = app.store.write(|tx| remove_in(app, tx, actor, id))?;
    expiry::fail_abandoned_builds(app, &left)?;
    Ok(runner)
}

/// Removes a runner, and returns it with the builds that it runs.
fn remove_in(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    id: RunnerId,
) -> Result<(Runner, Vec<Build>), Error> {
    let runner = lock(tx, id)?;
    require(app, tx, actor, RunnerAbility::Remove, &runner)?;
    let left = super::remove_runner(tx, id)?;
    Ok((runner, left))
}

/// Assigns a specific runner that the actor can access to a project.
pub fn enable(app: &App, actor: Actor, named: &ProjectRef, id: RunnerId) -> Result<Runner, Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        let runner = lock(tx, id)?;
        require(app, tx, actor, RunnerAbility::Assign, &runner)?;
        if tx.runners().is_assigned(id, project.id)? {
            return Err(Error::Conflict(Conflict::RunnerEnabled));
        }
        tx.runners().bind(id, project.id)?;
        Ok(runner)
    })
}

/// Takes a runner from a project. The last project of a runner keeps it.
pub fn disable(app: &App, actor: Actor, named: &ProjectRef, id: RunnerId) -> Result<Runner, Error> {
    app.store.write(|tx| disable_in(app, tx, actor, named, id))
}

/// Takes a runner from a project, and removes the runner if it has no other project.
pub fn release(app: &App, actor: Actor, named: &ProjectRef, id: RunnerId) -> Result<(), Error> {
    let left = app.store.write(|tx| match disable_in(app, tx, actor, named, id) {
        Err(Error::Forbidden(Some(ForbiddenReason::RunnerOnlyProject))) => {
            remove_in(app, tx, actor, id).map(|(_, left)| left)
        }
        disabled => disabled.map(|_| Vec::new()),
    })?;
    expiry::fail_abandoned_builds(app, &left)?;
    Ok(())
}

fn disable_in(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    named: &ProjectRef,
    id: RunnerId,
) -> Result<Runner, Error> {
    let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
    let missing = || Error::NotFound(Entity::Runner);
    let runner = tx.runners().lock(id)?.ok_or_else(missing)?;
    if !tx.runners().is_assigned(id, project.id)? {
        return Err(missing());
    }
    require(app, tx, actor, RunnerAbility::Unassign, &runner)?;
    tx.runners().unbind(id, project.id)?;
    Ok(runner)
}

fn find(tx: &mut dyn Tx, id: RunnerId) -> Result<Runner, Error> {
    tx.runners().find(id)?.ok_or(Error::NotFound(Entity::Record))
}

/// Like [`find`], for a transaction that changes the runner.
fn lock(tx: &mut dyn Tx, id: RunnerId) -> Result<Runner, Error> {
    tx.runners().lock(id)?.ok_or(Error::NotFound(Entity::Record))
}

/// Checks that the actor may do something with the runner, and returns the facts of the decision.
fn require(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    ability: RunnerAbility,
    runner: &Runner,
) -> Result<RunnerFacts, Error> {
    access::own_account(actor)?;
    let accessible = match actor {
        Actor::User { id, .. } if !runner.shared => {
            tx.runners().is_accessible(runner.id, id, app.today())?
        }
        Actor::User { .. } | Actor::Admin { .. } | Actor::Anonymous => false,
    };
    let several_projects = match ability {
        RunnerAbility::Remove | RunnerAbility::Unassign => has_several_projects(tx, runner.id)?,
        RunnerAbility::Read
        | RunnerAbility::ReadToken
        | RunnerAbility::ReadAllProjects
        | RunnerAbility::Update
        | RunnerAbility::Assign => false,
    };
    let Runner { shared, locked, .. } = *runner;
    let facts = RunnerFacts { shared, locked, accessible, several_projects };
    facts.check(actor, ability).map_err(refused)?;
    Ok(facts)
}

fn has_several_projects(tx: &mut dyn Tx, runner: RunnerId) -> Result<bool, StoreError> {
    Ok(tx.runners().newest_projects(runner, None, 2)?.len() > 1)
}

fn refused(refusal: RunnerRefusal) -> Error {
    Error::Forbidden(Some(match refusal {
        RunnerRefusal::Shared => ForbiddenReason::RunnerShared,
        RunnerRefusal::Locked => ForbiddenReason::RunnerLocked,
        RunnerRefusal::SeveralProjects => ForbiddenReason::RunnerHasProjects,
        RunnerRefusal::OnlyProject => ForbiddenReason::RunnerOnlyProject,
        RunnerRefusal::NoAccess => ForbiddenReason::RunnerAccess,
    }))
}

fn details(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    (runner, facts): (Runner, RunnerFacts),
) -> Result<RunnerDetails, Error> {
    let user = access::own_account(actor)?;
    let shows_all = facts.check(actor, RunnerAbility::ReadAllProjects).is_ok();
    let authorized = (!shows_all).then(|| (user, app.today()));
    let newest = tx.runners().newest_projects(runner.id, authorized, SHOWN_PROJECTS)?;
    let mut projects = tx.projects().find_all(&newest)?;
    projects.sort_unstable_by_key(|project| project.id);
    let total = projects.len() as u64;
    let projects = project_view::page_with_namespaces(tx, Paged { items: projects, total })?.items;
    let shows_token = facts.check(actor, RunnerAbility::ReadToken).is_ok();
    let token = shows_token.then(|| ci_token::runner_token(app, &runner));
    Ok(RunnerDetails { runner, token, projects })
}
