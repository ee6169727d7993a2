//! Accounts of the processor time that callers used recently.

use std::collections::HashMap;
use std::time::Duration;

use super::Holder;

/// An amount of processor time that decays with a half-life. Points in time are durations since a
/// fixed start.
#[derive(Clone, Copy, Debug)]
pub struct RecentTime {
    seconds: f64,
    at: Duration,
    half_life: Duration,
}

impl RecentTime {
    /// Creates an amount of zero.
    pub fn new(half_life: Duration, now: Duration) -> Self {
        Self { seconds: 0.0, at: now, half_life }
    }

    /// Adds processor time that was used until now.
    pub fn add(&mut self, used: Duration, now: Duration) {
        self.seconds = self.seconds(now) + used.as_secs_f64();
        self.at = now.max(self.at);
    }

    /// Returns the amount that remains at this time, in seconds.
    pub fn seconds(&self, now: Duration) -> f64 {
        let age = now.saturating_sub(self.at).as_secs_f64();
        self.seconds * 0.5_f64.powf(age / self.half_life.as_secs_f64())
    }
}

/// The processor time that the calls of each caller used.
///
/// Each caller has a share of all processors. A caller that used more than its share must pause
/// until the excess is paid back. It pauses only if that helps others: while the processors are busy
/// and a caller with little usage called recently.
#[derive(Debug)]
pub struct ProcessorTimeAccounts {
    /// The share of one caller, in processor seconds for each second.
    rate: f64,
    accounts: HashMap<Holder, Account>,
    /// The last two callers with little usage and the time of their calls, newest first.
    light: [Option<(Holder, Duration)>; 2],
}

/// The processor time that a caller used, minus its share of the time that has passed since.
#[derive(Clone, Copy, Debug)]
struct Account {
    seconds: f64,
    at: Duration,
}

impl Account {
    fn seconds(&self, rate: f64, now: Duration) -> f64 {
        (self.seconds - rate * now.saturating_sub(self.at).as_secs_f64()).max(0.0)
    }
}

impl ProcessorTimeAccounts {
    /// The fraction of all processors that is the share of one caller.
    const SHARE: f64 = 1.0 / 16.0;
    /// The burst: the seconds of its share that a caller may use at once.
    const BURST: f64 = 1.0;
    /// The time for which heavy callers pause after a call of a caller with little usage.
    const LIGHT_CALL_MEMORY: Duration = Duration::from_secs(2);
    /// The maximum balance of an account, in seconds of the share. It bounds the total pause of a
    /// caller.
    const MAX_BALANCE: f64 = Self::BURST + 5.0;
    /// The longest pause.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(2);
    /// The maximum number of accounts. A caller without an account does not pause.
    const MAX_ACCOUNTS: usize = 10_000;

    /// Creates the accounts for a machine with this number of processors.
    pub fn new(processors: usize) -> Self {
        let rate = processors as f64 * Self::SHARE;
        Self { rate, accounts: HashMap::new(), light: [None; 2] }
    }

    /// Adds processor time that a caller used until now.
    pub fn charge(&mut self, holder: Holder, used: Duration, now: Duration) {
        let rate = self.rate;
        if self.accounts.len() >= Self::MAX_ACCOUNTS && !self.accounts.contains_key(&holder) {
            self.accounts.retain(|_, account| account.seconds(rate, now) > 0.0);
            if self.accounts.len() >= Self::MAX_ACCOUNTS {
                return;
            }
        }
        let account = self.accounts.entry(holder).or_insert(Account { seconds: 0.0, at: now });
        let seconds = account.seconds(rate, now) + used.as_secs_f64();
        *account =
            Account { seconds: seconds.min(rate * Self::MAX_BALANCE), at: now.max(account.at) };
    }

    /// Charges a caller in advance for work that begins now. The actual time is charged when the
    /// work ends.
    pub fn reserve(&mut self, holder: Holder, now: Duration) {
        let reserved = Duration::from_secs_f64(self.rate * Self::BURST / 2.0);
        self.charge(holder, reserved, now);
    }

