//! Sends the deliveries of a claim.

use std::collections::VecDeque;

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::HookRequest;
use hexforge_domain::delivery::lane::{Claim, Claimed, Sent, Settlement};
use hexforge_domain::delivery::state::Tried;
use hexforge_domain::id::DeliveryId;
use hexforge_domain::ports::store::StoreError;

use super::{longest, post};
use crate::app::App;

/// The number of characters of payloads that are read ahead per lane. They are held in memory for each active lane.
const AHEAD: u32 = 256 * 1024;

/// The time for which payloads that were read ahead are valid. After that they are read again, because the hook may
/// have been changed or removed.
const FRESH: TimeDelta = TimeDelta::seconds(1);

/// Sends the claimed deliveries of a lane in order. Stops when `go_on` returns false, when an attempt could last longer
/// than the claim, or when the hook has to rest after a failure. Deliveries that were not sent stay in the queue.
pub fn send(app: &App, claim: Claim, go_on: &dyn Fn() -> bool) -> Settlement {
    let mut health = claim.health;
    let mut sent = Vec::with_capacity(claim.deliveries.len());
    let mut ahead = Ahead::default();
    for (place, delivery) in claim.deliveries.iter().enumerate() {
        if !go_on() || app.clock.now() + longest(app) > claim.until {
            break;
        }
        let request = match ahead.request(app, &claim.deliveries[place..]) {
            Ok(Some(request)) => request,
            // The hook was removed meanwhile.
            Ok(None) => continue,
            // Stop on any error, so that the outcomes so far can be stored.
            Err(_) => break,
        };
        let (attempt, outcome) = post(app, request);
        let (now, tries) = (app.clock.now(), delivery.tries + 1);
        let tried = Tried { id: delivery.id, tries, since: delivery.since, now };
        let state = tried.after(outcome);
        health = health.after(outcome, state, now);
        sent.push(Sent { id: delivery.id, tries, attempt, state });
        if health.rest_until.is_some() {
            break;
        }
    }
    Settlement { lane: claim.lane, number: claim.number, health, sent }
}

/// The letters that were read ahead for a lane.
#[derive(Default)]
struct Ahead {
    requests: VecDeque<(DeliveryId, HookRequest)>,
    /// The time of the read, and the last delivery that it covered.
    read: Option<(Timestamp, DeliveryId)>,
}

impl Ahead {
    /// Returns the letter of the first delivery, or `None` if its hook was removed. Reads the letters of the following
    /// deliveries ahead.
    fn request(
        &mut self,
        app: &App,
        wanted: &[Claimed],
    ) -> Result<Option<HookRequest>, StoreError> {
        let Some(Claimed { id, .. }) = wanted.first() else { return Ok(None) };
        let now = app.clock.now();
        let holds = |(read, upto): (Timestamp, DeliveryId)| now - read <= FRESH && *id <= upto;
        if !self.read.is_some_and(holds) {
            let ids: Vec<DeliveryId> = wanted.iter().map(|delivery| delivery.id).collect();
            self.requests = app.store.read(|tx| tx.deliveries().requests(&ids, AHEAD))?.into();
            let last = self.requests.back().map(|(last, _)| *last);
            // Deliveries up to this one without a letter have none; when no letter was read, that holds for all.
            self.read = last.or(ids.last().copied()).map(|upto| (now, upto));
        }
        let is_there = self.requests.front().is_some_and(|(first, _)| first == id);
        Ok(if is_there { self.requests.pop_front().map(|(_, request)| request) } else { None })
    }
}
