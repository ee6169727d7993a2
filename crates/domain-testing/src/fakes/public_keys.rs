//! Fake of the public key parser, which checks the form only.

use super::mixing::hash_bytes;
use hexforge_domain::ports::public_keys::{PublicKeys, SignatureCheck};
use hexforge_domain::user::key::Fingerprint;

/// Accepts every line with a known key type, a Base64 text that begins with `AAAA`, and an optional
/// comment.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakePublicKeys;

const TYPES: [&str; 3] = ["ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256"];

impl PublicKeys for FakePublicKeys {
    fn fingerprint(&self, key: &str) -> Option<Fingerprint> {
        if key.contains(['\r', '\n']) {
            return None;
        }
        let mut parts = key.split_whitespace();
        let kind = parts.next().filter(|kind| TYPES.contains(kind))?;
        let blob = parts.next().filter(|blob| blob.starts_with("AAAA") && is_base64(blob))?;
        let digest: [u8; 16] = hash_bytes(format!("{kind} {blob}").as_bytes());
        Some(Fingerprint(digest.map(|byte| format!("{byte:02x}")).join(":")))
    }

    fn signing_key(&self, _: &str) -> Option<String> {
        None
    }

    fn check_signature(&self, _: &str, _: &str, _: &str, _: &[u8]) -> SignatureCheck {
        SignatureCheck::Unsupported
    }
}

fn is_base64(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_decides_what_is_a_key() {
        for (key, is_key) in [
            ("ssh-ed25519 AAAAx", true),
            ("ssh-rsa AAAAx== me@home", true),
            ("ecdsa-sha2-nistp256 AAAAx my other laptop", true),
            ("ssh-rsa BBBB", false),
            ("ssh-rsa AAAA*", false),
            ("ssh-rsa", false),
            ("garbage AAAAx", false),
            ("ssh-rsa AAAAx\nssh-rsa AAAAy", false),
            ("", false),
        ] {
            assert_eq!(FakePublicKeys.fingerprint(key).is_some(), is_key, "{key:?}");
        }
    }

    #[test]
    fn the_comment_does_not_matter_for_the_fingerprint() {
        let of = |key| FakePublicKeys.fingerprint(key).expect("a key");
        assert_eq!(of("ssh-rsa AAAAx"), of("ssh-rsa AAAAx me@home"));
        assert_ne!(of("ssh-rsa AAAAx"), of("ssh-rsa AAAAy"));
        assert_ne!(of("ssh-rsa AAAAx"), of("ssh-ed25519 AAAAx"));
        assert_eq!(of("ssh-rsa AAAAx").0.len(), "00:".len() * 16 - 1);
    }
}
