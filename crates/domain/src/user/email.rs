//! E-mail addresses, primary and secondary.

use crate::id::{EmailId, UserId};
use crate::text::{TooLong, limit, within};

/// An address in the one form in which it is stored and compared: trimmed, lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Exactly one `@`, with something without blanks on both sides.
    pub fn parse(address: &str) -> Result<Self, EmailAddressError> {
        let address = address.trim().to_lowercase();
        within(&address, limit::SHORT)?;
        let (local, domain) = address.split_once('@').ok_or(EmailAddressError::Format)?;
        let bad = |part: &str| {
            part.is_empty()
                || part.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control())
        };
        if bad(local) || bad(domain) {
            return Err(EmailAddressError::Format);
        }
        Ok(Self(address))
    }

    /// An address that was checked when it was stored.
    pub fn stored(address: String) -> Self {
        Self(address)
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a text is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmailAddressError {
    /// Not of the form `something@somewhere`.
    #[error("is invalid")]
    Format,
    /// Too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

/// A secondary address of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    /// Assigned by the store.
    pub id: EmailId,
    /// Whose address it is.
    pub user: UserId,
    /// Unique among all primary and secondary addresses.
    pub address: EmailAddress,
}

/// What an address is to the user who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailRole {
    /// The address by which the user signs in and is written to.
    Primary,
    /// One of the others.
    Secondary,
}

/// Who has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmailHolder {
    /// The user.
    pub user: UserId,
    /// What the address is to that user.
    pub role: EmailRole,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_at_sign_and_no_blanks() {
        for (text, expected) in [
            ("ada@example.com", Some("ada@example.com")),
            ("  Ada@Example.COM ", Some("ada@example.com")),
            ("a@b", Some("a@b")),
            ("", None),
            ("ada", None),
            ("@example.com", None),
            ("ada@", None),
            ("ada@@example.com", None),
            ("a@b@c", None),
            ("ada lovelace@example.com", None),
            ("ada@example .com", None),
            ("ada@exa\nmple.com", None),
        ] {
            let parsed = EmailAddress::parse(text);
            assert_eq!(parsed.as_ref().ok().map(EmailAddress::as_str), expected, "{text:?}");
        }
        let long = format!("{}@example.com", "a".repeat(255));
        assert_eq!(EmailAddress::parse(&long), Err(EmailAddressError::TooLong(TooLong(255))));
    }
}
