//! Browser sessions: sign-ins on the web pages. They are no access tokens, so the API and Git do not accept them.

pub mod port;

use std::net::IpAddr;

use chrono::TimeDelta;

use crate::Timestamp;
use crate::id::{BrowserSessionId, UserId};
use crate::token::TokenHash;
use crate::user::User;

/// The maximum number of sessions per user. A new sign-in removes the least recently used ones.
pub const MAX_SESSIONS: usize = 100;

/// The default time without use after which a session ends: 10080 minutes.
pub const IDLE_LIMIT: TimeDelta = TimeDelta::days(7);

/// The time without use after which a remembered session ends.
const REMEMBERED_IDLE_LIMIT: TimeDelta = TimeDelta::days(14);

/// The minimum interval between two writes of [`BrowserSession::last_used_at`].
const WRITE_INTERVAL: TimeDelta = TimeDelta::minutes(5);

/// The maximum number of characters of [`BrowserSession::browser`].
const BROWSER_LENGTH: usize = 255;

/// A session of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSession {
    /// Assigned by the store, never reused.
    pub id: BrowserSessionId,
    /// The user who signed in.
    pub user: UserId,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When the session was used last. It may be some minutes too old, because not every use is written.
    pub last_used_at: Timestamp,
    /// The address from which the user signed in.
    pub address: Option<IpAddr>,
    /// The browser, as it describes itself in `User-Agent`.
    pub browser: String,
    /// Whether the browser keeps the session when it is closed.
    pub remembered: bool,
}

impl BrowserSession {
    /// Returns whether the session has ended. `idle_limit` is the limit of sessions that are not remembered.
    pub fn has_ended(&self, now: Timestamp, idle_limit: TimeDelta) -> bool {
        now - self.last_used_at >= idle_limit_of(self.remembered, idle_limit)
    }

    /// Returns whether a use at `now` has to be written. With a short limit, uses are written more often, so that a
    /// session in use does not end.
    pub fn needs_write(&self, now: Timestamp, idle_limit: TimeDelta) -> bool {
        let limit = idle_limit_of(self.remembered, idle_limit);
        now - self.last_used_at >= WRITE_INTERVAL.min(limit / 4)
    }
}

/// Returns the time without use after which a session ends. A remembered session does not end before others.
pub fn idle_limit_of(remembered: bool, idle_limit: TimeDelta) -> TimeDelta {
    if remembered { REMEMBERED_IDLE_LIMIT.max(idle_limit) } else { idle_limit }
}

/// Returns a `User-Agent` in the form that is stored: at most 255 characters, without control characters.
pub fn shortened_browser(user_agent: &str) -> String {
    let printable = user_agent.chars().filter(|c| !c.is_control());
    printable.take(BROWSER_LENGTH).collect::<String>().trim().to_owned()
}

/// The input for a new session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBrowserSession {
    /// See [`BrowserSession::user`].
    pub user: UserId,
    /// The hash of the token in the cookie; the token itself is not stored.
    pub hash: TokenHash,
    /// See [`BrowserSession::address`].
    pub address: Option<IpAddr>,
    /// See [`BrowserSession::browser`].
    pub browser: String,
    /// See [`BrowserSession::remembered`].
    pub remembered: bool,
    /// The time of the sign-in.
    pub at: Timestamp,
}

/// A session with its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHolder {
    /// The session.
    pub session: BrowserSession,
    /// The user, who may be blocked.
    pub user: User,
    /// The version of the settings of the service.
    pub settings_version: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        chrono::DateTime::from_timestamp(seconds, 0).expect("in range")
    }

    fn a_session(remembered: bool) -> BrowserSession {
        BrowserSession {
            id: BrowserSessionId(1),
            user: UserId(1),
            created_at: at(0),
            last_used_at: at(0),
            address: None,
            browser: String::new(),
            remembered,
        }
    }

    #[test]
    fn a_session_ends_at_the_limit_of_its_kind() {
        let days = |days: i64| days * 24 * 60 * 60;
        for (remembered, idle_limit, end) in [
            (false, IDLE_LIMIT, days(7)),
            (false, TimeDelta::minutes(1), 60),
            (false, TimeDelta::days(30), days(30)),
            (true, IDLE_LIMIT, days(14)),
            (true, TimeDelta::minutes(1), days(14)),
            (true, TimeDelta::days(30), days(30)),
        ] {
            let session = a_session(remembered);
            assert!(!session.has_ended(at(end - 1), idle_limit), "{remembered}, {idle_limit}");
            assert!(session.has_ended(at(end), idle_limit), "{remembered}, {idle_limit}");
        }
    }

    #[test]
    fn a_use_is_written_every_five_minutes_and_more_often_if_sessions_are_short() {
        for (remembered, idle_limit, interval) in [
            (false, IDLE_LIMIT, 300),
            (true, IDLE_LIMIT, 300),
            (false, TimeDelta::minutes(20), 300),
            (false, TimeDelta::minutes(4), 60),
            (true, TimeDelta::minutes(4), 300),
        ] {
            let session = a_session(remembered);
            assert!(!session.needs_write(at(interval - 1), idle_limit), "{idle_limit}");
            assert!(session.needs_write(at(interval), idle_limit), "{idle_limit}");
        }
    }

    #[test]
    fn the_name_of_a_browser_is_shortened_and_has_no_control_characters() {
        for (given, stored) in [
            ("Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (X11; Linux x86_64)"),
            (" links\0 \u{1b}[31m\n2.29 ", "links [31m2.29"),
            ("", ""),
        ] {
            assert_eq!(shortened_browser(given), stored);
        }
        assert_eq!(shortened_browser(&"ü".repeat(300)), "ü".repeat(255));
    }
}
