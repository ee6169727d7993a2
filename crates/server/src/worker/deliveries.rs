//! Sends hook deliveries: one scheduler thread, and a sender thread for each active lane.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::delivery;
use hexforge_application::error::Error;
use hexforge_domain::delivery::DeliveryState;
use hexforge_domain::delivery::lane::{Claim, ClaimLimits, Sent, Settlement};
use hexforge_domain::id::LaneId;
use hexforge_domain::ports::payloads::Payloads;

use super::signals::Signals;

/// The most lanes that are sent at the same time.
const LANES: usize = 64;

/// The most of these that failed the last time, so that receivers that hang do not block the others.
const FAILING_LANES: usize = 32;

/// How many deliveries of a lane are claimed at once.
const CLAIMED_PER_LANE: u32 = 32;

/// The interval of polling, because other processes cannot wake up this one.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How many transactions turn events into deliveries before some are sent.
const FAN_OUTS: usize = 20;

/// How long a stop waits for active lanes. Longer ones are sent again by another process, with the same delivery key.
const GRACE: Duration = Duration::from_secs(2);

/// The stack size of a sender thread: enough for TLS, and far below the default because there may be many threads.
const STACK: usize = 512 * 1024;

/// The scheduler thread. Dropping this stops it.
pub struct Deliveries {
    signals: Arc<Signals>,
    thread: Option<JoinHandle<()>>,
}

impl Deliveries {
    /// Starts the scheduler thread.
    pub fn start(app: App, payloads: Arc<dyn Payloads>, signals: Arc<Signals>) -> Result<Self> {
        let mut scheduler =
            Scheduler { app, payloads, signals: Arc::clone(&signals), active: HashMap::new() };
        let thread =
            thread::Builder::new().name("deliveries".into()).spawn(move || scheduler.run());
        let thread = thread.context("the thread `deliveries` cannot be started")?;
        Ok(Self { signals, thread: Some(thread) })
    }

    /// Prevents new deliveries from starting.
    pub fn close(&self) {
        self.signals.close();
    }
}

impl Drop for Deliveries {
    fn drop(&mut self) {
        self.close();
        if let Some(thread) = self.thread.take() {
            // The panic hook has already logged the panic.
            let _ = thread.join();
        }
    }
}

struct Scheduler {
    app: App,
    payloads: Arc<dyn Payloads>,
    signals: Arc<Signals>,
    /// The active lanes, and whether each had failed before.
    active: HashMap<LaneId, bool>,
}

impl Scheduler {
    fn run(&mut self) {
        let mut done = Vec::new();
        while self.signals.is_open() {
            if let Err(error) = self.round(&mut done) {
                tracing::warn!(%error, "hook deliveries failed and are retried later");
                thread::sleep(POLL_INTERVAL);
            }
            done.extend(self.signals.wait(POLL_INTERVAL));
        }
        self.finish(done);
    }

    /// Saves the results of sent deliveries, and starts those that are due. Results that could not
    /// be saved stay in `done`.
    fn round(&mut self, done: &mut Vec<Settlement>) -> Result<(), Error> {
        let mut work = delivery::due_work(&self.app)?;
        if work.events {
            work.deliveries = true;
            let mut rounds = 0;
            while rounds < FAN_OUTS && delivery::fan_out(&self.app, &*self.payloads)? {
                rounds += 1;
            }
            if rounds == FAN_OUTS {
                self.signals.notify();
            }
        }
        if done.is_empty() && !work.deliveries {
            return Ok(());
        }
        let free = self.free_lanes(done);
        let claims = delivery::claim(&self.app, done, free)?;
        for settlement in done.drain(..) {
            self.active.remove(&settlement.lane);
            count(&settlement.sent);
        }
        for claim in claims {
            self.active.insert(claim.lane, claim.health.failures > 0);
            self.start_sender(claim);
        }
        Ok(())
    }

    /// How many lanes may start, once these are done.
    fn free_lanes(&self, done: &[Settlement]) -> ClaimLimits {
        let going = self
            .active
            .iter()
            .filter(|(lane, _)| !done.iter().any(|settlement| settlement.lane == **lane));
        let (mut all, mut failing) = (0, 0);
        for (_, had_failed) in going {
            all += 1;
            failing += usize::from(*had_failed);
        }
        let free = LANES.saturating_sub(all);
        // Some capacity is reserved for failing lanes, so that they are retried even under load.
        let for_failing = FAILING_LANES.saturating_sub(failing).min((free / 4).max(1)).min(free);
        ClaimLimits {
            healthy: (free - for_failing) as u32,
            failing: for_failing as u32,
            each: CLAIMED_PER_LANE,
        }
    }

    fn start_sender(&self, claim: Claim) {
        let (app, signals) = (self.app.clone(), Arc::clone(&self.signals));
        let unsent = Settlement {
            lane: claim.lane,
            number: claim.number,
            health: claim.health,
            sent: vec![],
        };
        let work = move || {
            let settlement = delivery::send(&app, claim, &|| signals.is_open());
            signals.report(settlement);
        };
        let thread = thread::Builder::new().name("hook".into()).stack_size(STACK).spawn(work);
        if let Err(error) = thread {
            tracing::warn!(%error, "a thread for hook deliveries cannot be started; retried later");
            self.signals.report(unsent);
        }
    }

    /// Saves the results of lanes that end within a short time.
    fn finish(&mut self, mut done: Vec<Settlement>) {
        let end = Instant::now() + GRACE;
        loop {
            let now = Instant::now();
            let reported = |lane: &LaneId| done.iter().any(|settlement| settlement.lane == *lane);
            if now >= end || self.active.keys().all(reported) {
                break;
            }
            done.extend(self.signals.wait_for_report(end - now));
        }
        let nothing = ClaimLimits { healthy: 0, failing: 0, each: 0 };
        match delivery::claim(&self.app, &done, nothing) {
            Ok(_) => done.iter().for_each(|settlement| count(&settlement.sent)),
            Err(error) => {
                tracing::warn!(%error, "the results of hook deliveries could not be saved");
            }
        }
    }
}

/// Counts sent deliveries in the metrics.
fn count(sent: &[Sent]) {
    for sent in sent {
        let outcome = match sent.state {
            DeliveryState::Pending { .. } => "retried",
            DeliveryState::Delivered => "delivered",
            DeliveryState::Failed => "failed",
            DeliveryState::GivenUp => "given_up",
        };
        metrics::counter!("hexforge_hook_deliveries_total", "outcome" => outcome).increment(1);
        let seconds = f64::from(sent.attempt.millis) / 1000.0;
        metrics::histogram!("hexforge_hook_delivery_seconds", "outcome" => outcome).record(seconds);
    }
}
