//! The port to password hashing.

use crate::user::{Password, PasswordHash};

/// Hashes and verifies passwords. Both are slow on purpose: never call them inside a transaction.
pub trait Passwords: Send + Sync {
    /// A salted hash.
    fn hash(&self, password: &Password) -> PasswordHash;

    /// Returns whether `attempt` is the password behind `hash`. `None` stands for an account that does not exist: the
    /// call returns false after the same time, so that response times do not reveal which accounts exist.
    fn verify(&self, attempt: &str, hash: Option<&PasswordHash>) -> bool;
}
