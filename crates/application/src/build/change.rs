//! What people do with builds. Whatever it is, the pipeline follows in the same transaction.

use hexforge_domain::Timestamp;
use hexforge_domain::build::Build;
use hexforge_domain::ci::rerun;
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::ci::when::When;
use hexforge_domain::id::BuildId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;

use super::{find, may};
use crate::access;
use crate::app::App;
use crate::error::{Error, Thing};
use crate::pipeline::progress::Progress;
use crate::view::build::{self as view, BuildView};

/// Ends a build that waits or runs; any other stays as it is.
pub fn cancel(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: BuildId,
) -> Result<BuildView, Error> {
    change(app, actor, CiAbility::Run, named, id, |_, progress, build, now| {
        progress.step(build.id, Transition::Cancel, now);
        Ok(build.id)
    })
}

/// Makes the same build again; answers with the new one.
pub fn retry(app: &App, actor: Actor, named: &ProjectRef, id: BuildId) -> Result<BuildView, Error> {
    let user = access::own_account(actor)?;
    change(app, actor, CiAbility::Run, named, id, |tx, progress, build, now| {
        if !rerun::is_retryable(build.status) {
            return Err(Error::Forbidden(Some("Build is not retryable")));
        }
        let later = rerun::skipped_after(&progress.latest(), build.stage_index);
        let again = progress.run_again(tx, build.id, user, now)?;
        progress.reopen(&later, now);
        again.ok_or(Error::NotFound(Thing::Nameless))
    })
}

/// Lets a build run that waits to be asked for.
pub fn play(app: &App, actor: Actor, named: &ProjectRef, id: BuildId) -> Result<BuildView, Error> {
    let user = access::own_account(actor)?;
    let ability = app.settings.strict.to_start_manual_jobs();
    change(app, actor, ability, named, id, |_, progress, build, now| {
        if build.when != When::Manual || build.status != Status::Skipped {
            return Err(Error::NotGiven("Unplayable Build"));
        }
        progress.step(build.id, Transition::Enqueue, now);
        if let Some(build) = progress.build_mut(build.id) {
            build.user = Some(user);
        }
        Ok(build.id)
    })
}

/// Keeps the artifacts of a build for ever.
pub fn keep_artifacts(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: BuildId,
) -> Result<BuildView, Error> {
    change(app, actor, CiAbility::Run, named, id, |_, progress, build, now| {
        build.artifacts_at(now).ok_or(Error::NotFound(Thing::Nameless))?;
        if let Some(artifacts) =
            progress.build_mut(build.id).and_then(|build| build.artifacts.as_mut())
        {
            artifacts.expire_at = None;
        }
        Ok(build.id)
    })
}

/// Removes the log and the artifacts of a build.
pub fn erase(app: &App, actor: Actor, named: &ProjectRef, id: BuildId) -> Result<BuildView, Error> {
    let erased = change(app, actor, CiAbility::Run, named, id, |_, progress, build, now| {
        let logged =
            build.erased_at.is_none() && app.build_files.trace_size(build.project, build.id)? > 0;
        if !build.status.is_complete() || !(logged || build.artifacts_at(now).is_some()) {
            return Err(Error::Forbidden(Some("Build is not erasable!")));
        }
        if let Some(build) = progress.build_mut(build.id) {
            build.erased_at = Some(now);
            build.artifacts = None;
        }
        Ok(build.id)
    })?;
    // From the commit on nobody is shown them.
    let build = &erased.build;
    app.build_files.remove_trace(build.project, build.id)?;
    app.build_files.remove_artifacts(build.project, build.id)?;
    Ok(erased)
}

fn change(
    app: &App,
    actor: Actor,
    ability: CiAbility,
    named: &ProjectRef,
    id: BuildId,
    work: impl FnOnce(&mut dyn Tx, &mut Progress, &Build, Timestamp) -> Result<BuildId, Error> + Send,
) -> Result<BuildView, Error> {
    let now = app.clock.now();
    app.store.write(|tx| {
        let project = may(app, tx, actor, ability, named)?;
        let missing = || Error::NotFound(Thing::Nameless);
        let found = find(tx, project.id, id)?;
        let mut progress = Progress::lock(tx, found.pipeline)?.ok_or_else(missing)?;
        let build = progress.build(id).ok_or_else(missing)?.clone();
        let shown = work(tx, &mut progress, &build, now)?;
        let done = progress.store(tx, now)?;
        let build = done.build(shown).ok_or_else(missing)?.clone();
        Ok(view::one(tx, build)?)
    })
}
