//! Fake of password hashing, without computation.

use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::user::{Password, PasswordHash};

/// The hash of `secret42` is `fake$secret42`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakePasswords;

impl Passwords for FakePasswords {
    fn hash(&self, password: &Password) -> PasswordHash {
        PasswordHash::new(format!("fake${}", password.reveal()))
    }

    fn verify(&self, attempt: &str, hash: Option<&PasswordHash>) -> bool {
        hash.and_then(|hash| hash.reveal().strip_prefix("fake$")) == Some(attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_behind_a_hash_verifies() {
        let password = Password::parse("secret42").expect("eight characters");
        let hash = FakePasswords.hash(&password);
        assert!(FakePasswords.verify("secret42", Some(&hash)));
        assert!(!FakePasswords.verify("secret43", Some(&hash)));
        assert!(!FakePasswords.verify("fake$secret42", Some(&hash)));
        assert!(!FakePasswords.verify("secret42", None));
    }
}
