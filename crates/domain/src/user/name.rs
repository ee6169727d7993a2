//! The two names of a user.

use crate::namespace::{NamespacePath, NamespacePathError};
use crate::text::{Blank, ShortText, TooLong, strip_tags};

/// The name by which a user is addressed: a namespace path, because the user's projects live there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Username(NamespacePath);

impl Username {
    /// Removes markup, then checks the rules of namespace paths.
    pub fn parse(name: &str) -> Result<Self, NamespacePathError> {
        NamespacePath::parse(&strip_tags(name)).map(Self)
    }

    /// A name that was checked when it was stored.
    pub fn stored(name: String) -> Self {
        Self(NamespacePath::stored(name))
    }

    /// The name as it was given.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The path of the user's personal namespace.
    pub fn path(&self) -> &NamespacePath {
        &self.0
    }
}

/// The name shown to people: anything but nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayName(String);

impl DisplayName {
    /// Removes markup and surrounding blanks; something has to be left.
    pub fn parse(name: &str) -> Result<Self, DisplayNameError> {
        let plain = ShortText::parse(strip_tags(name).trim())?.into_string();
        if plain.is_empty() { Err(Blank.into()) } else { Ok(Self(plain)) }
    }

    /// A name that was checked when it was stored.
    pub fn stored(name: String) -> Self {
        Self(name)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a text is no name of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisplayNameError {
    /// Nothing is left.
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
