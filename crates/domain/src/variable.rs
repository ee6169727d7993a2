//! Variables of projects: what builds are given and nobody else is told.

pub mod port;

use crate::id::{ProjectId, VariableId};
use crate::ports::vault::Sealed;
use crate::text::{Blank, Text, TooLong, limit, within};

/// A variable as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Assigned by the store.
    pub id: VariableId,
    /// Whose it is.
    pub project: ProjectId,
    /// Its name, unique in the project.
    pub key: VariableKey,
    /// What it holds.
    pub value: Sealed,
}

/// The name of a variable: letters, digits and `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableKey(String);

impl VariableKey {
    /// Checks the form.
    pub fn parse(key: &str) -> Result<Self, VariableKeyError> {
        if key.is_empty() {
            return Err(Blank.into());
        }
        within(key, limit::SHORT)?;
        let good = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if good { Ok(Self(key.to_owned())) } else { Err(VariableKeyError::Format) }
    }

    /// A name that was checked when it was stored.
    pub fn stored(key: String) -> Self {
        Self(key)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a variable holds, before it is sealed.
pub type VariableValue = Text<{ limit::VARIABLE_VALUE }>;

/// Why a text names no variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableKeyError {
    /// Nothing there.
    #[error(transparent)]
    Blank(#[from] Blank),
    /// Too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// Something else in it.
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
