//! Access tokens: what a caller shows instead of a password.

pub mod port;

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

/// Everything a sign-in needs to know about a token and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHolder {
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
