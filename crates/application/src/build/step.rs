//! Moving builds on, by whoever has the right to.

use hexforge_domain::ci::status::Transition;
use hexforge_domain::id::BuildId;

use crate::app::App;
use crate::error::Error;
use crate::pipeline::progress::Progress;

/// Moves a build on, and its pipeline with it; answers whether that was possible. Nobody's right is asked for:
/// this is for what the service does by itself.
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
