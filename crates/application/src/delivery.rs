//! Telling hooks what happened: who hears of it, sending it, and what becomes of that.
//!
//! Nothing here is part of the call that made it happen. [`fan_out`] turns events of the outbox into deliveries,
//! [`claim`] takes some of them, [`send`] sends them without any transaction, and [`claim`] again writes down
//! how that went. What a process that dies had claimed is claimed by another when its time is over.

mod fan_out;
mod post;
mod prune;
mod send;

use chrono::TimeDelta;
use hexforge_domain::delivery::lane::{Claim, ClaimLimits, Settlement};
use hexforge_domain::delivery::{DeliveryKey, FailingHook, Queue};

use crate::app::App;
use crate::error::Error;

pub use fan_out::{catch_up, fan_out};
pub(crate) use post::post;
pub use prune::prune;
pub use send::send;

/// Writes down what became of claims and takes new ones, in one transaction: each costs a disk its rest.
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

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Events to be looked at.
    pub events: bool,
    /// Deliveries to be sent.
    pub deliveries: bool,
}

/// Looks whether there is anything to do. It costs next to nothing.
pub fn work(app: &App) -> Result<Work, Error> {
    let now = app.clock.now();
    app.store.read(|tx| {
        Ok(Work { events: tx.outbox().any()?, deliveries: tx.deliveries().any_due(now)? })
    })
}

/// How much waits to be sent.
pub fn queue(app: &App) -> Result<Queue, Error> {
    app.store.read(|tx| Ok(tx.delivery_log().queue()?))
}

/// So often in a row a hook has to fail to be called a failing one.
const KEEPS_FAILING: u32 = 5;

/// How many failing hooks are named.
const NAMED: u32 = 50;

/// Hooks that keep failing, the worst first.
pub fn failing(app: &App) -> Result<Vec<FailingHook>, Error> {
    app.store.read(|tx| Ok(tx.delivery_log().failing(KEEPS_FAILING, NAMED)?))
}

/// A key that no other delivery has.
pub(crate) fn new_key(app: &App) -> DeliveryKey {
    let digest = app.secrets.digest(app.secrets.token().reveal());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.0[..16]);
    DeliveryKey::new(bytes)
}

/// How long one attempt takes at most: to reach the receiver, and to hear its answer.
fn longest(app: &App) -> TimeDelta {
    TimeDelta::from_std(app.settings.hook_timeout * 2).unwrap_or(TimeDelta::MAX)
}

/// How long a claim is left to whoever has it: long enough for one attempt that begins late.
fn lease(app: &App) -> TimeDelta {
    longest(app) + longest(app) / 2
}
