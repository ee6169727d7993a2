//! Pseudo-random numbers.

use std::time::{SystemTime, UNIX_EPOCH};

/// A linear congruential generator: the same seed gives the same numbers.
#[derive(Clone, Debug)]
pub struct RandomNumbers(pub u64);

impl RandomNumbers {
    /// Seeds the generator with the current time, so each run gets different numbers.
    pub fn seeded_by_time() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::from(now.subsec_nanos()) << 20 ^ now.as_secs())
    }

    /// Returns the next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Returns the next number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.next_number() as usize % bound
    }
}

/// Reads a number from an environment variable. Tests use it to run at full size.
pub fn number_from_env(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}
