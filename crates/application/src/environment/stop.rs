//! Stops the environments of a deleted branch.

use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::build::Build;
use hexforge_domain::ci::status::Transition;
use hexforge_domain::ci::when::When;
use hexforge_domain::deployment::Deployment;
use hexforge_domain::environment::{Environment, EnvironmentState};
use hexforge_domain::id::{BuildId, ProjectId, UserId};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::push::RefKind;
use hexforge_domain::repository::task::TaskKind;

use crate::access::{self, Requester};
use crate::app::App;
use crate::error::Error;
use crate::pipeline::progress::Progress;
use crate::repository::open;

/// The maximum number of environments that a push stops itself. Each costs a pipeline, and the push waits. The rest is
/// left to a task.
const MAX_STOPPED: u32 = 100;

/// The number of environments that a task stops per transaction. Other changes of the project wait for it.
const BATCH: u32 = 50;

/// The number of branches per query and per task.
const BRANCHES: usize = 500;

/// Stops the environments whose last deployment came from a branch that is being deleted and names a job `on_stop`, and
/// starts these jobs, if the requester may deploy. At most [`MAX_STOPPED`] are stopped in this transaction. The project
/// must be locked, as for every change of environments.
pub(crate) fn stop_with_branches(
    tx: &mut dyn Tx,
    requester: Requester,
    project: &Project,
    changes: &[RefChange],
    now: Timestamp,
) -> Result<(), Error> {
    let deleted = changes.iter().filter(|change| change.new.is_none());
    let branches: Vec<BranchName> = deleted
        .filter_map(|change| match RefKind::of(&change.name) {
            RefKind::Branch(branch) => Some(branch),
            RefKind::Tag(_) | RefKind::Reserved | RefKind::Other => None,
        })
        .collect();
    if branches.is_empty() || !requester.allows_ci(tx, CiAbility::Run, project)? {
        return Ok(());
    }
    let user = access::own_account(requester.actor)?;
    let mut left = MAX_STOPPED;
    for branches in branches.chunks(BRANCHES) {
        // One more than allowed shows whether a task is necessary.
        let mut found = tx.environments().to_stop(project.id, branches, left + 1)?;
        let is_complete = found.len() <= left as usize;
        found.truncate(left as usize);
        left -= found.len() as u32;
        stop_all(tx, found, user, now)?;
        if !is_complete {
            let task = TaskKind::StopEnvironments { branches: branches.to_vec(), user };
            tx.repository_tasks().insert(project.id, &task, now)?;
        }
    }
    Ok(())
}

/// Stops the environments of deleted branches that [`stop_with_branches`] left, in batches, if the user may still
/// deploy. Environments of branches that exist again go on.
pub(crate) fn stop_rest(
    app: &App,
    project: ProjectId,
    branches: &[BranchName],
    user: UserId,
) -> Result<(), Error> {
    let named = ProjectRef::Id(project);
    loop {
        let is_done = app.store.write(|tx| {
            let actor = access::reload(tx, Actor::User { id: user, external: false })?;
            let Some(actor) = actor else { return Ok(true) };
            match app.requester(actor).locked_ci_project(tx, CiAbility::Run, &named) {
                Ok(_) => (),
                // The user lost the permission after the push.
                Err(Error::NotFound(_) | Error::Forbidden(_)) => return Ok(true),
                Err(error) => return Err(error),
            }
            let refs = open::locked(app, tx, project)?;
            let is_missing = |branch: &&BranchName| refs.target(&branch.full()).is_none();
            let branches: Vec<BranchName> = branches.iter().filter(is_missing).cloned().collect();
            let found = tx.environments().to_stop(project, &branches, BATCH)?;
            let is_last = found.len() < BATCH as usize;
            stop_all(tx, found, user, app.clock.now())?;
            Ok::<_, Error>(is_last)
        })?;
        if is_done {
            return Ok(());
        }
    }
}

/// Stops these environments. Afterwards the deletion of their branch does not stop any of them again.
fn stop_all(
    tx: &mut dyn Tx,
    environments: Vec<Environment>,
    user: UserId,
    now: Timestamp,
) -> Result<(), StoreError> {
    for environment in environments {
        let deployment = tx.deployments().last_to(environment.id)?;
        let is_stopped = match &deployment {
            Some(deployment) => stop(tx, &environment, deployment, user, now)?,
            None => false,
        };
        if !is_stopped {
            // Its deployment has no job to stop it. The next deployment sets the branch again.
            tx.environments().update(&Environment { stop_branch: None, ..environment })?;
        }
    }
    Ok(())
}

/// Stops an environment and starts the job that its last deployment names. Returns false, and does nothing, without
/// that job.
fn stop(
    tx: &mut dyn Tx,
    environment: &Environment,
    deployment: &Deployment,
    user: UserId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let Some(build) = tx.builds().find(deployment.build)? else { return Ok(false) };
    // Pipelines are locked before environments, as by the build that deploys.
    let Some(mut progress) = Progress::lock(tx, build.pipeline)? else { return Ok(false) };
    let stops = |build: &Build| {
        !build.superseded
            && build.kind.is_job()
            && build.when == When::Manual
            && deployment.on_stop.as_deref() == Some(build.name.as_str())
    };
    let Some(job) = progress.find(stops).map(|job| job.id) else { return Ok(false) };
    start(tx, &mut progress, job, user, now)?;
    progress.store(tx, now)?;
    let (state, updated_at) = (EnvironmentState::Stopped, now);
    tx.environments().update(&Environment { state, updated_at, ..environment.clone() })?;
    Ok(true)
}

/// Starts a manual job, again if it has run before. A job that is pending or running already goes on.
fn start(
    tx: &mut dyn Tx,
    progress: &mut Progress,
    job: BuildId,
    user: UserId,
    now: Timestamp,
) -> Result<(), StoreError> {
    if progress.step(job, Transition::Enqueue, now) {
        if let Some(job) = progress.build_mut(job) {
            job.user = Some(user);
        }
    } else if progress.build(job).is_some_and(|job| job.status.is_complete()) {
        progress.run_again(tx, job, user, now)?;
    }
    Ok(())
}
