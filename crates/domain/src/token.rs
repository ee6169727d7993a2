//! Access tokens: what a caller shows instead of a password.

pub mod port;

use chrono::TimeDelta;

use crate::Timestamp;
use crate::id::{TokenId, UserId};
use crate::user::{Privileges, UserState};

/// What is stored of a token. Tokens are long and random, so a plain digest protects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// How a token came to be, which decides whether it may act for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Given out by a sign-in with the password; the only kind that may use sudo.
    Private,
    /// Made for a program.
    Personal,
}

impl TokenKind {
    /// The word for it in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            TokenKind::Private => "private",
            TokenKind::Personal => "personal",
        }
    }

    /// The kind of that word.
    pub fn parse(word: &str) -> Option<Self> {
        [TokenKind::Private, TokenKind::Personal].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A token to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// Whose token it is.
    pub user: UserId,
    /// How it came to be.
    pub kind: TokenKind,
    /// What it is for, in the owner's words.
    pub name: String,
    /// Its digest.
    pub hash: TokenHash,
    /// When it ends; never, if `None`.
    pub expires_at: Option<Timestamp>,
    /// When it was made.
    pub at: Timestamp,
}

/// A stored token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Assigned by the store.
    pub id: TokenId,
    /// Whose token it is.
    pub user: UserId,
    /// How it came to be.
    pub kind: TokenKind,
    /// What it is for.
    pub name: String,
    /// How long it lives.
    pub life: TokenLife,
    /// When it was made.
    pub created_at: Timestamp,
}

/// How long a token lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenLife {
    /// When it ends; never, if `None`.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// How often the use of a session is written down at most.
const EXTENDED_EVERY: TimeDelta = TimeDelta::hours(1);

/// Whether a token opens anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenValidity {
    /// It does.
    Active,
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
}

impl TokenLife {
    /// The state of the token at a moment. It ends with its last moment, not after it.
    pub fn at(self, now: Timestamp) -> TokenValidity {
        match self {
            TokenLife { revoked_at: Some(_), .. } => TokenValidity::Revoked,
            TokenLife { expires_at: Some(end), .. } if end <= now => TokenValidity::Expired,
            TokenLife { .. } => TokenValidity::Active,
        }
    }
}

/// The new end of a token that is being used: a session, which is a private token with an end, lasts `session` longer
/// than its last use. `None` for other tokens, and where the end was moved within the last hour.
pub fn extended_end(
    kind: TokenKind,
    life: TokenLife,
    now: Timestamp,
    session: TimeDelta,
) -> Option<Timestamp> {
    let (TokenKind::Private, Some(end)) = (kind, life.expires_at) else { return None };
    let extended = now.checked_add_signed(session)?;
    let is_active = life.at(now) == TokenValidity::Active;
    (is_active && extended - end >= EXTENDED_EVERY).then_some(extended)
}

/// Everything a sign-in needs to know about a token and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHolder {
    /// The token.
    pub token: TokenId,
    /// How the token came to be.
    pub kind: TokenKind,
    /// How long it lives.
    pub life: TokenLife,
    /// The owner.
    pub user: UserId,
    /// Whether the owner's account may be used.
    pub state: UserState,
    /// What the owner may do.
    pub privileges: Privileges,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_longer_when_it_is_used_and_nothing_else_does() {
        let at = |hours: i64| chrono::DateTime::from_timestamp(hours * 3600, 0).expect("in range");
        let session = TimeDelta::hours(100);
        for (kind, expires_at, revoked_at, now, expected) in [
            (TokenKind::Private, Some(at(100)), None, at(0), None),
            (TokenKind::Private, Some(at(100)), None, at(1), Some(at(101))),
            (TokenKind::Private, Some(at(100)), None, at(99), Some(at(199))),
            (TokenKind::Private, Some(at(100)), None, at(100), None),
            (TokenKind::Private, Some(at(100)), Some(at(1)), at(50), None),
            // The setting was made shorter: nothing is taken away by a use.
            (TokenKind::Private, Some(at(500)), None, at(50), None),
            (TokenKind::Private, None, None, at(50), None),
            (TokenKind::Personal, Some(at(100)), None, at(50), None),
        ] {
            let life = TokenLife { expires_at, revoked_at };
            assert_eq!(extended_end(kind, life, now, session), expected, "{life:?} at {now}");
        }
    }

    #[test]
    fn a_token_is_revoked_before_it_is_expired_before_it_is_active() {
        let at = |seconds| chrono::DateTime::from_timestamp(seconds, 0).expect("in range");
        for (expires_at, revoked_at, expected) in [
            (None, None, TokenValidity::Active),
            (Some(at(101)), None, TokenValidity::Active),
            (Some(at(100)), None, TokenValidity::Expired),
            (Some(at(99)), None, TokenValidity::Expired),
            (Some(at(99)), Some(at(98)), TokenValidity::Revoked),
            (None, Some(at(98)), TokenValidity::Revoked),
        ] {
            let life = TokenLife { expires_at, revoked_at };
            assert_eq!(life.at(at(100)), expected, "{life:?}");
        }
    }
}
