//! How much of the code the tests of a build reached, as its log tells it.

use hexforge_domain::build::Build;
use hexforge_domain::ci::coverage;
use hexforge_domain::ports::store::Tx;

use crate::app::App;
use crate::error::Error;

/// So much of the end of a log is looked at: tools print their totals last, and a log may be very long.
const TAIL: u64 = 256 << 10;

/// What the expression of the project finds in the log of a build that ends; nothing without an expression.
pub(super) fn of(app: &App, tx: &mut dyn Tx, build: &Build) -> Result<Option<f64>, Error> {
    let Some(expression) = tx.projects().coverage_expression(build.project)? else {
        return Ok(None);
    };
    let tail = app.build_files.trace_tail(build.project, build.id, TAIL)?;
    Ok(coverage::coverage(&String::from_utf8_lossy(&tail), expression.as_str()))
}
