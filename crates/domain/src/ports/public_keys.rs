//! The port that parses SSH public keys.

use crate::user::fingerprint::Fingerprint;

/// Parses SSH public keys.
pub trait PublicKeys: Send + Sync {
    /// The fingerprint of a key in the one-line format of `.pub` files; `None` when the text is not a well-formed key
    /// of the type that it names.
    fn fingerprint(&self, key: &str) -> Option<Fingerprint>;
}
