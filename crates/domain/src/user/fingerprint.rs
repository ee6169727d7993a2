//! Fingerprints of SSH keys.

/// The MD5 of the key blob as colon-separated hex. It does not depend on title and comment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub String);
