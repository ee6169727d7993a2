//! Lanes: the delivery queue of each hook, and the health of its receiver.

use super::{Attempt, DeliveryState, Outcome};
use crate::Timestamp;
use crate::id::{DeliveryId, LaneId};
use chrono::TimeDelta;

/// The maximum pause before the next attempt to a receiver that seems to be down.
const LONGEST_REST: TimeDelta = TimeDelta::seconds(60);

/// The recent success or failure of the deliveries to a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The number of consecutive failures.
    pub failures: u32,
    /// When the failures began; `None` if the last attempt succeeded.
    pub failing_since: Option<Timestamp>,
    /// No delivery is attempted before this time.
    pub rest_until: Option<Timestamp>,
}

impl Health {
    /// The health after an attempt that ended at `now` and left the delivery in `state`.
    ///
    /// If the receiver seems to be down, the whole lane pauses until the delivery is due again, so that deliveries stay
    /// in order. The pause is limited, so that new deliveries do not wait until old ones are given up.
    pub fn after(self, outcome: Outcome, state: DeliveryState, now: Timestamp) -> Self {
        if outcome.is_accepted() {
            return Self::default();
        }
        let rest = now + LONGEST_REST;
        Self {
            failures: self.failures.saturating_add(1),
            failing_since: self.failing_since.or(Some(now)),
            rest_until: outcome
                .is_receiver_down()
                .then(|| state.due().map_or(rest, |due| due.min(rest))),
        }
    }
}

/// The exclusive right to send from a lane for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The lane.
    pub lane: LaneId,
    /// Distinguishes this claim from all other claims of the lane.
    pub number: i64,
    /// When the claim expires, so that others may claim the lane.
    pub until: Timestamp,
    /// The health of the hook.
    pub health: Health,
    /// The deliveries to send, in this order.
    pub deliveries: Vec<Claimed>,
}

/// A delivery of a claimed lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The delivery.
    pub id: DeliveryId,
    /// The number of earlier attempts.
    pub tries: u32,
    /// When the delivery was queued or manually retried; [`RETRY_PERIOD`](super::state::RETRY_PERIOD) counts from here.
    pub since: Timestamp,
}

/// The maximum size of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimLimits {
    /// The number of lanes whose last attempt succeeded.
    pub healthy: u32,
    /// The number of lanes whose last attempt failed.
    pub failing: u32,
    /// The number of deliveries per lane.
    pub each: u32,
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The lane.
    pub lane: LaneId,
    /// See [`Claim::number`].
    pub number: i64,
    /// The new health of the hook.
    pub health: Health,
    /// The deliveries that were attempted. The other deliveries of the claim stay pending.
    pub sent: Vec<Sent>,
}

/// A delivery that was attempted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The delivery.
    pub id: DeliveryId,
    /// The number of attempts, this one included.
    pub tries: u32,
    /// The attempt.
    pub attempt: Attempt,
    /// The new state.
    pub state: DeliveryState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_pauses_only_while_its_receiver_is_down() {
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
