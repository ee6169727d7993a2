//! The username and the display name of a user.

use crate::namespace::{NamespacePath, NamespacePathError};
use crate::text::{Blank, ShortText, TooLong, strip_tags};

/// The unique name of a user. It is also the path of the personal namespace, which holds the user's projects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Username(NamespacePath);

impl Username {
    /// Removes HTML tags, then applies the rules of namespace paths.
    pub fn parse(name: &str) -> Result<Self, NamespacePathError> {
        NamespacePath::parse(&strip_tags(name)).map(Self)
    }

    /// Wraps a name that was validated before it was stored.
    pub fn stored(name: String) -> Self {
        Self(NamespacePath::stored(name))
    }

    /// The name in its original case.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The path of the user's personal namespace.
    pub fn path(&self) -> &NamespacePath {
        &self.0
    }
}

/// The display name: any text that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayName(String);

crate::text::stored_text!(DisplayName);

impl DisplayName {
    /// Removes HTML tags and surrounding whitespace. The rest must not be empty.
    pub fn parse(name: &str) -> Result<Self, DisplayNameError> {
        let plain = ShortText::parse(strip_tags(name).trim())?.into_string();
        if plain.is_empty() { Err(Blank.into()) } else { Ok(Self(plain)) }
    }
}

/// Why a text is not a valid display name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisplayNameError {
    /// The name is blank.
    #[error(transparent)]
    Blank(#[from] Blank),
    /// Too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_removed_from_both_names() {
        assert_eq!(Username::parse("<b>ada</b>").map(|n| n.as_str().to_owned()), Ok("ada".into()));
        assert_eq!(
            DisplayName::parse(" <i>Ada</i> Lovelace ").map(|n| n.as_str().to_owned()),
            Ok("Ada Lovelace".into())
        );
    }

    #[test]
    fn a_name_of_markup_alone_is_blank() {
        let error = DisplayName::parse("<b></b>").expect_err("nothing is left");
        assert_eq!(error.to_string(), "can't be blank");
        assert_eq!(Username::parse("<b></b>"), Err(NamespacePathError::Blank));
    }
}