    /// Charges the time of a call that ends now. If the caller has little usage, others pause for it
    /// for some time after the end of the call.
    pub fn end_call(&mut self, holder: Holder, used: Duration, now: Duration) {
        self.charge(holder, used, now);
        if self.uses_little(holder, now) {
            self.note_light(holder, now);
        }
    }

    /// Returns the pause before a call if the caller used more than its share. There is no pause, and
    /// the excess is forgiven, while processors are free or no other caller with little usage called
    /// recently.
    pub fn pause(&mut self, holder: Holder, now: Duration, is_busy: bool) -> Option<Duration> {
        let (rate, is_alone) = (self.rate, !self.others_called(holder, now));
        if self.uses_little(holder, now) {
            self.note_light(holder, now);
            return None;
        }
        let account = self.accounts.get_mut(&holder)?;
        let excess = account.seconds(rate, now) - rate * Self::BURST;
        if excess <= 0.0 {
            return None;
        }
        if is_alone || !is_busy {
            account.seconds -= excess;
            return None;
        }
        Some(Duration::from_secs_f64(excess / rate).min(Self::LONGEST_PAUSE))
    }

    /// Returns whether a caller has used at most half of its burst. Paused callers recover up to
    /// the full burst, so they do not count as callers with little usage.
    fn uses_little(&self, holder: Holder, now: Duration) -> bool {
        let account = self.accounts.get(&holder);
        account
            .is_none_or(|account| account.seconds(self.rate, now) <= self.rate * Self::BURST / 2.0)
    }

    fn note_light(&mut self, holder: Holder, now: Duration) {
        if self.light[0].is_none_or(|(newest, _)| newest != holder) {
            self.light[1] = self.light[0];
        }
        self.light[0] = Some((holder, now));
    }

