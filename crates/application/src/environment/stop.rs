//! Stops the environments of a deleted branch.

use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::build::Build;
use hexforge_domain::ci::status::Transition;
use hexforge_domain::ci::when::When;
use hexforge_domain::deployment::Deployment;
use hexforge_domain::environment::{Environment, EnvironmentState};
use hexforge_domain::id::{BuildId, UserId};
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::push::RefKind;

use crate::access::{self, Requester};
use crate::error::Error;
use crate::pipeline::progress::Progress;

/// The maximum number of environments that the deletion of a branch stops. Each costs a pipeline, and the push waits.
const MAX_STOPPED: u32 = 100;

/// Stops the environments whose last deployment came from a branch that is being deleted and names a job `on_stop`, and
/// starts these jobs, if the requester may deploy. The project must be locked, as for every change of environments.
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
    for branch in branches {
        for environment in tx.environments().to_stop(project.id, branch.as_str(), MAX_STOPPED)? {
            if let Some(deployment) = tx.deployments().last_to(environment.id)? {
                stop(tx, environment, &deployment, user, now)?;
            }
        }
    }
    Ok(())
}

/// Stops an environment and starts the job that its last deployment names. Does nothing without that job.
fn stop(
    tx: &mut dyn Tx,
    environment: Environment,
    deployment: &Deployment,
    user: UserId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(build) = tx.builds().find(deployment.build)? else { return Ok(()) };
    // Pipelines are locked before environments, as by the build that deploys.
    let Some(mut progress) = Progress::lock(tx, build.pipeline)? else { return Ok(()) };
    let stops = |build: &Build| {
        !build.superseded
            && build.kind.is_job()
            && build.when == When::Manual
            && deployment.on_stop.as_deref() == Some(build.name.as_str())
    };
    let Some(job) = progress.find(stops).map(|job| job.id) else { return Ok(()) };
    start(tx, &mut progress, job, user, now)?;
    progress.store(tx, now)?;
    let (state, updated_at) = (EnvironmentState::Stopped, now);
    tx.environments().update(&Environment { state, updated_at, ..environment })
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
