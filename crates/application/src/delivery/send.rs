//! Working off a claim.

use std::collections::VecDeque;

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::Letter;
use hexforge_domain::delivery::lane::{Claim, Claimed, Sent, Settlement};
use hexforge_domain::delivery::state::Tried;
use hexforge_domain::id::DeliveryId;
use hexforge_domain::ports::store::StoreError;

use super::{longest, post};
use crate::app::App;

/// How much is read ahead for one lane, in characters: so much is held for each lane under way.
const AHEAD: u32 = 256 * 1024;

/// How long what was read ahead holds. Then it is looked again whether the hook is still there and where it goes.
const FRESH: TimeDelta = TimeDelta::seconds(1);

/// Sends what is claimed of a lane, one after the other, as long as it may go on, nobody else may claim it before an
/// attempt is over, and the receiver answers. What is not sent waits on.
pub fn send(app: &App, claim: Claim, go_on: &dyn Fn() -> bool) -> Settlement {
    let mut health = claim.health;
    let mut sent = Vec::with_capacity(claim.deliveries.len());
    let mut ahead = Ahead::default();
    for (place, delivery) in claim.deliveries.iter().enumerate() {
        if !go_on() || app.clock.now() + longest(app) > claim.until {
            break;
        }
        let letter = match ahead.letter(app, &claim.deliveries[place..]) {
            Ok(Some(letter)) => letter,
            // Its hook was removed meanwhile.
            Ok(None) => continue,
            // Whatever it is, it can be written down what was sent before.
            Err(_) => break,
        };
        let (attempt, outcome) = post(app, letter);
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

/// What was read ahead of a lane.
#[derive(Default)]
struct Ahead {
    letters: VecDeque<(DeliveryId, Letter)>,
    /// When that was, and up to which delivery.
    read: Option<(Timestamp, DeliveryId)>,
}

impl Ahead {
    /// The letter of the first of these, if there is any for it. The others are those that follow.
    fn letter(&mut self, app: &App, wanted: &[Claimed]) -> Result<Option<Letter>, StoreError> {
        let Some(Claimed { id, .. }) = wanted.first() else { return Ok(None) };
        let now = app.clock.now();
        let holds = |(read, upto): (Timestamp, DeliveryId)| now - read <= FRESH && *id <= upto;
        if !self.read.is_some_and(holds) {
            let ids: Vec<DeliveryId> = wanted.iter().map(|delivery| delivery.id).collect();
            self.letters = app.store.read(|tx| tx.deliveries().letters(&ids, AHEAD))?.into();
            let last = self.letters.back().map(|(last, _)| *last);
            // There is none for those in between, and none for any when nothing was given.
            self.read = last.or(ids.last().copied()).map(|upto| (now, upto));
        }
        let is_there = self.letters.front().is_some_and(|(first, _)| first == id);
        Ok(if is_there { self.letters.pop_front().map(|(_, letter)| letter) } else { None })
    }
}
