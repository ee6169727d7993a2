//! Working off a claim.

use hexforge_domain::delivery::lane::{Claim, Sent, Settlement};
use hexforge_domain::delivery::state::Tried;

use super::{longest, post};
use crate::app::App;

/// Sends what is claimed of a lane, one after the other, as long as it may go on, nobody else may claim it before an
/// attempt is over, and the receiver answers. What is not sent waits on.
pub fn send(app: &App, claim: Claim, go_on: &dyn Fn() -> bool) -> Settlement {
    let mut health = claim.health;
    let mut sent = Vec::with_capacity(claim.deliveries.len());
    for delivery in claim.deliveries {
        if !go_on() || app.clock.now() + longest(app) > claim.until {
            break;
        }
        let letter = match app.store.read(|tx| tx.deliveries().letter(delivery.id)) {
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
