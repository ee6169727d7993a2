//! The port that parses SSH public keys and checks SSH signatures.

use crate::user::fingerprint::Fingerprint;

/// The result of a check of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureCheck {
    /// The owner of the key signed this text.
    Valid,
    /// The signature belongs to another text, key or namespace.
    Invalid,
    /// Signatures of this kind cannot be checked.
    Unsupported,
}

/// Parses SSH public keys, and checks SSH signatures.
pub trait PublicKeys: Send + Sync {
    /// The fingerprint of a key in the one-line format of `.pub` files; `None` when the text is not a well-formed key
    /// of the type that it names.
    fn fingerprint(&self, key: &str) -> Option<Fingerprint>;

    /// The key that a signature in the format of `ssh-keygen -Y sign` says to be made with, as a line of a `.pub` file
    /// without a comment. `None` when the text is not a signature, or a very long one.
    fn signing_key(&self, signature: &str) -> Option<String>;

    /// Checks whether a signature was made with this key for a text in a namespace.
    fn check_signature(
        &self,
        key: &str,
        signature: &str,
        namespace: &str,
        text: &[u8],
    ) -> SignatureCheck;
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Fingerprint, PublicKeys, SignatureCheck};

    /// Accepts every `ssh-ed25519 AAAA…` as a key.
    pub(crate) struct AnyEd25519;

    impl PublicKeys for AnyEd25519 {
        fn fingerprint(&self, key: &str) -> Option<Fingerprint> {
            key.strip_prefix("ssh-ed25519 AAAA").map(|rest| Fingerprint(rest.to_owned()))
        }

        fn signing_key(&self, _: &str) -> Option<String> {
            None
        }

        fn check_signature(&self, _: &str, _: &str, _: &str, _: &[u8]) -> SignatureCheck {
            SignatureCheck::Unsupported
        }
    }
}
