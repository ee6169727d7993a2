//! The port to what is kept so that the store alone does not give it away.

use std::error::Error;
use std::fmt;

use crate::text::Secret;

/// Holds a key that is nowhere else: it seals texts, and makes tokens that need not be stored.
pub trait Vault: Send + Sync {
    /// Seals a text, differently each time. What is sealed for one purpose does not open for another.
    fn seal(&self, purpose: &str, text: &str) -> Sealed;

    /// Opens what was sealed for the purpose.
    /// # Errors
    /// When it was not, or by another key.
    fn open(&self, purpose: &str, sealed: &Sealed) -> Result<Secret, VaultError>;

    /// The token for a subject, always the same; at least 20 letters, digits, `-` and `_`. Nobody without
    /// the key can make it.
    fn token(&self, subject: &str) -> Secret;

    /// Whether a text is the token for a subject. It takes as long for wrong ones.
    fn is_token(&self, subject: &str, text: &str) -> bool;
}

/// A text that only the vault can read.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(pub Vec<u8>);

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

/// Something was not sealed by this vault for this purpose.
#[derive(Debug, thiserror::Error)]
#[error("what was sealed cannot be opened with this key")]
pub struct VaultError(#[source] pub Option<Box<dyn Error + Send + Sync>>);
