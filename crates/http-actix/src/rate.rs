//! How slow the other side of a long transfer may be.

use std::time::{Duration, Instant};

/// How long it may send or take nothing at all.
const PATIENCE: Duration =
    if cfg!(test) { Duration::from_millis(200) } else { Duration::from_secs(60) };

/// The slowest that is waited for, in bytes per second.
const SLOWEST: u64 = if cfg!(test) { 1 << 20 } else { 4 * 1024 };

/// What is known of the other side: only the time that is spent waiting for it counts.
#[derive(Default)]
pub(crate) struct Rate {
    waited: Duration,
    moved: u64,
}

impl Rate {
    /// How long is waited for the next piece.
    pub(crate) fn patience(&self) -> Duration {
        let in_all = PATIENCE + Duration::from_millis(self.moved * 1000 / SLOWEST);
        in_all.saturating_sub(self.waited).min(PATIENCE)
    }

    /// After a wait that began then, so many bytes came or went.
    pub(crate) fn moved(&mut self, since: Instant, bytes: usize) {
        self.waited += since.elapsed();
        self.moved += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_slow_is_not_waited_for_in_the_end() {
        let mut rate = Rate { waited: PATIENCE / 2, moved: 0 };
        assert_eq!(rate.patience(), PATIENCE / 2);
        rate.moved = SLOWEST;
        assert_eq!(rate.patience(), PATIENCE);
        rate.waited = PATIENCE * 100;
        assert_eq!(rate.patience(), Duration::ZERO);
    }
}