    /// Returns whether another caller with little usage called recently.
    fn others_called(&self, holder: Holder, now: Duration) -> bool {
        let mut light = self.light.iter().flatten();
        light.any(|(other, at)| {
            *other != holder && now.saturating_sub(*at) <= Self::LIGHT_CALL_MEMORY
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;

    const EVE: Holder = Holder::User(UserId(1));
    const ADA: Holder = Holder::User(UserId(2));
    const BOB: Holder = Holder::User(UserId(3));

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

    /// Creates the accounts for four processors: a share is 0.25 processor seconds per second.
    /// `ADA` called just now.
    fn beside_ada(now: Duration) -> ProcessorTimeAccounts {
        let mut spending = ProcessorTimeAccounts::new(4);
        assert_eq!(spending.pause(ADA, now, true), None);
        spending
    }

    #[test]
    fn callers_pause_for_what_is_above_their_share() {
        let begin = ms(5_000);
        for (used, pause) in [(0, 0), (250, 0), (251, 4), (350, 400), (750, 2_000), (60_000, 2_000)]
        {
            let mut spending = beside_ada(begin);
            spending.charge(EVE, ms(used), begin);
            let found = spending.pause(EVE, begin, true).unwrap_or_default();
            assert!(found.abs_diff(ms(pause)) < ms(1), "{used}: {found:?}");
            let end = begin + ms(5_001);
            assert_eq!(spending.pause(ADA, end, true), None);
            assert_eq!(spending.pause(EVE, end, true), None);
        }
    }

    #[test]
    fn jobs_that_waited_begin_one_after_the_other() {
        let now = ms(5_000);
        let mut spending = beside_ada(now);
        spending.charge(EVE, ms(250), now);
        assert_eq!(spending.pause(EVE, now, true), None, "the first job begins");
        spending.reserve(EVE, now);
        assert!(spending.pause(EVE, now, true).is_some(), "the next job waits");
        assert_eq!(spending.pause(EVE, now + ms(501), true), None, "the share has paid it back");
    }

    #[test]
    fn there_is_no_pause_without_other_callers() {
        let begin = ms(5_000);
        let much = |spending: &mut ProcessorTimeAccounts, now| {
            for caller in [EVE, BOB] {
                spending.charge(caller, ms(10_000), now);
            }
        };
        for (who, mut spending, now, is_busy, pauses) in [
            ("alone", ProcessorTimeAccounts::new(4), begin, true, false),
            ("beside Ada", beside_ada(begin), begin, true, true),
            ("some time later", beside_ada(begin), begin + ms(1_999), true, true),
            ("long after her", beside_ada(begin), begin + ms(2_001), true, false),
            ("with free processors", beside_ada(begin), begin, false, false),
        ] {
            much(&mut spending, now);
            assert_eq!(spending.pause(EVE, now, is_busy).is_some(), pauses, "{who}");
            // The excess from a time when no pause was due is forgiven.
            assert_eq!(spending.pause(ADA, now, is_busy), None);
            let pause = spending.pause(EVE, now, true).unwrap_or_default();
            assert_eq!(pause > ms(1), pauses, "{who}: {pause:?}");
        }
    }

    #[test]
    fn a_caller_who_never_rests_gets_its_share() {
        let mut spending = ProcessorTimeAccounts::new(8);
        let begin = ms(5_000);
        let (mut now, mut used) = (begin, Duration::ZERO);
        while now < begin + ms(60_000) {
            now += ms(5) + spending.pause(EVE, now, true).unwrap_or_default();
            spending.charge(EVE, ms(5), now);
            assert_eq!(spending.pause(ADA, now, true), None);
            used += ms(5);
        }
        let rate = used.as_secs_f64() / (now - begin).as_secs_f64();
        assert!((0.45..0.55).contains(&rate), "{rate}");
    }

    #[test]
    fn a_caller_is_present_until_its_call_ends() {
        let begin = ms(5_000);
        let mut spending = beside_ada(begin);
        let now = begin + ms(60_000);
        spending.end_call(ADA, ms(3), now);
        spending.charge(EVE, ms(10_000), now);
        assert!(spending.pause(EVE, now, true).is_some());
        // Costs of a connection outside of calls do not make a caller present.
        let later = now + ms(60_000);
        spending.charge(ADA, ms(3), later);
        spending.charge(EVE, ms(10_000), later);
        assert_eq!(spending.pause(EVE, later, true), None);
    }

    #[test]
    fn callers_who_all_use_much_do_not_pause_for_each_other() {
        let mut spending = ProcessorTimeAccounts::new(2);
        let begin = ms(5_000);
        let (mut now, mut used) = (begin, Duration::ZERO);
        while now < begin + ms(60_000) {
            for caller in [EVE, BOB] {
                now += ms(5) + spending.pause(caller, now, true).unwrap_or_default();
                spending.charge(caller, ms(5), now);
                used += ms(5);
            }
        }
        let rate = used.as_secs_f64() / (now - begin).as_secs_f64();
        assert!(rate > 0.9, "{rate}");
    }

    #[test]
    fn accounts_are_bounded() {
        let mut spending = ProcessorTimeAccounts::new(1);
        let begin = ms(5_000);
        let fill = |spending: &mut ProcessorTimeAccounts, from: i64, now| {
            for user in from..from + 2 * ProcessorTimeAccounts::MAX_ACCOUNTS as i64 {
                spending.charge(Holder::User(UserId(user)), ms(100), now);
            }
        };
        fill(&mut spending, 0, begin);
        assert_eq!(spending.accounts.len(), ProcessorTimeAccounts::MAX_ACCOUNTS);
        fill(&mut spending, -1_000_000, begin + ms(60_000));
        assert_eq!(spending.accounts.len(), ProcessorTimeAccounts::MAX_ACCOUNTS);
        assert!(spending.accounts.contains_key(&Holder::User(UserId(-1_000_000))));
    }
}
