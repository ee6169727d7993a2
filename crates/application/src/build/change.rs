//! Changes of builds through the API. Each updates the pipeline in the same transaction.

use hexforge_domain::Timestamp;
use hexforge_domain::build::Build;
use hexforge_domain::ci::rerun;
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::ci::when::When;
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;

use super::find;
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error, ForbiddenReason, Refusal};
use crate::pipeline::progress::Progress;
use crate::view::build::{self as view, BuildView};

/// Cancels a created, pending or running build; any other build stays unchanged.
pub fn cancel(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: BuildId,
) -> Result<BuildView, Error> {
    let now = app.clock.now();
    app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Run, named)?;
        let (mut progress, build) = lock(tx, project.id, id)?;
        progress.step(build.id, Transition::Cancel, now);
        finish(tx, progress, build.id, now)
    })
}

/// Retries a build: creates and returns a new build with the same definition.
pub fn retry(app: &App, actor: Actor, named: &ProjectRef, id: BuildId) -> Result<BuildView, Error> {
    let user = access::own_account(actor)?;
    let now = app.clock.now();
    app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Run, named)?;
        let (mut progress, build) = lock(tx, project.id, id)?;
        if !rerun::is_retryable(build.status) {
            return Err(Error::Forbidden(Some(ForbiddenReason::BuildNotRetryable)));
        }
        let later = rerun::skipped_after(&progress.latest(), build.stage_index);
        let again = progress.run_again(tx, build.id, user, now)?;
        progress.reopen(&later, now);
        finish(tx, progress, again.ok_or(MISSING)?, now)
    })
}

/// Starts a manual build.
pub fn play(app: &App, actor: Actor, named: &ProjectRef, id: BuildId) -> Result<BuildView, Error> {
    let user = access::own_account(actor)?;
    let ability = app.settings.strict.to_start_manual_jobs();
    let now = app.clock.now();
    app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, ability, named)?;
        let (mut progress, build) = lock(tx, project.id, id)?;
        if build.when != When::Manual || build.status != Status::Skipped {
            return Err(Error::Refused(Refusal::BuildNotPlayable));
        }
        progress.step(build.id, Transition::Enqueue, now);
        if let Some(build) = progress.build_mut(build.id) {
            build.user = Some(user);
        }
        finish(tx, progress, build.id, now)
    })
}

/// Removes the expiry time of a build's artifacts, so that they are kept.
pub fn keep_artifacts(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: BuildId,
) -> Result<BuildView, Error> {
    let now = app.clock.now();
    app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Run, named)?;
        let (mut progress, build) = lock(tx, project.id, id)?;
        build.artifacts_at(now).ok_or(MISSING)?;
        if let Some(artifacts) =
            progress.build_mut(build.id).and_then(|build| build.artifacts.as_mut())
        {
            artifacts.expire_at = None;
        }
        finish(tx, progress, build.id, now)
    })
}

/// Deletes the log and the artifacts of a build.
pub fn erase(app: &App, actor: Actor, named: &ProjectRef, id: BuildId) -> Result<BuildView, Error> {
    let now = app.clock.now();
    let erased = app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Run, named)?;
        let (mut progress, build) = lock(tx, project.id, id)?;
        let logged =
            build.erased_at.is_none() && app.build_files.trace_size(build.project, build.id)? > 0;
        if !build.status.is_complete() || !(logged || build.artifacts_at(now).is_some()) {
            return Err(Error::Forbidden(Some(ForbiddenReason::BuildNotErasable)));
        }
        if let Some(build) = progress.build_mut(build.id) {
            build.erased_at = Some(now);
            build.artifacts = None;
        }
        finish(tx, progress, build.id, now)
    })?;
    // After the commit no request can read the files any more.
    let build = &erased.build;
    app.build_files.remove_trace(build.project, build.id)?;
    app.build_files.remove_artifacts(build.project, build.id)?;
    Ok(erased)
}

const MISSING: Error = Error::NotFound(Entity::Unnamed);

/// Locks the pipeline of a build.
fn lock(tx: &mut dyn Tx, project: ProjectId, id: BuildId) -> Result<(Progress, Build), Error> {
    let found = find(tx, project, id)?;
    let progress = Progress::lock(tx, found.pipeline)?.ok_or(MISSING)?;
    let build = progress.build(id).ok_or(MISSING)?.clone();
    Ok((progress, build))
}

/// Stores the pipeline and returns the view of one of its builds.
fn finish(
    tx: &mut dyn Tx,
    progress: Progress,
    shown: BuildId,
    now: Timestamp,
) -> Result<BuildView, Error> {
    let done = progress.store(tx, now)?;
    let build = done.build(shown).ok_or(MISSING)?.clone();
    Ok(view::load(tx, build)?)
}
