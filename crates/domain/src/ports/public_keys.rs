//! The port that parses SSH public keys.

use crate::user::fingerprint::Fingerprint;

/// Parses SSH public keys.
pub trait PublicKeys: Send + Sync {
    /// The fingerprint of a key in the one-line format of `.pub` files; `None` when the text is not a well-formed key
    /// of the type that it names.
    fn fingerprint(&self, key: &str) -> Option<Fingerprint>;
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Fingerprint, PublicKeys};

    /// Accepts every `ssh-ed25519 AAAA…` as a key.
    pub(crate) struct AnyEd25519;

    impl PublicKeys for AnyEd25519 {
        fn fingerprint(&self, key: &str) -> Option<Fingerprint> {
            key.strip_prefix("ssh-ed25519 AAAA").map(|rest| Fingerprint(rest.to_owned()))
        }
    }
}
