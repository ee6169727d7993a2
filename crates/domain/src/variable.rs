//! Variables of projects. Builds get them; otherwise they are kept secret.

pub mod port;

use crate::id::{ProjectId, VariableId};
use crate::ports::vault::Sealed;
use crate::text::{Blank, Text, TooLong, limit, within};

/// A variable as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Assigned by the store.
    pub id: VariableId,
    /// The project.
    pub project: ProjectId,
    /// The name, unique in the project.
    pub key: VariableKey,
    /// The value, encrypted.
    pub value: Sealed,
}

/// The name of a variable: letters, digits and `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableKey(String);

crate::text::stored_text!(VariableKey);

impl VariableKey {
    /// Parses a name.
    pub fn parse(key: &str) -> Result<Self, VariableKeyError> {
        if key.is_empty() {
            return Err(Blank.into());
        }
        within(key, limit::SHORT)?;
        let is_valid = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if is_valid { Ok(Self(key.to_owned())) } else { Err(VariableKeyError::Format) }
    }
}

/// The value of a variable, before encryption.
pub type VariableValue = Text<{ limit::VARIABLE_VALUE }>;

/// The reason why a text is not a valid variable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableKeyError {
    /// Empty.
    #[error(transparent)]
    Blank(#[from] Blank),
    /// Longer than the limit.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// A forbidden character.
    #[error("can contain only letters, digits and '_'.")]
    Format,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_digits_and_underscores() {
        for good in ["A", "_", "a_1", "0"] {
            assert_eq!(VariableKey::parse(good).as_ref().map(VariableKey::as_str), Ok(good));
        }
        for bad in ["a b", "ä", "a-b", "a\n", "$A"] {
            assert_eq!(VariableKey::parse(bad), Err(VariableKeyError::Format), "{bad}");
        }
        assert_eq!(VariableKey::parse(""), Err(VariableKeyError::Blank(Blank)));
        assert_eq!(
            VariableKey::parse(&"x".repeat(256)),
            Err(VariableKeyError::TooLong(TooLong(255)))
        );
    }
}
