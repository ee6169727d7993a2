//! Passwords. Only their hashes are stored.

use crate::text::{Secret, TooLong, limit, within};

/// A password of a valid length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Password(Secret);

impl Password {
    /// Accepts 8 to 128 characters.
    pub fn parse(text: &str) -> Result<Self, PasswordError> {
        within(text, limit::PASSWORD)?;
        if text.chars().count() < 8 {
            return Err(PasswordError::TooShort);
        }
        Ok(Self(Secret::new(text)))
    }

    /// The plain text, for hashing.
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }
}

/// Why a text is not a valid password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// Fewer than 8 characters.
    #[error("is too short (minimum is 8 characters)")]
    TooShort,
    /// More than 128 characters.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

/// The stored form of a password: algorithm, parameters, salt and hash in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordHash(Secret);

impl PasswordHash {
    /// Wraps the output of the hasher or a value from the store.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Secret::new(text))
    }

    /// The text to store or to verify against.
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_8_to_128_characters() {
        for (length, message) in [
            (0, Some("is too short (minimum is 8 characters)")),
            (7, Some("is too short (minimum is 8 characters)")),
            (8, None),
            (128, None),
            (129, Some("is too long (maximum is 128 characters)")),
        ] {
            let parsed = Password::parse(&"ä".repeat(length));
            assert_eq!(parsed.err().map(|e| e.to_string()).as_deref(), message, "{length}");
        }
    }
}
