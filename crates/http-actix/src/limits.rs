//! Rate limits per token and per address, in requests a minute.
//!
//! A request counts for the token it shows if that token has signed somebody in before, and else for its
//! address: made-up tokens give nobody a count of their own. All of this is in memory, and bounded.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::network::caller_network;
use hexforge_domain::token::TokenHash;

/// The key of a counter.
const WINDOW: TimeDelta = TimeDelta::seconds(60);

/// The time after which an unused token is forgotten.
const REMEMBERED: TimeDelta = TimeDelta::minutes(10);

/// Callers are remembered in so many places, each with a lock of its own, and so many of them in each.
const PLACES: usize = 16;
const IN_ONE_PLACE: usize = 4096;

/// Maximum requests a minute of one caller; `None` is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimits {
    /// From those who show one token. Without this limit all requests count for their address.
    pub per_token: Option<NonZeroU32>,
    /// From one address, of requests that show no token that is known to be good.
    pub per_address: Option<NonZeroU32>,
}

/// Counters of all callers.
pub(crate) struct Usage {
    tokens: Option<Table<TokenHash>>,
    addresses: Option<Table<Option<IpAddr>>>,
}

impl Usage {
    /// Nothing when nothing is limited.
    pub(crate) fn new(limits: RateLimits) -> Option<Self> {
        let tokens = limits.per_token.map(|limit| Table::new(limit, REMEMBERED));
        let addresses = limits.per_address.map(|limit| Table::new(limit, WINDOW));
        (tokens.is_some() || addresses.is_some()).then_some(Self { tokens, addresses })
    }

    /// Counts a request; `None` when nothing limits it.
    pub(crate) fn count(
        &self,
        shown: &[TokenHash],
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Option<LimitState> {
        let known = |tokens: &Table<TokenHash>| {
            shown.iter().find_map(|token| tokens.count_if_known(token, now))
        };
        self.tokens.as_ref().and_then(known).or_else(|| {
            let addresses = self.addresses.as_ref()?;
            Some(addresses.count(address.map(caller_network), now))
        })
    }

    /// From now on this token, which signed somebody in, has a count of its own.
    pub(crate) fn remember(&self, token: TokenHash, now: Timestamp) {
        if let Some(tokens) = &self.tokens {
            tokens.remember(token, now);
        }
    }
}

/// The state of a caller's limit after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitState {
    limit: u32,
    remaining: u32,
    /// In seconds, at least one.
    reset: i64,
    /// Whether this request exceeds the limit.
    pub(crate) is_over: bool,
}

impl LimitState {
    /// Tells the caller.
    pub(crate) fn put_on(&self, headers: &mut HeaderMap) {
        const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
        const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
        const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
        headers.insert(LIMIT, self.limit.into());
        headers.insert(REMAINING, self.remaining.into());
        headers.insert(RESET, HeaderValue::from(self.reset));
    }

    /// In how many seconds there is something left.
    pub(crate) fn reset(&self) -> i64 {
        self.reset
    }
}

struct Table<K> {
    limit: u32,
    remembered: TimeDelta,
    hasher: RandomState,
    places: [Mutex<Place<K>>; PLACES],
}

struct Place<K> {
    windows: HashMap<K, Window>,
    swept: Option<Timestamp>,
}

#[derive(Clone, Copy)]
struct Window {
    since: Timestamp,
    count: u32,
}

impl<K: Hash + Eq + Copy> Table<K> {
    fn new(limit: NonZeroU32, remembered: TimeDelta) -> Self {
        let place = |_| Mutex::new(Place { windows: HashMap::new(), swept: None });
        let places = std::array::from_fn(place);
        Self { limit: limit.get(), remembered, hasher: RandomState::new(), places }
    }

