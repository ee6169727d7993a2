//! The state of a delivery, and its transitions after each attempt.

use crate::Timestamp;
use crate::id::DeliveryId;
use chrono::TimeDelta;

/// The maximum number of attempts.
pub const MAX_ATTEMPTS: u32 = 20;

/// The time for which a delivery is retried, since it was queued or manually retried. After that it is given up.
pub const RETRY_PERIOD: TimeDelta = TimeDelta::hours(24);

/// The full length of the first pause; each further pause is twice as long. See [`AttemptedDelivery::pause`].
const FIRST_PAUSE: TimeDelta = TimeDelta::seconds(10);

/// The maximum length of a pause.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(2);

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// Waiting for the first attempt or the next one.
    Pending {
        /// The earliest time of the attempt.
        due: Timestamp,
    },
    /// The receiver accepted it.
    Delivered,
    /// The attempt failed with an error that a retry cannot fix.
    Failed,
    /// All attempts failed.
    GivenUp,
}

impl DeliveryState {
    /// The name of the state in the API and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            DeliveryState::Pending { .. } => "pending",
            DeliveryState::Delivered => "delivered",
            DeliveryState::Failed => "failed",
            DeliveryState::GivenUp => "given_up",
        }
    }

    /// Parses the name of a state. Only a pending delivery has a due time.
    pub fn parse(word: &str, due: Option<Timestamp>) -> Option<Self> {
        match (word, due) {
            ("pending", Some(due)) => Some(DeliveryState::Pending { due }),
            ("delivered", None) => Some(DeliveryState::Delivered),
            ("failed", None) => Some(DeliveryState::Failed),
            ("given_up", None) => Some(DeliveryState::GivenUp),
            _ => None,
        }
    }

    /// The earliest time of the next attempt, if it is pending.
    pub fn due(self) -> Option<Timestamp> {
        match self {
            DeliveryState::Pending { due } => Some(due),
            DeliveryState::Delivered | DeliveryState::Failed | DeliveryState::GivenUp => None,
        }
    }
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A response with this HTTP status.
    Answered(u16),
    /// No response, or not in time.
    Unreachable,
    /// The request to this URL is not allowed.
    Refused,
}

/// The classification of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The receiver accepted the delivery.
    Accepted,
    /// A failure that a retry may fix.
    Temporary,
    /// A failure that a retry cannot fix.
    Permanent,
}

impl Outcome {
    fn meaning(self) -> Meaning {
        match self {
            Outcome::Answered(200..=299) => Meaning::Accepted,
            Outcome::Answered(429 | 500..=599) => Meaning::Temporary,
            Outcome::Answered(_) | Outcome::Refused => Meaning::Permanent,
            Outcome::Unreachable => Meaning::Temporary,
        }
    }

    /// Returns whether the receiver accepted the delivery.
    pub fn is_accepted(self) -> bool {
        self.meaning() == Meaning::Accepted
    }

    /// Returns whether the receiver as a whole seems to be down or overloaded, so that other deliveries would fail too.
    pub fn is_receiver_down(self) -> bool {
        match self {
            Outcome::Unreachable | Outcome::Answered(429 | 502..=504) => true,
            Outcome::Answered(_) | Outcome::Refused => false,
        }
    }
}

/// A delivery that was just attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptedDelivery {
    /// The delivery.
    pub id: DeliveryId,
    /// The number of attempts, this one included.
    pub tries: u32,
    /// When the delivery was queued or manually retried; [`RETRY_PERIOD`] counts from here.
    pub since: Timestamp,
    /// The current time.
    pub now: Timestamp,
}

impl AttemptedDelivery {
    /// The state after an attempt with this outcome.
    pub fn after(self, outcome: Outcome) -> DeliveryState {
        match outcome.meaning() {
            Meaning::Accepted => DeliveryState::Delivered,
            Meaning::Permanent => DeliveryState::Failed,
            Meaning::Temporary => {
                let due = self.now + self.pause();
                if self.tries >= MAX_ATTEMPTS || due > self.since + RETRY_PERIOD {
                    DeliveryState::GivenUp
                } else {
                    DeliveryState::Pending { due }
                }
            }
        }
    }

