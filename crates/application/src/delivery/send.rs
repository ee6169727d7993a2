//! Sends the deliveries of a claim.

use std::collections::VecDeque;

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::lane::{Claim, Claimed, Sent, Settlement};
use hexforge_domain::delivery::state::AttemptedDelivery;
use hexforge_domain::delivery::{Attempt, DeliveryState, HookRequest};
use hexforge_domain::id::DeliveryId;
use hexforge_domain::ports::store::StoreError;

use super::{max_attempt_time, post};
use crate::app::App;

/// The maximum number of characters of payloads that are read ahead per lane. Each active lane holds them in memory.
const MAX_READ_AHEAD: u32 = 256 * 1024;

/// The time for which payloads that were read ahead are valid. After that they are read again, because the hook may
/// have been changed or removed.
const MAX_AGE: TimeDelta = TimeDelta::seconds(1);

/// Sends the claimed deliveries of a lane in order. Stops when `go_on` returns false, when an attempt could last longer
/// than the claim, or when the hook has to rest after a failure. Deliveries that were not sent stay in the queue.
pub fn send(app: &App, claim: Claim, go_on: &dyn Fn() -> bool) -> Settlement {
    let mut health = claim.health;
    let mut sent = Vec::with_capacity(claim.deliveries.len());
    let mut ahead = ReadAhead::default();
    for (place, delivery) in claim.deliveries.iter().enumerate() {
        if !go_on() || app.clock.now() + max_attempt_time(app) > claim.until {
            break;
        }
        let request = match ahead.request(app, &claim.deliveries[place..]) {
            Ok(Some(request)) => request,
            Ok(None) => {
                sent.push(undeliverable(delivery, app.clock.now()));
                continue;
            }
            // Stop on any error, so that the outcomes so far can be stored.
            Err(_) => break,
        };
        let (attempt, outcome) = post(app, request);
        let (now, tries) = (app.clock.now(), delivery.tries + 1);
        let tried = AttemptedDelivery { id: delivery.id, tries, since: delivery.since, now };
        let state = tried.after(outcome);
        health = health.after(outcome, state, now);
        sent.push(Sent { id: delivery.id, tries, attempt, state });
        if health.rest_until.is_some() {
            break;
        }
    }
    Settlement { lane: claim.lane, number: claim.number, health, sent }
}

/// The error text of a delivery without a request.
const NO_REQUEST: &str = "the hook was removed, or its settings cannot be read";

/// The outcome of a delivery that cannot be sent, because its hook was removed or has no readable URL. If it stayed
/// pending, the lane would be due at once again, and for ever. The health of the hook does not change.
fn undeliverable(delivery: &Claimed, now: Timestamp) -> Sent {
    let attempt = Attempt {
        at: now,
        url: String::new(),
        millis: 0,
        status: None,
        answer: None,
        error: Some(NO_REQUEST.to_owned()),
    };
    Sent { id: delivery.id, tries: delivery.tries, attempt, state: DeliveryState::Failed }
}

/// The hook requests that were read ahead for a lane.
#[derive(Default)]
struct ReadAhead {
    requests: VecDeque<(DeliveryId, HookRequest)>,
    /// The time of the read, and the last delivery that it covered.
    read: Option<(Timestamp, DeliveryId)>,
}

impl ReadAhead {
    /// Returns the request of the first delivery, or `None` if its hook was removed. Reads the requests of the
    /// following deliveries ahead.
    fn request(
        &mut self,
        app: &App,
        wanted: &[Claimed],
    ) -> Result<Option<HookRequest>, StoreError> {
        let Some(Claimed { id, .. }) = wanted.first() else { return Ok(None) };
        let now = app.clock.now();
        let is_valid = |(read, upto): (Timestamp, DeliveryId)| now - read <= MAX_AGE && *id <= upto;
        if !self.read.is_some_and(is_valid) {
            let ids: Vec<DeliveryId> = wanted.iter().map(|delivery| delivery.id).collect();
            self.requests =
                app.store.read(|tx| tx.deliveries().requests(&ids, MAX_READ_AHEAD))?.into();
            let last = self.requests.back().map(|(last, _)| *last);
            // A delivery up to this one without a request belongs to a removed hook. If the query returned no request
            // at all, this is true for all deliveries.
            self.read = last.or(ids.last().copied()).map(|upto| (now, upto));
        }
        let is_there = self.requests.front().is_some_and(|(first, _)| first == id);
        Ok(if is_there { self.requests.pop_front().map(|(_, request)| request) } else { None })
    }
}
