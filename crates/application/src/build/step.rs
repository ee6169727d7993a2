//! Status transitions of builds without a runner.

use hexforge_domain::ci::status::Transition;
use hexforge_domain::id::BuildId;

use crate::app::App;
use crate::deployment::{self, Succeeded};
use crate::error::Error;
use crate::pipeline::progress::Progress;

/// Applies a status transition to a build and updates its pipeline. Returns whether the transition was possible. No
/// permission is checked: tests use it to finish builds without a runner.
pub fn advance(app: &App, id: BuildId, transition: Transition) -> Result<bool, Error> {
    let now = app.clock.now();
    app.store.write(|tx| {
        let Some(build) = tx.builds().find(id)? else { return Ok(false) };
        let target = match transition == Transition::Succeed {
            true => deployment::lock_target(tx, &build)?,
            false => None,
        };
        let Some(mut progress) = Progress::lock(tx, build.pipeline)? else { return Ok(false) };
        let moved = progress.step(id, transition, now);
        let stored = &progress.store(tx, now)?;
        if let Some(target) = target.as_ref().filter(|_| moved) {
            let succeeded = Succeeded { stored, build: id, target, version: ("", "") };
            deployment::record(app, tx, &succeeded, now)?;
        }
        Ok(moved)
    })
}
