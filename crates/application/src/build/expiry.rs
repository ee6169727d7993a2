//! Fails builds that stopped sending updates, and removes expired artifacts.

use hexforge_domain::ci::status::Transition;

use crate::app::App;
use crate::error::Error;
use crate::pipeline::progress::Progress;

/// The number of builds per query.
const BATCH: u32 = 100;

/// Fails pending and running builds without an update for the time in the settings. Returns their number.
pub fn fail_silent_builds(app: &App, go_on: &dyn Fn() -> bool) -> Result<usize, Error> {
    let mut failed = 0;
    while go_on() {
        let since = app.clock.now() - app.settings.build_silence;
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
                if progress.build(build.id).is_none_or(|build| build.updated_at > since) {
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
                let kept = |build: &hexforge_domain::build::Build| {
                    build.artifacts.is_none() || build.artifacts_at(now).is_some()
                };
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
