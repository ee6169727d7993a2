//! Access tokens, which authenticate API callers instead of a password.

pub mod port;

use chrono::TimeDelta;

use crate::Timestamp;
use crate::id::{TokenId, UserId};
use crate::user::{Privileges, UserState};

/// The hash of a token; the token itself is not stored. Tokens are long and random, so a plain
/// digest is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// The kind of a token, which decides whether it may use sudo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A token that a sign-in with the password issued. The only kind that may use sudo.
    Private,
    /// A token that a user created for a program.
    Personal,
}

impl TokenKind {
    /// The name of the kind in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            TokenKind::Private => "private",
            TokenKind::Personal => "personal",
        }
    }

    /// Parses the name of a kind.
    pub fn parse(word: &str) -> Option<Self> {
        [TokenKind::Private, TokenKind::Personal].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The input for a new token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// The owner.
    pub user: UserId,
    /// The kind.
    pub kind: TokenKind,
    /// The name that the owner gave it.
    pub name: String,
    /// The hash.
    pub hash: TokenHash,
    /// The expiry time; `None` for a token that does not expire.
    pub expires_at: Option<Timestamp>,
    /// The creation time.
    pub at: Timestamp,
}

/// A stored token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Assigned by the store.
    pub id: TokenId,
    /// The owner.
    pub user: UserId,
    /// The kind.
    pub kind: TokenKind,
    /// The name.
    pub name: String,
    /// Expiry and revocation.
    pub life: TokenLife,
    /// The creation time.
    pub created_at: Timestamp,
}

/// Expiry and revocation of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenLife {
    /// The expiry time; `None` for a token that does not expire.
    pub expires_at: Option<Timestamp>,
    /// The time of revocation.
    pub revoked_at: Option<Timestamp>,
}

/// The minimum interval between two extensions of a session, which limits database writes.
const EXTENDED_EVERY: TimeDelta = TimeDelta::hours(1);

/// Whether a token is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenValidity {
    /// Valid.
    Active,
    /// Expired.
    Expired,
    /// Revoked.
    Revoked,
}

impl TokenLife {
    /// Returns the validity at a moment. At the expiry time itself the token is already expired.
    pub fn at(self, now: Timestamp) -> TokenValidity {
        match self {
            TokenLife { revoked_at: Some(_), .. } => TokenValidity::Revoked,
            TokenLife { expires_at: Some(end), .. } if end <= now => TokenValidity::Expired,
            TokenLife { .. } => TokenValidity::Active,
        }
    }
}

/// Returns the new expiry time of a token that is used now. A session is a private token that expires;
/// it ends `session` after its last use. Returns `None` for tokens that are not sessions or are no
/// longer valid, and if the expiry time was extended within the last hour.
pub fn extended_expiry(
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

/// The data of a token and its owner that a sign-in needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHolder {
    /// The token.
    pub token: TokenId,
    /// The kind of the token.
    pub kind: TokenKind,
    /// Expiry and revocation.
    pub life: TokenLife,
    /// The owner.
    pub user: UserId,
    /// The state of the owner's account.
    pub state: UserState,
    /// The privileges of the owner.
    pub privileges: Privileges,
    /// The version of the settings of the service. Every request looks up its token, so that this is how a process
    /// learns without another query that the settings have changed.
    pub settings_version: i64,
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
            // The configured session length was reduced: a use never shortens a session.
            (TokenKind::Private, Some(at(500)), None, at(50), None),
            (TokenKind::Private, None, None, at(50), None),
            (TokenKind::Personal, Some(at(100)), None, at(50), None),
        ] {
            let life = TokenLife { expires_at, revoked_at };
            assert_eq!(extended_expiry(kind, life, now, session), expected, "{life:?} at {now}");
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
