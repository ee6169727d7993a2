//! Status transitions of builds that the service makes itself.

use hexforge_domain::ci::status::Transition;
use hexforge_domain::id::BuildId;

use crate::app::App;
use crate::error::Error;
use crate::pipeline::progress::Progress;

/// Applies a status transition to a build and updates its pipeline. Returns whether the transition was possible. No
/// permission is checked: this is for transitions that the service makes itself.
pub fn advance(app: &App, id: BuildId, transition: Transition) -> Result<bool, Error> {
    let now = app.clock.now();
    app.store.write(|tx| {
        let Some(build) = tx.builds().find(id)? else { return Ok(false) };
        let Some(mut progress) = Progress::lock(tx, build.pipeline)? else { return Ok(false) };
        let moved = progress.step(id, transition, now);
        progress.store(tx, now)?;
        Ok(moved)
    })
}
