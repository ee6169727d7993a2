//! Processor time that callers used lately.

use std::collections::HashMap;
use std::time::Duration;

use super::Holder;

/// An amount of processor time that halves after each half-life. A moment is given as the duration since a fixed start.
///
/// Time that is used at a constant rate, in seconds for each second, grows to that rate times 1.44 half-lives.
#[derive(Clone, Copy, Debug)]
pub struct RecentTime {
    seconds: f64,
    at: Duration,
    half_life: Duration,
}

/// The level to which a constant rate of 1 grows, in half-lives: 1 / ln 2.
const PLATEAU: f64 = std::f64::consts::LOG2_E;

impl RecentTime {
    /// Creates an account without any time in it.
    pub fn new(half_life: Duration, now: Duration) -> Self {
        Self { seconds: 0.0, at: now, half_life }
    }

    /// Adds time that was used until now.
    pub fn add(&mut self, used: Duration, now: Duration) {
        self.seconds = self.seconds(now) + used.as_secs_f64();
        self.at = now.max(self.at);
    }

    /// Returns the seconds that are left at a moment.
    pub fn seconds(&self, now: Duration) -> f64 {
        let age = now.saturating_sub(self.at).as_secs_f64();
        self.seconds * 0.5_f64.powf(age / self.half_life.as_secs_f64())
    }
}

/// The processor time that the calls of each caller used lately. A caller who used more than a share of all processors
/// pauses until it has used that share on average.
#[derive(Debug)]
pub struct Spending {
    /// The seconds in the account of a caller who uses its share all the time.
    share: f64,
    accounts: HashMap<Holder, RecentTime>,
}

impl Spending {
    /// Bursts last no longer than about this, and a caller that stops is soon like others.
    const HALF_LIFE: Duration = Duration::from_secs(1);
    /// The part of all processors that is one caller's share.
    const PART: f64 = 1.0 / 8.0;
    /// The longest pause.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(2);
    /// The most accounts there are. A caller without one does not pause.
    const ACCOUNTS: usize = 10_000;
    /// An account with less than these seconds is like none.
    const EMPTY: f64 = 0.001;

    /// Creates accounts for callers of a machine with so many processors.
    pub fn new(processors: usize) -> Self {
        let rate = processors as f64 * Self::PART;
        let share = rate * PLATEAU * Self::HALF_LIFE.as_secs_f64();
        Self { share, accounts: HashMap::new() }
    }

    /// Adds time that a caller used until now.
    pub fn charge(&mut self, holder: Holder, used: Duration, now: Duration) {
        if self.accounts.len() >= Self::ACCOUNTS && !self.accounts.contains_key(&holder) {
            self.accounts.retain(|_, account| account.seconds(now) >= Self::EMPTY);
            if self.accounts.len() >= Self::ACCOUNTS {
                return;
            }
        }
        let account = self.accounts.entry(holder);
        account.or_insert_with(|| RecentTime::new(Self::HALF_LIFE, now)).add(used, now);
    }

    /// Returns the pause before the next call of a caller, if it used more than its share.
    pub fn pause(&self, holder: Holder, now: Duration) -> Option<Duration> {
        let excess = self.accounts.get(&holder)?.seconds(now) / self.share;
        let pause = Self::HALF_LIFE.mul_f64(excess.max(1.0).log2()).min(Self::LONGEST_PAUSE);
        (!pause.is_zero()).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;

    const EVE: Holder = Holder::User(UserId(1));
    const ADA: Holder = Holder::User(UserId(2));

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn the_half_is_forgotten_after_each_half_life() {
        let begin = ms(5_000);
        let mut time = RecentTime::new(ms(10_000), begin);
        time.add(ms(8_000), begin);
        for (after, left) in [(0, 8.0), (10_000, 4.0), (20_000, 2.0), (40_000, 0.5)] {
            let seconds = time.seconds(begin + ms(after));
            assert!((seconds - left).abs() < 1e-9, "{after}: {seconds}");
        }
    }

    #[test]
    fn callers_pause_for_what_is_above_their_share() {
        // A quarter of a second in each second, which is 0.36 s in the account.
        let begin = ms(5_000);
        for (used, pause) in
            [(0, 0), (300, 0), (360, 0), (361, 1), (721, 1_000), (1_443, 2_000), (60_000, 2_000)]
        {
            let mut spending = Spending::new(2);
            spending.charge(EVE, ms(used), begin);
            let found = spending.pause(EVE, begin).unwrap_or_default();
            assert!(found.abs_diff(ms(pause)) < ms(2), "{used}: {found:?}");
            assert_eq!(spending.pause(ADA, begin), None);
            assert_eq!(spending.pause(EVE, begin + found + ms(10_000)), None);
        }
    }

    #[test]
    fn a_caller_who_never_rests_gets_its_share() {
        let mut spending = Spending::new(4);
        let begin = ms(5_000);
        let (mut now, mut used) = (begin, Duration::ZERO);
        while now < begin + ms(60_000) {
            now += ms(5) + spending.pause(EVE, now).unwrap_or_default();
            spending.charge(EVE, ms(5), now);
            used += ms(5);
        }
        let rate = used.as_secs_f64() / (now - begin).as_secs_f64();
        assert!((0.45..0.55).contains(&rate), "{rate}");
    }

    #[test]
    fn accounts_are_bounded() {
        let mut spending = Spending::new(1);
        let begin = ms(5_000);
        let fill = |spending: &mut Spending, from: i64, now| {
            for user in from..from + 2 * Spending::ACCOUNTS as i64 {
                spending.charge(Holder::User(UserId(user)), ms(100), now);
            }
        };
        fill(&mut spending, 0, begin);
        assert_eq!(spending.accounts.len(), Spending::ACCOUNTS);
        fill(&mut spending, -1_000_000, begin + ms(60_000));
        assert_eq!(spending.accounts.len(), Spending::ACCOUNTS);
        assert!(spending.accounts.contains_key(&Holder::User(UserId(-1_000_000))));
    }
}
