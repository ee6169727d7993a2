//! Lanes: the queue of each hook, and how it fares.

use super::{Attempt, DeliveryState, Outcome};
use crate::Timestamp;
use crate::id::{DeliveryId, LaneId};
use chrono::TimeDelta;

/// How long a receiver that seems to be down is left alone at most before the next thing is tried.
const LONGEST_REST: TimeDelta = TimeDelta::seconds(60);

/// How a hook has fared lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// How often in a row it failed.
    pub failures: u32,
    /// Since when it fails, if it does.
    pub failing_since: Option<Timestamp>,
    /// Until when it is left alone.
    pub rest_until: Option<Timestamp>,
}

impl Health {
    /// How it fares after an attempt that ended now and left the delivery in that state.
    ///
    /// A receiver that seems to be down rests as a whole until the delivery is due again, so that what happened
    /// first still comes first. It does not rest for long: what is new must not wait until what is old gives up.
    pub fn after(self, outcome: Outcome, state: DeliveryState, now: Timestamp) -> Self {
        if outcome.is_taken() {
            return Self::default();
        }
        let rest = now + LONGEST_REST;
        Self {
            failures: self.failures.saturating_add(1),
            failing_since: self.failing_since.or(Some(now)),
            rest_until: outcome
                .is_about_receiver()
                .then(|| state.due().map_or(rest, |due| due.min(rest))),
        }
    }
}

/// A lane that somebody may send from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which.
    pub lane: LaneId,
    /// Tells this claim from all others of the lane.
    pub number: i64,
    /// When others may claim it.
    pub until: Timestamp,
    /// How the hook has fared.
    pub health: Health,
    /// What to send, in this order.
    pub deliveries: Vec<Claimed>,
}

/// A delivery of a claimed lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Which.
    pub id: DeliveryId,
    /// How often it was tried before.
    pub tries: u32,
    /// From when on its patience counts.
    pub since: Timestamp,
}

/// How much is claimed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimLimits {
    /// Lanes that fare well.
    pub healthy: u32,
    /// Lanes that failed the last time.
    pub failing: u32,
    /// Deliveries of each lane.
    pub each: u32,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Of which lane.
    pub lane: LaneId,
    /// See [`Claim::number`].
    pub number: i64,
    /// How the hook fares now.
    pub health: Health,
    /// What was sent; the rest of the claim waits as before.
    pub sent: Vec<Sent>,
}

/// A delivery that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Which.
    pub id: DeliveryId,
    /// How often, this time included.
    pub tries: u32,
    /// How it went.
    pub attempt: Attempt,
    /// What became of it.
    pub state: DeliveryState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_is_down_rests_and_one_that_answers_does_not() {
        let now = Timestamp::UNIX_EPOCH;
        let seconds = |seconds| now + TimeDelta::seconds(seconds);
        let pending = |due| DeliveryState::Pending { due: seconds(due) };
        for (outcome, state, rest) in [
            (Outcome::Unreachable, pending(7), Some(7)),
            (Outcome::Unreachable, pending(3600), Some(60)),
            (Outcome::Unreachable, DeliveryState::GivenUp, Some(60)),
            (Outcome::Answered(429), pending(9), Some(9)),
            (Outcome::Answered(503), pending(9), Some(9)),
            (Outcome::Answered(500), pending(9), None),
            (Outcome::Answered(404), DeliveryState::Failed, None),
            (Outcome::Refused, DeliveryState::Failed, None),
        ] {
            let first = Health::default().after(outcome, state, now);
            let expected =
                Health { failures: 1, failing_since: Some(now), rest_until: rest.map(seconds) };
            assert_eq!(first, expected, "{outcome:?}");
            let second = first.after(outcome, state, seconds(100));
            assert_eq!((second.failures, second.failing_since), (2, Some(now)), "{outcome:?}");
            let good = second.after(Outcome::Answered(200), DeliveryState::Delivered, now);
            assert_eq!(good, Health::default(), "{outcome:?}");
        }
    }
}
