//! The identity of a user at an external identity provider.

use crate::field_errors::FieldErrors;
use crate::text::{Blank, ShortText};

/// The identity of a user at a provider. A user has at most one per provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The provider's short name.
    pub provider: ShortText,
    /// The user's id at the provider, unique within the provider. Some providers have none.
    pub extern_uid: Option<ShortText>,
}

impl Identity {
    /// Parses an identity from the two parameters that clients send.
    pub fn parse(provider: Option<&str>, extern_uid: Option<&str>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let provider = match provider.filter(|text| !text.trim().is_empty()) {
            Some(text) => errors.check("identities.provider", ShortText::parse(text)),
            None => errors.check("identities.provider", Err(Blank)),
        };
        let extern_uid =
            errors.check_optional("identities.extern_uid", extern_uid.map(ShortText::parse));
        errors.into_result_with(|| Some(Self { provider: provider?, extern_uid: extern_uid? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_needs_its_provider() {
        assert!(Identity::parse(Some("directory"), Some("ada")).is_ok());
        assert!(Identity::parse(Some("directory"), None).is_ok());
        let errors = Identity::parse(None, Some("ada")).expect_err("no provider");
        assert_eq!(errors.messages("identities.provider"), ["can't be blank"]);
    }
}
