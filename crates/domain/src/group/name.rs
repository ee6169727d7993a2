//! Group names.

use crate::text::{Blank, TooLong, limit, within};

/// The name of a group: letters and digits of any script, dashes, `_`, `.`, spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupName(String);

impl GroupName {
    /// Parses a name: not blank, of valid length, and only allowed characters.
    pub fn parse(name: &str) -> Result<Self, GroupNameError> {
        if name.trim().is_empty() {
            return Err(Blank.into());
        }
        within(name, limit::SHORT)?;
        let allowed = |c: char| c.is_alphanumeric() || is_dash(c) || matches!(c, '_' | '.' | ' ');
        if name.chars().all(allowed) {
            Ok(Self(name.to_owned()))
        } else {
            Err(GroupNameError::Format)
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns whether a character is a Unicode dash that people use in names.
pub(crate) fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{058a}' | '\u{05be}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{301c}'
                | '\u{30a0}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{ff0d}'
    )
}

/// Why a text is not a valid group name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupNameError {
    /// The name is blank.
    #[error(transparent)]
    Blank(#[from] Blank),
    /// Too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The name contains a character that is not allowed.
    #[error("can contain only letters, digits, '_', '.', dash and space.")]
    Format,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_digits_dashes_dots_and_spaces() {
        for name in ["Team", "Team 7", "Größe – Ü", "日本語", "a_b.c-d"] {
            assert!(GroupName::parse(name).is_ok(), "{name}");
        }
        for name in ["a/b", "a\nb", "<b>", "a&b", "🦀"] {
            assert_eq!(GroupName::parse(name), Err(GroupNameError::Format), "{name}");
        }
        assert_eq!(GroupName::parse(" "), Err(GroupNameError::Blank(Blank)));
    }
}
