//! Rate limits per token and per address, in requests a minute.
//!
//! A request counts for its token if that token has signed a user in before, or was accepted as that of a runner or a
//! build, and otherwise for its address. So nobody gets more requests by inventing tokens. The counters are in memory, and their number is bounded.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::network::caller_network;
use hexforge_domain::token::TokenHash;

use crate::error::ApiError;

/// The length of the window in which requests are counted.
const WINDOW: TimeDelta = TimeDelta::seconds(60);

/// The time after which an unused token is forgotten.
const REMEMBERED: TimeDelta = TimeDelta::minutes(10);

/// The number of shards, each with its own lock, and the maximum number of counters in each.
const SHARDS: usize = 16;
const SHARD_CAPACITY: usize = 4096;

/// Maximum requests a minute of one caller; `None` is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimits {
    /// Requests with one token. Without this limit all requests count for their address.
    pub per_token: Option<NonZeroU32>,
    /// Requests from one address without a token that has signed a user in.
    pub per_address: Option<NonZeroU32>,
}

/// Counters of all callers.
pub(crate) struct Usage {
    tokens: Option<Table<TokenHash>>,
    addresses: Option<Table<Option<IpAddr>>>,
}

impl Usage {
    /// Creates the counters; `None` if nothing is limited.
    pub(crate) fn new(limits: RateLimits) -> Option<Self> {
        let tokens = limits.per_token.map(|limit| Table::new(limit, REMEMBERED));
        let addresses = limits.per_address.map(|limit| Table::new(limit, WINDOW));
        (tokens.is_some() || addresses.is_some()).then_some(Self { tokens, addresses })
    }

    /// Counts a request; `None` if no limit applies to it.
    pub(crate) fn count(
        &self,
        tokens: &[TokenHash],
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Option<LimitState> {
        let known = |table: &Table<TokenHash>| {
            tokens.iter().find_map(|token| table.count_if_known(token, now))
        };
        self.tokens.as_ref().and_then(known).or_else(|| {
            let addresses = self.addresses.as_ref()?;
            Some(addresses.count(address.map(caller_network), now))
        })
    }

    /// Gives a token that has signed a user in its own counter.
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
    /// The seconds until the window ends, at least one.
    reset: i64,
    /// Whether this request exceeds the limit.
    pub(crate) is_over: bool,
}

impl LimitState {
    /// Adds the `RateLimit-*` headers to a response.
    pub(crate) fn put_on(&self, headers: &mut HeaderMap) {
        const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
        const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
        const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
        headers.insert(LIMIT, self.limit.into());
        headers.insert(REMAINING, self.remaining.into());
        headers.insert(RESET, HeaderValue::from(self.reset));
    }

    /// The error for a request above the limit.
    pub(crate) fn refusal(&self) -> ApiError {
        ApiError::message(StatusCode::TOO_MANY_REQUESTS, "429 Too Many Requests")
            .with_header(RETRY_AFTER, &self.reset.to_string())
    }
}

struct Table<K> {
    limit: u32,
    remembered: TimeDelta,
    hasher: RandomState,
    shards: [Mutex<Shard<K>>; SHARDS],
}

struct Shard<K> {
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
        let shard = |_| Mutex::new(Shard { windows: HashMap::new(), swept: None });
        let shards = std::array::from_fn(shard);
        Self { limit: limit.get(), remembered, hasher: RandomState::new(), shards }
    }

    fn with<T>(&self, key: &K, work: impl FnOnce(&mut Shard<K>) -> T) -> T {
        let shard = usize::try_from(self.hasher.hash_one(key)).unwrap_or_default() % SHARDS;
        work(&mut self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, key: K, now: Timestamp) -> LimitState {
        self.with(&key, |shard| {
            shard.make_room(&key, now, self.remembered);
            shard
                .windows
                .entry(key)
                .or_insert(Window { since: now, count: 0 })
                .count(self.limit, now)
        })
    }

    fn count_if_known(&self, key: &K, now: Timestamp) -> Option<LimitState> {
        self.with(key, |shard| Some(shard.windows.get_mut(key)?.count(self.limit, now)))
    }

    fn remember(&self, key: K, now: Timestamp) {
        self.with(&key, |shard| {
            shard.make_room(&key, now, self.remembered);
            shard.windows.entry(key).or_insert(Window { since: now, count: 0 });
        });
    }
}

impl<K: Hash + Eq + Copy> Shard<K> {
    /// Removes expired counters, at most once a second if the shard is full and once a minute otherwise. If the shard
    /// is still full, removes an arbitrary counter.
    fn make_room(&mut self, key: &K, now: Timestamp, remembered: TimeDelta) {
        let is_full = self.windows.len() >= SHARD_CAPACITY;
        let pause = if is_full { TimeDelta::seconds(1) } else { WINDOW };
        if self.swept.is_none_or(|swept| now - swept >= pause) {
            self.windows.retain(|_, window| now - window.since < remembered);
            self.swept = Some(now);
        }
        if self.windows.len() >= SHARD_CAPACITY && !self.windows.contains_key(key) {
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
        // Rounded up, so that a caller who waits this long is served.
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
    fn the_counter_restarts_after_a_minute() {
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
    fn all_addresses_of_a_network_share_a_counter() {
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
            let shards = table.shards.iter();
            shards.map(|shard| shard.lock().expect("nobody panics").windows.len()).sum()
        };
        for key in 0..(2 * SHARDS * SHARD_CAPACITY) as u64 {
            table.count(key, at(0));
        }
        assert!(known() <= SHARDS * SHARD_CAPACITY);
        for key in 0..1000 {
            table.count(key, at(60_000));
        }
        assert!(known() <= 1000, "{}", known());
    }
}
