//! Deploy keys: SSH keys that belong to projects instead of a user, and give read access to them.

pub mod port;

use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::id::KeyId;
use crate::ports::public_keys::PublicKeys;
use crate::text::{Blank, ShortText};
use crate::user::key::{Fingerprint, NewSshKey};

/// A deploy key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeployKey {
    /// Assigned by the store, from the same sequence as the keys of users.
    pub id: KeyId,
    /// The name of the key.
    pub title: ShortText,
    /// The text as it was submitted, comment included.
    pub key: String,
    /// Unique among all keys of the service, those of users included.
    pub fingerprint: Fingerprint,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// Validates title and key of a new deploy key, and reports all errors at once.
pub fn parse_new(
    title: Option<&str>,
    key: Option<&str>,
    public_keys: &dyn PublicKeys,
) -> Result<NewSshKey, FieldErrors> {
    let (title, key) = (title.unwrap_or_default(), key.unwrap_or_default());
    let mut errors = FieldErrors::default();
    for (field, text) in [("title", title), ("key", key)] {
        if text.trim().is_empty() {
            errors.add(field, Blank);
            errors.add(field, TOO_SHORT);
        }
    }
    let parsed = errors.merge(NewSshKey::parse(title, key, public_keys));
    errors.into_result_with(|| parsed)
}

/// The original service reports a missing text also by this message.
const TOO_SHORT: &str = "is too short (minimum is 0 characters)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::public_keys::testing::AnyEd25519;

    #[test]
    fn all_problems_are_reported_together() {
        let blank = ["can't be blank", TOO_SHORT];
        let no_key = ["can't be blank", TOO_SHORT, "is invalid"];
        let unreadable = ["cannot be generated"];
        let key = Some("ssh-ed25519 AAAAx");
        for (title, key, of_title, of_key, of_fingerprint) in [
            (Some("t"), key, &[][..], &[][..], &[][..]),
            (None, key, &blank, &[], &[]),
            (Some(" "), key, &blank, &[], &[]),
            (Some("t"), None, &[], &no_key, &unreadable),
            (Some("t"), Some(" "), &[], &no_key, &unreadable),
            (None, None, &blank, &no_key, &unreadable),
            (Some("t"), Some("garbage"), &[], &["is invalid"], &unreadable),
        ] {
            let parsed = parse_new(title, key, &AnyEd25519);
            let errors = parsed.err().unwrap_or_default();
            assert_eq!(errors.messages("title"), of_title, "{title:?} {key:?}");
            assert_eq!(errors.messages("key"), of_key, "{title:?} {key:?}");
            assert_eq!(errors.messages("fingerprint"), of_fingerprint, "{title:?} {key:?}");
        }
    }
}
