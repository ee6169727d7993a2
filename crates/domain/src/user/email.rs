//! E-mail addresses, primary and secondary.

use crate::id::{EmailId, UserId};
use crate::text::{TooLong, limit, within};

/// An e-mail address in the form in which it is stored and compared: trimmed, lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EmailAddress(String);

crate::text::stored_text!(EmailAddress);

impl EmailAddress {
    /// Parses an address: exactly one `@`, and on both sides at least one character, no whitespace and no control
    /// characters.
    pub fn parse(address: &str) -> Result<Self, EmailAddressError> {
        let address = address.trim().to_lowercase();
        within(&address, limit::SHORT)?;
        let (local, domain) = address.split_once('@').ok_or(EmailAddressError::Format)?;
        let is_invalid = |part: &str| {
            part.is_empty()
                || part.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control())
        };
        if is_invalid(local) || is_invalid(domain) {
            return Err(EmailAddressError::Format);
        }
        Ok(Self(address))
    }
}

/// Why a text is not a valid address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmailAddressError {
    /// The text does not have the form `local@domain`.
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
    /// The user who has the address.
    pub user: UserId,
    /// Unique among all primary and secondary addresses.
    pub address: EmailAddress,
}

/// The role of an address for its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailRole {
    /// The address with which the user can sign in and to which mail is sent.
    Primary,
    /// An additional address.
    Secondary,
}

/// The user who has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmailHolder {
    /// The user.
    pub user: UserId,
    /// The role of the address for that user.
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
