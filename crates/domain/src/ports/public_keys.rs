//! The port to reading public keys.

use crate::user::key::Fingerprint;

/// Reads SSH public keys.
pub trait PublicKeys: Send + Sync {
    /// The fingerprint of a key in the one-line form of `.pub` files, or `None` when the text is no
    /// well-formed key of the type it names.
    fn fingerprint(&self, key: &str) -> Option<Fingerprint>;
}