    /// The pause before the next attempt, with jitter: between half of the full pause and all of it, so that deliveries
    /// that failed together are not retried together. Depends only on the delivery and the number of attempts.
    fn pause(self) -> TimeDelta {
        let doubled = FIRST_PAUSE * (1 << (self.tries.max(1) - 1).min(12));
        let whole = doubled.min(LONGEST_PAUSE).num_milliseconds();
        let random = mix_bits(self.id.0.unsigned_abs().wrapping_mul(31) ^ u64::from(self.tries));
        let part = i64::from((random >> 54) as u16);
        TimeDelta::milliseconds(whole / 2 + whole / 2 * part / 1023)
    }
}

/// A hash that mixes the bits of a number.
fn mix_bits(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn tried(tries: u32) -> AttemptedDelivery {
        AttemptedDelivery { id: DeliveryId(7), tries, since: NOW, now: NOW }
    }

    #[test]
    fn the_state_after_each_outcome() {
        use DeliveryState::*;
        use Outcome::*;
        let later = |tries| Pending { due: NOW + tried(tries).pause() };
        for (tries, outcome, expected) in [
            (1, Answered(200), Delivered),
            (1, Answered(204), Delivered),
            (20, Answered(299), Delivered),
            (1, Answered(199), Failed),
            (1, Answered(301), Failed),
            (1, Answered(302), Failed),
            (1, Answered(400), Failed),
            (1, Answered(404), Failed),
            (1, Answered(410), Failed),
            (1, Answered(600), Failed),
            (1, Refused, Failed),
            (20, Refused, Failed),
            (1, Answered(429), later(1)),
            (1, Answered(500), later(1)),
            (19, Answered(599), later(19)),
            (1, Unreachable, later(1)),
            (19, Unreachable, later(19)),
            (20, Unreachable, GivenUp),
            (20, Answered(503), GivenUp),
            (21, Answered(429), GivenUp),
        ] {
            assert_eq!(tried(tries).after(outcome), expected, "{outcome:?} at {tries}");
        }
    }

    #[test]
    fn patience_ends_after_a_day() {
        for (hours, given_up) in [(0, false), (20, false), (23, true), (24, true), (48, true)] {
            let tried = AttemptedDelivery { now: NOW + TimeDelta::hours(hours), ..tried(12) };
            let state = tried.after(Outcome::Unreachable);
            assert_eq!(state == DeliveryState::GivenUp, given_up, "{hours}");
        }
    }

    #[test]
    fn pauses_grow_and_differ() {
        for (tries, least, most) in [
            (1, 5, 10),
            (2, 10, 20),
            (3, 20, 40),
            (8, 640, 1280),
            (12, 3600, 7200),
            (19, 3600, 7200),
        ] {
            let pauses: Vec<TimeDelta> = (1..200)
                .map(|id| AttemptedDelivery { id: DeliveryId(id), ..tried(tries) }.pause())
                .collect();
            let within = |pause: &TimeDelta| {
                (TimeDelta::seconds(least)..=TimeDelta::seconds(most)).contains(pause)
            };
            assert!(pauses.iter().all(within), "{tries}: {pauses:?}");
            let (low, high) = (pauses.iter().min(), pauses.iter().max());
            let spread = *high.expect("some") - *low.expect("some");
            assert!(spread > TimeDelta::seconds((most - least) / 2), "{tries}: {spread}");
        }
    }

    #[test]
    fn all_tries_fit_into_a_day() {
        let all: TimeDelta = (1..MAX_ATTEMPTS).map(|tries| tried(tries).pause()).sum();
        assert!(all < RETRY_PERIOD && all > TimeDelta::hours(8), "{all}");
    }

    #[test]
    fn states_are_parsed_from_their_names() {
        use DeliveryState::*;
        for state in [Pending { due: NOW }, Delivered, Failed, GivenUp] {
            assert_eq!(DeliveryState::parse(state.as_str(), state.due()), Some(state));
        }
        assert_eq!(DeliveryState::parse("pending", None), None);
        assert_eq!(DeliveryState::parse("delivered", Some(NOW)), None);
    }
}
