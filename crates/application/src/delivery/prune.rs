//! Deletes old deliveries.

use chrono::TimeDelta;

use crate::app::App;
use crate::error::Error;

/// The time for which deliveries are kept.
const RETENTION: TimeDelta = TimeDelta::days(30);

/// The number of deliveries per hook that are kept.
const KEPT_PER_HOOK: u32 = 100;

/// The number of rows that one transaction deletes.
const BATCH: u32 = 1000;

/// Deletes finished deliveries that are too old or too many, and payloads that no delivery uses. Returns the number of
/// deliveries.
pub fn prune(app: &App, go_on: &dyn Fn() -> bool) -> Result<u64, Error> {
    let before = app.clock.now() - RETENTION;
    let mut removed = 0;
    while go_on() {
        // Finding the rows takes long, so it is done in a read transaction that does not block writers.
        let stale = app.store.read(|tx| tx.delivery_log().stale(before, KEPT_PER_HOOK, BATCH))?;
        if stale.is_empty() {
            break;
        }
        app.store.write(|tx| tx.delivery_log().remove(&stale))?;
        removed += stale.len() as u64;
    }
    while go_on() {
        let unused = app.store.read(|tx| tx.delivery_log().unused_payloads(BATCH))?;
        if unused.is_empty() {
            break;
        }
        app.store.write(|tx| tx.delivery_log().remove_payloads(&unused))?;
    }
    Ok(removed)
}
