//! The minimum transfer rate of clients that hold a permit.

use std::collections::VecDeque;
use std::time::Duration;

/// The limits of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    /// The maximum time without any transferred byte. It is also the window over which the rate is
    /// averaged.
    pub idle: Duration,
    /// The minimum rate in bytes per second; 0 disables the limit.
    pub min_rate: u64,
}

/// The divisor of the minimum rate for a negotiation, which consists of short messages with
/// computation in between.
const NEGOTIATION_DIVISOR: u64 = 64;

/// The number of parts into which the window is divided.
const PARTS: u32 = 16;

impl Default for TransferLimits {
    fn default() -> Self {
        Self { idle: Duration::from_secs(60), min_rate: 4 * 1024 }
    }
}

impl TransferLimits {
    /// The limits for the negotiation phase, in which clients send short messages.
    #[must_use]
    pub fn for_negotiation(self) -> Self {
        Self { min_rate: self.min_rate / NEGOTIATION_DIVISOR, ..self }
    }
}

/// Measures the rate of a transfer. Only the time during which the server waits for the client
/// counts, so a client is not too slow because the server is.
#[derive(Clone, Debug)]
pub struct TransferRate {
    limits: TransferLimits,
    waited: Duration,
    /// The bytes moved during the window, one entry per part of it: the total waiting time when the
    /// part began, and the bytes of the part.
    recent: VecDeque<(Duration, u64)>,
}

impl TransferRate {
    /// Starts the measurement of a transfer.
    pub fn new(limits: TransferLimits) -> Self {
        Self { limits, waited: Duration::ZERO, recent: VecDeque::new() }
    }

    /// Returns the timeout for the next bytes. The client is too slow if no bytes are moved until
    /// then.
    pub fn timeout(&self) -> Duration {
        let (window, part) = (self.limits.idle, self.limits.idle / PARTS);
        let required = u128::from(self.limits.min_rate) * window.as_millis() / 1000;
        let mut moved = 0;
        // The total waiting time up to which the bytes of the preceding window reach the minimum rate. The first
        // window is a grace period.
        let mut enough_until = window;
        for (at, bytes) in self.recent.iter().rev() {
            moved += u128::from(*bytes);
            if moved >= required {
                enough_until = *at + part + window;
                break;
            }
        }
        if required == 0 { window } else { enough_until.saturating_sub(self.waited).min(window) }
    }

    /// Counts bytes that were moved, and the time spent waiting for the client before.
    pub fn record(&mut self, waited: Duration, bytes: usize) {
        self.waited += waited;
        let part = self.limits.idle / PARTS;
        match self.recent.back_mut() {
            Some((at, sum)) if self.waited < *at + part => *sum = sum.saturating_add(bytes as u64),
            _ => self.recent.push_back((self.waited, bytes as u64)),
        }
        while self.recent.front().is_some_and(|(at, _)| *at + part + self.limits.idle < self.waited)
        {
            self.recent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: TransferLimits = TransferLimits { idle: Duration::from_secs(60), min_rate: 4096 };

    /// Simulates a client that moves `bytes` every `every` seconds. Returns the waiting time in seconds
    /// after which the client is given up; `None` if it never is.
    fn given_up_after(limits: TransferLimits, every: u64, bytes: usize) -> Option<u64> {
        let (mut rate, mut waited) = (TransferRate::new(limits), 0);
        for _ in 0..10_000 {
            let patience = rate.timeout();
            if patience < Duration::from_secs(every) {
                return Some(waited + patience.as_secs());
            }
            waited += every;
            rate.record(Duration::from_secs(every), bytes);
            assert!(rate.recent.len() <= PARTS as usize + 2, "the number of entries is bounded");
        }
        None
    }

    #[test]
    fn slow_clients_are_given_up_after_a_window() {
        for (every, bytes, given_up) in [
            (20, 1, Some(60)),
            (1, 1, Some(60)),
            (1, 1024, Some(60)),
            (10, 64 * 1024, None),
            (1, 4096, None),
            (1, 1 << 20, None),
            (59, 1 << 20, None),
            (61, 1 << 30, Some(60)),
        ] {
            assert_eq!(
                given_up_after(LIMITS, every, bytes),
                given_up,
                "{bytes} bytes per {every} s"
            );
        }
        let no_rate = TransferLimits { min_rate: 0, ..LIMITS };
        assert_eq!(given_up_after(no_rate, 20, 1), None);
        assert_eq!(given_up_after(no_rate, 61, 1), Some(60));
    }

    #[test]
    fn a_fast_start_does_not_excuse_a_slow_end() {
        let mut rate = TransferRate::new(LIMITS);
        for _ in 0..1000 {
            rate.record(Duration::ZERO, 1 << 20);
        }
        let mut waited = 0;
        while rate.timeout() >= Duration::from_secs(5) {
            rate.record(Duration::from_secs(5), 1);
            waited += 5;
        }
        assert!((60..=65).contains(&waited), "{waited}");
    }

    #[test]
    fn a_client_that_becomes_fast_again_is_waited_for_again() {
        let mut rate = TransferRate::new(LIMITS);
        rate.record(Duration::from_secs(60), 1);
        assert_eq!(rate.timeout(), Duration::ZERO);
        rate.record(Duration::ZERO, 1 << 20);
        assert_eq!(rate.timeout(), Duration::from_secs(60));
    }

    #[test]
    fn conversations_need_few_bytes() {
        let limits = LIMITS.for_negotiation();
        assert_eq!(given_up_after(limits, 10, 1600), None, "32 lines of `have` per round");
        assert_eq!(given_up_after(limits, 20, 1), Some(60));
    }
}
