//! Forgetting old deliveries.

use chrono::TimeDelta;

use crate::app::App;
use crate::error::Error;

/// How long a delivery is kept.
const KEPT: TimeDelta = TimeDelta::days(30);

/// How many deliveries of a hook are kept.
const KEPT_OF_HOOK: u32 = 100;

/// How many rows one transaction removes.
const AT_ONCE: u32 = 1000;

/// Removes deliveries that are over and need not be kept, and what they said; how many it were.
pub fn prune(app: &App, go_on: &dyn Fn() -> bool) -> Result<u64, Error> {
    let before = app.clock.now() - KEPT;
    let mut removed = 0;
    while go_on() {
        // What to remove takes long to find, and is found without holding up those who write.
        let stale = app.store.read(|tx| tx.delivery_log().stale(before, KEPT_OF_HOOK, AT_ONCE))?;
        if stale.is_empty() {
            break;
        }
        app.store.write(|tx| tx.delivery_log().remove(&stale))?;
        removed += stale.len() as u64;
    }
    while go_on() {
        let unused = app.store.read(|tx| tx.delivery_log().unused_payloads(AT_ONCE))?;
        if unused.is_empty() {
            break;
        }
        app.store.write(|tx| tx.delivery_log().remove_payloads(&unused))?;
    }
    Ok(removed)
}
