//! SSH keys, with which users authenticate over SSH.

pub use super::fingerprint::Fingerprint;
use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::id::{KeyId, UserId};
use crate::ports::public_keys::PublicKeys;
use crate::text::{ShortText, limit, within};

/// A registered key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshKey {
    /// Assigned by the store.
    pub id: KeyId,
    /// The owner of the key.
    pub user: UserId,
    /// The name that the user gave to the key.
    pub title: ShortText,
    /// The text as it was submitted, comment included.
    pub key: String,
    /// Unique among all keys of the service.
    pub fingerprint: Fingerprint,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// A key to be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSshKey {
    /// See [`SshKey::title`].
    pub title: ShortText,
    /// See [`SshKey::key`].
    pub key: String,
    /// See [`SshKey::fingerprint`].
    pub fingerprint: Fingerprint,
}

impl NewSshKey {
    /// Validates title and key, and reports all errors at once.
    pub fn parse(
        title: &str,
        key: &str,
        public_keys: &dyn PublicKeys,
    ) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let title = errors.check("title", ShortText::parse(title));
        let key = key.trim();
        errors.check("key", within(key, limit::PUBLIC_KEY));
        if !(key.starts_with("ssh-") || key.starts_with("ecdsa-")) || key.contains(['\r', '\n']) {
            errors.add("key", "is invalid");
        }
        if key.contains(['\r', '\n']) {
            errors.add("key", "should be a single line");
        }
        let fingerprint = public_keys.fingerprint(key);
        if fingerprint.is_none() {
            errors.add("fingerprint", "cannot be generated");
        }
        errors.into_result_with(|| {
            Some(Self { title: title?, key: key.to_owned(), fingerprint: fingerprint? })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::public_keys::testing::AnyEd25519;

    #[test]
    fn keys_are_trimmed_and_checked() {
        for (key, key_messages, fingerprint_messages) in [
            (" ssh-ed25519 AAAAx me@home ", &[][..], &[][..]),
            ("ssh-rsa garbage", &[], &["cannot be generated"]),
            ("garbage", &["is invalid"], &["cannot be generated"]),
            ("ssh-ed25519 AAAA\nssh-ed25519 AAAA", &["is invalid", "should be a single line"], &[]),
        ] {
            let parsed = NewSshKey::parse("title", key, &AnyEd25519);
            let errors = parsed.as_ref().err().cloned().unwrap_or_default();
            assert_eq!(errors.messages("key"), key_messages, "{key:?}");
            assert_eq!(errors.messages("fingerprint"), fingerprint_messages, "{key:?}");
            if let Ok(new) = parsed {
                assert_eq!(new.key, key.trim());
            }
        }
    }

    #[test]
    fn long_titles_and_keys_are_refused() {
        let key = format!("ssh-ed25519 AAAA{}", "A".repeat(5000));
        let errors =
            NewSshKey::parse(&"t".repeat(256), &key, &AnyEd25519).expect_err("both too long");
        assert_eq!(errors.messages("title"), ["is too long (maximum is 255 characters)"]);
        assert_eq!(errors.messages("key"), ["is too long (maximum is 5000 characters)"]);
    }
}
