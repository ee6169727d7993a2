//! Deliveries of events to hooks: selects the hooks, sends the requests, and records the outcomes.
//!
//! None of this runs in the request that caused the event. [`fan_out`] turns events of the outbox into deliveries,
//! [`claim`] claims some of them, [`send`] sends them outside of a transaction, and the next [`claim`] stores the
//! outcomes. When a process dies, another one claims its deliveries after the lease ends.

mod fan_out;
mod post;
mod prune;
mod send;

use chrono::TimeDelta;
use hexforge_domain::delivery::lane::{Claim, ClaimLimits, Settlement};
use hexforge_domain::delivery::{DeliveryKey, FailingHook, QueueSize};

use crate::app::App;
use crate::error::Error;

pub use fan_out::{catch_up, fan_out};
pub(crate) use post::post;
pub use prune::prune;
pub use send::send;

/// Stores the outcomes of claims and takes new claims. Does both in one transaction, because each transaction costs a
/// disk sync.
pub fn claim(app: &App, done: &[Settlement], limits: ClaimLimits) -> Result<Vec<Claim>, Error> {
    let now = app.clock.now();
    app.store.write(|tx| {
        if !done.is_empty() {
            tx.deliveries().settle(done)?;
        }
        if limits.healthy == 0 && limits.failing == 0 {
            return Ok(vec![]);
        }
        Ok(tx.deliveries().claim(now, now + lease(app), limits)?)
    })
}

/// The kinds of work that are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueWork {
    /// The outbox has events.
    pub events: bool,
    /// Deliveries are due to be sent.
    pub deliveries: bool,
}

/// Returns which work is due. The query is cheap.
pub fn due_work(app: &App) -> Result<DueWork, Error> {
    let now = app.clock.now();
    app.store.read(|tx| {
        Ok(DueWork { events: tx.outbox().any()?, deliveries: tx.deliveries().any_due(now)? })
    })
}

/// Returns the size of the delivery queue.
pub fn queue_size(app: &App) -> Result<QueueSize, Error> {
    app.store.read(|tx| Ok(tx.delivery_log().queue()?))
}

/// The number of consecutive failures after which a hook counts as failing.
const FAILING_AFTER: u32 = 5;

/// The maximum number of failing hooks in the list.
const MAX_FAILING_HOOKS: u32 = 50;

/// Lists the failing hooks, the worst first.
pub fn list_failing_hooks(app: &App) -> Result<Vec<FailingHook>, Error> {
    app.store.read(|tx| Ok(tx.delivery_log().failing(FAILING_AFTER, MAX_FAILING_HOOKS)?))
}

/// Returns a random, unique key for a delivery.
pub(crate) fn new_key(app: &App) -> DeliveryKey {
    DeliveryKey::new(app.random_bytes())
}

/// The maximum duration of one attempt: connecting, and waiting for the response.
fn max_attempt_time(app: &App) -> TimeDelta {
    TimeDelta::from_std(app.settings.hook_timeout * 2).unwrap_or(TimeDelta::MAX)
}

/// The lease of a claim: long enough for one attempt that starts late.
fn lease(app: &App) -> TimeDelta {
    max_attempt_time(app) + max_attempt_time(app) / 2
}
