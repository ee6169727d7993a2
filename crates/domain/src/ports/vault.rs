//! The port to encryption with a key that is not in the database, so that a copy of the database reveals no secrets.

use std::error::Error;
use std::fmt;

use crate::text::Secret;

/// Encrypts texts with a key that only the vault has, and derives tokens that need not be stored.
pub trait Vault: Send + Sync {
    /// Encrypts a text, with a different result each time. A text sealed for one purpose cannot be opened for another.
    fn seal(&self, purpose: &str, text: &str) -> Sealed;

    /// Decrypts a text that was sealed for the purpose.
    /// # Errors
    /// When the text was sealed for another purpose or with another key.
    fn open(&self, purpose: &str, sealed: &Sealed) -> Result<Secret, VaultError>;

    /// The token of a subject: always the same, at least 20 letters, digits, `-` and `_`. It cannot be computed without
    /// the key.
    fn token(&self, subject: &str) -> Secret;

    /// Returns whether a text is the token of a subject, in constant time.
    fn is_token(&self, subject: &str, text: &str) -> bool;
}

/// An encrypted text that only the vault can decrypt.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(pub Vec<u8>);

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

/// The value was not sealed by this vault for this purpose.
#[derive(Debug, thiserror::Error)]
#[error("the secret cannot be decrypted: it was encrypted with another key or for another purpose")]
pub struct VaultError(#[source] pub Option<Box<dyn Error + Send + Sync>>);
