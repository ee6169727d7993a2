//! Numbers that look random.

use std::time::{SystemTime, UNIX_EPOCH};

/// A small generator; the same seed gives the same numbers.
#[derive(Clone, Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// Others in every run.
    pub fn of_the_moment() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::from(now.subsec_nanos()) << 20 ^ now.as_secs())
    }

    /// The next one.
    pub fn next_number(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// The next one below a bound, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.next_number() as usize % bound
    }
}

/// A number that the environment gives, for tests that have a full size.
pub fn number_of(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}
