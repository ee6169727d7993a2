//! Extracts the test coverage from the log of a build.

use hexforge_domain::build::Build;
use hexforge_domain::ci::coverage;
use hexforge_domain::ports::store::Tx;

use crate::app::App;
use crate::error::Error;

/// The number of bytes at the end of a log that are searched: tools print totals last, and logs may be very long.
const TAIL: u64 = 256 << 10;

/// Returns the coverage that the project's expression finds in the log of a finished build. Returns `None` when the
/// project has no expression.
pub(super) fn extract(app: &App, tx: &mut dyn Tx, build: &Build) -> Result<Option<f64>, Error> {
    let Some(expression) = tx.projects().coverage_expression(build.project)? else {
        return Ok(None);
    };
    let tail = app.build_files.trace_tail(build.project, build.id, TAIL)?;
    Ok(coverage::coverage(&String::from_utf8_lossy(&tail), expression.as_str()))
}