    fn with<T>(&self, key: &K, work: impl FnOnce(&mut Place<K>) -> T) -> T {
        let place = usize::try_from(self.hasher.hash_one(key)).unwrap_or_default() % PLACES;
        work(&mut self.places[place].lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, key: K, now: Timestamp) -> LimitState {
        self.with(&key, |place| {
            place.make_room(&key, now, self.remembered);
            place
                .windows
                .entry(key)
                .or_insert(Window { since: now, count: 0 })
                .count(self.limit, now)
        })
    }

    fn count_if_known(&self, key: &K, now: Timestamp) -> Option<LimitState> {
        self.with(key, |place| Some(place.windows.get_mut(key)?.count(self.limit, now)))
    }

    fn remember(&self, key: K, now: Timestamp) {
        self.with(&key, |place| {
            place.make_room(&key, now, self.remembered);
            place.windows.entry(key).or_insert(Window { since: now, count: 0 });
        });
    }
}

impl<K: Hash + Eq + Copy> Place<K> {
    /// Forgets those who were not heard of, at most once a second, and whomever if that is not enough.
    fn make_room(&mut self, key: &K, now: Timestamp, remembered: TimeDelta) {
        let is_full = self.windows.len() >= IN_ONE_PLACE;
        let pause = if is_full { TimeDelta::seconds(1) } else { WINDOW };
        if self.swept.is_none_or(|swept| now - swept >= pause) {
            self.windows.retain(|_, window| now - window.since < remembered);
            self.swept = Some(now);
        }
        if self.windows.len() >= IN_ONE_PLACE && !self.windows.contains_key(key) {
            let any = self.windows.keys().next().copied();
            any.map(|any| self.windows.remove(&any));
        }
    }
}

impl Window {
    fn count(&mut self, limit: u32, now: Timestamp) -> LimitState {
        if now - self.since >= WINDOW || now < self.since {
            *self = Self { since: now, count: 0 };
        }
        let is_over = self.count >= limit;
        self.count = self.count.saturating_add(1).min(limit);
        let left = WINDOW - (now - self.since);
        // Rounded up: who comes back then is let in.
        let reset = (left.num_milliseconds() + 999) / 1000;
        LimitState { limit, remaining: limit - self.count, reset: reset.max(1), is_over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_timestamp_millis(millis).expect("a moment")
    }

    fn limits(per_token: u32, per_address: u32) -> Usage {
        let limits = RateLimits {
            per_token: NonZeroU32::new(per_token),
            per_address: NonZeroU32::new(per_address),
        };
        Usage::new(limits).expect("something is limited")
    }

    const HERE: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    #[test]
    fn nothing_is_counted_unless_something_is_limited() {
        assert!(Usage::new(RateLimits::default()).is_none());
    }

    #[test]
    fn a_minute_holds_so_many_and_then_begins_again() {
        let usage = limits(0, 2);
        let seen = [0, 500, 30_000, 59_999, 60_000].map(|millis| {
            let state = usage.count(&[], HERE, at(millis)).expect("addresses are limited");
            (state.remaining, state.reset, state.is_over)
        });
        let expected =
            [(1, 60, false), (0, 60, false), (0, 30, true), (0, 1, true), (1, 60, false)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let usage = limits(0, 1);
        for millis in [100_000, 0] {
            let state = usage.count(&[], HERE, at(millis)).expect("addresses are limited");
            assert!(!state.is_over);
        }
    }

    #[test]
    fn made_up_tokens_count_for_their_address() {
        let usage = limits(5, 1);
        let [good, made_up] = [1, 2].map(|n| TokenHash([n; 32]));
        usage.remember(good, at(0));
        assert!(!usage.count(&[made_up], HERE, at(0)).expect("limited").is_over);
        assert!(usage.count(&[made_up], HERE, at(1)).expect("limited").is_over);
        assert!(usage.count(&[TokenHash([3; 32])], HERE, at(1)).expect("limited").is_over);
        let state = usage.count(&[good], HERE, at(1)).expect("limited");
        assert_eq!((state.limit, state.remaining), (5, 4));
    }

    #[test]
    fn one_who_has_many_addresses_of_a_network_has_one_count() {
        let usage = limits(0, 1);
        let address = |text: &str| Some(text.parse().expect("an address"));
        assert!(!usage.count(&[], address("2001:db8::1"), at(0)).expect("limited").is_over);
        assert!(usage.count(&[], address("2001:db8::2"), at(0)).expect("limited").is_over);
        assert!(!usage.count(&[], address("2001:db8:0:1::1"), at(0)).expect("limited").is_over);
    }

    #[test]
    fn what_is_remembered_is_bounded_and_ends() {
        let table: Table<u64> = Table::new(NonZeroU32::MIN, WINDOW);
        let known = || -> usize {
            let places = table.places.iter();
            places.map(|place| place.lock().expect("nobody panics").windows.len()).sum()
        };
        for key in 0..(2 * PLACES * IN_ONE_PLACE) as u64 {
            table.count(key, at(0));
        }
        assert!(known() <= PLACES * IN_ONE_PLACE);
        for key in 0..1000 {
            table.count(key, at(60_000));
        }
        assert!(known() <= 1000, "{}", known());
    }
}
