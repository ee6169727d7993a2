//! How slow the client of a long transfer may be while it holds a permit.

use std::collections::VecDeque;
use std::time::Duration;

/// The limits of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    /// How long a client may send or take nothing at all. It is also the window over which the rate is averaged.
    pub idle: Duration,
    /// The smallest rate in bytes per second; 0 is no limit.
    pub min_rate: u64,
}

/// A conversation consists of short messages with thinking between them: so much less than in a transfer is enough.
const CONVERSATION: u64 = 64;

/// Into how many parts the window is divided.
const PARTS: u32 = 16;

impl Default for TransferLimits {
    fn default() -> Self {
        Self { idle: Duration::from_secs(60), min_rate: 4 * 1024 }
    }
}

impl TransferLimits {
    /// The limits for clients that say in short messages what they want.
    #[must_use]
    pub fn for_conversation(self) -> Self {
        Self { min_rate: self.min_rate / CONVERSATION, ..self }
    }
}

/// Measures a transfer. Only the time counts during which the server waits for the client: a slow server makes no
/// client too slow.
#[derive(Clone, Debug)]
pub struct TransferRate {
    limits: TransferLimits,
    waited: Duration,
    /// What was moved during the window, in parts of it: how long had been waited in all when the part began, and
    /// how many bytes it has.
    recent: VecDeque<(Duration, u64)>,
}

impl TransferRate {
    /// A transfer that begins.
    pub fn new(limits: TransferLimits) -> Self {
        Self { limits, waited: Duration::ZERO, recent: VecDeque::new() }
    }

    /// How long to wait for the next bytes to be moved. The client is too slow when nothing is moved until then.
    pub fn patience(&self) -> Duration {
        let (window, part) = (self.limits.idle, self.limits.idle / PARTS);
        let owed = u128::from(self.limits.min_rate) * window.as_millis() / 1000;
        let mut moved = 0;
        // Up to when the bytes of a whole window before it are enough. At the beginning there is a window of grace.
        let mut enough_until = window;
        for (at, bytes) in self.recent.iter().rev() {
            moved += u128::from(*bytes);
            if moved >= owed {
                enough_until = *at + part + window;
                break;
            }
        }
        if owed == 0 { window } else { enough_until.saturating_sub(self.waited).min(window) }
    }

    /// Counts bytes that were moved after the client had been waited for.
    pub fn moved(&mut self, waited: Duration, bytes: usize) {
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

    /// When a client is given up that moves so many bytes each time after so many seconds: in seconds of waiting.
    fn given_up_after(limits: TransferLimits, every: u64, bytes: usize) -> Option<u64> {
        let (mut rate, mut waited) = (TransferRate::new(limits), 0);
        for _ in 0..10_000 {
            let patience = rate.patience();
            if patience < Duration::from_secs(every) {
                return Some(waited + patience.as_secs());
            }
            waited += every;
            rate.moved(Duration::from_secs(every), bytes);
            assert!(rate.recent.len() <= PARTS as usize + 2, "what is kept is bounded");
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
    fn a_fast_beginning_does_not_pay_for_a_slow_end() {
        let mut rate = TransferRate::new(LIMITS);
        for _ in 0..1000 {
            rate.moved(Duration::ZERO, 1 << 20);
        }
        let mut waited = 0;
        while rate.patience() >= Duration::from_secs(5) {
            rate.moved(Duration::from_secs(5), 1);
            waited += 5;
        }
        assert!((60..=65).contains(&waited), "{waited}");
    }

    #[test]
    fn a_client_that_becomes_fast_again_is_waited_for_again() {
        let mut rate = TransferRate::new(LIMITS);
        rate.moved(Duration::from_secs(60), 1);
        assert_eq!(rate.patience(), Duration::ZERO);
        rate.moved(Duration::ZERO, 1 << 20);
        assert_eq!(rate.patience(), Duration::from_secs(60));
    }

    #[test]
    fn conversations_need_few_bytes() {
        let limits = LIMITS.for_conversation();
        assert_eq!(given_up_after(limits, 10, 1600), None, "32 lines of `have` per round");
        assert_eq!(given_up_after(limits, 20, 1), Some(60));
    }
}
