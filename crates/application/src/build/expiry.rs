//! Fails builds that stopped sending updates, gives lost ones to the queue again, and removes expired artifacts.

use chrono::TimeDelta;
use hexforge_domain::build::{Build, Silence};
use hexforge_domain::ci::status::{Status, Transition};

use crate::app::{App, Settings};
use crate::error::Error;
use crate::pipeline::progress::Progress;
use crate::runner::{acknowledges, is_acknowledged};

/// The number of builds per query.
const BATCH: u32 = 100;

/// Fails builds of a runner that was removed: nobody will report their end. Returns their number.
pub fn fail_abandoned_builds(app: &App, builds: &[Build]) -> Result<usize, Error> {
    let mut failed = 0;
    for build in builds {
        let now = app.clock.now();
        let ended: Result<bool, Error> = app.store.write(|tx| {
            let Some(mut progress) = Progress::lock(tx, build.pipeline)? else { return Ok(false) };
            let abandoned =
                |build: &Build| build.status == Status::Running && build.runner.is_none();
            if !progress.build(build.id).is_some_and(abandoned) {
                return Ok(false);
            }
            let ended = progress.step(build.id, Transition::Fail, now);
            progress.store(tx, now)?;
            Ok(ended)
        });
        failed += usize::from(ended?);
    }
    Ok(failed)
}

/// The time within which a runner acknowledges a new build, unless all silence is shorter.
const ACKNOWLEDGE: TimeDelta = TimeDelta::seconds(30);

/// Returns how long an assignment waits to be acknowledged.
pub fn acknowledge_within(app: &App) -> TimeDelta {
    ACKNOWLEDGE.min(app.settings.runner_silence)
}

/// Gives builds to the queue again that runners took and never reported about: the answer to their request was lost, or
/// they ended before they read it. Returns the number of builds.
pub fn requeue_lost_builds(app: &App) -> Result<usize, Error> {
    let now = app.clock.now();
    let Settings { build_silence, .. } = &app.settings;
    let since = Silence { pending: now - *build_silence, running: now - acknowledge_within(app) };
    let silent = app.store.read(|tx| tx.builds().silent_since(since, BATCH))?;
    let is_lost = |build: &Build| build.status == Status::Running && !is_acknowledged(build);
    let mut returned = 0;
    for build in silent.into_iter().filter(is_lost) {
        let now = app.clock.now();
        let is_returned: Result<bool, Error> = app.store.write(|tx| {
            let runner = match build.runner {
                Some(runner) => tx.runners().find(runner)?,
                None => None,
            };
            if !runner.is_some_and(|runner| acknowledges(&runner)) {
                return Ok(false);
            }
            let Some(mut progress) = Progress::lock(tx, build.pipeline)? else { return Ok(false) };
            if !progress.build(build.id).is_some_and(is_lost) {
                return Ok(false);
            }
            let is_returned = progress.return_to_queue(build.id, now);
            progress.store(tx, now)?;
            Ok(is_returned)
        });
        returned += usize::from(is_returned?);
    }
    Ok(returned)
}

/// Fails builds without a sign of life: pending ones that no runner takes, and running ones whose runner is silent.
/// Returns their number.
pub fn fail_silent_builds(app: &App, go_on: &dyn Fn() -> bool) -> Result<usize, Error> {
    let mut failed = 0;
    while go_on() {
        let now = app.clock.now();
        let Settings { build_silence, runner_silence, .. } = &app.settings;
        let since = Silence { pending: now - *build_silence, running: now - *runner_silence };
        let silent = app.store.read(|tx| tx.builds().silent_since(since, BATCH))?;
        if silent.is_empty() {
            break;
        }
        for build in silent {
            let now = app.clock.now();
            let ended: Result<bool, Error> = app.store.write(|tx| {
                let Some(mut progress) = Progress::lock(tx, build.pipeline)? else {
                    return Ok(false);
                };
                // The build was updated meanwhile.
                if progress.build(build.id).is_none_or(|now| now.updated_at > build.updated_at) {
                    return Ok(false);
                }
                let ended = progress.step(build.id, Transition::Fail, now);
                progress.store(tx, now)?;
                Ok(ended)
            });
            failed += usize::from(ended?);
        }
    }
    Ok(failed)
}

/// Removes expired artifacts. Returns their number.
pub fn remove_expired_artifacts(app: &App, go_on: &dyn Fn() -> bool) -> Result<usize, Error> {
    let mut removed = 0;
    while go_on() {
        let now = app.clock.now();
        let expired = app.store.read(|tx| tx.builds().with_artifacts_expired(now, BATCH))?;
        if expired.is_empty() {
            break;
        }
        for build in expired {
            let gone: Result<bool, Error> = app.store.write(|tx| {
                let Some(mut progress) = Progress::lock(tx, build.pipeline)? else {
                    return Ok(false);
                };
                // The artifacts were kept or removed meanwhile.
                let kept =
                    |build: &Build| build.artifacts.is_none() || build.artifacts_at(now).is_some();
                if progress.build(build.id).is_none_or(kept) {
                    return Ok(false);
                }
                if let Some(build) = progress.build_mut(build.id) {
                    build.artifacts = None;
                }
                progress.store(tx, now)?;
                Ok(true)
            });
            if gone? {
                app.build_files.remove_artifacts(build.project, build.id)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}
