//! Password hashing with argon2id.

use std::sync::{Condvar, Mutex, PoisonError};

use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::user::{Password, PasswordHash};

/// Hashes so slowly that guessing does not pay, and not more at the same time than there are cores:
/// each one takes 19 MiB.
pub struct Argon2Passwords {
    argon2: Argon2<'static>,
    free: Mutex<usize>,
    freed: Condvar,
}

/// Compared against where there is no account, to take the time it takes where there is one: a hash
/// with the parameters that new hashes get.
const DECOY: &str = "$argon2id$v=19$m=19456,t=2,p=1$E9cTvszU1henNPE7npTTbg$L2/+BQYRbgqX8u/45ZXv6+VF9LON5jLer7zNcYZQQ5Q";

impl Default for Argon2Passwords {
    fn default() -> Self {
        Self::with(Params::default())
    }
}

impl Argon2Passwords {
    /// As weak as it can be, for tests that hash often.
    pub fn weak() -> Self {
        let params = Params::new(Params::MIN_M_COST, 1, 1, None);
        Self::with(params.expect("the least of everything is allowed"))
    }

    fn with(params: Params) -> Self {
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { argon2, free: Mutex::new(cores), freed: Condvar::new() }
    }

    fn in_turn<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let _place = Place(self);
        work()
    }
}

/// Given back however the work ends.
struct Place<'a>(&'a Argon2Passwords);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

fn hash(argon2: &Argon2<'_>, password: &str) -> PasswordHash {
    let hash: Phc = argon2
        .hash_password(password.as_bytes())
        .expect("argon2 hashes every text up to 4 GiB with a salt from the operating system");
    PasswordHash::new(hash.to_string())
}

impl Passwords for Argon2Passwords {
    fn hash(&self, password: &Password) -> PasswordHash {
        self.in_turn(|| hash(&self.argon2, password.reveal()))
    }

    fn verify(&self, attempt: &str, against: Option<&PasswordHash>) -> bool {
        let stored = against.map_or(DECOY, PasswordHash::reveal);
        // Longer than any password is: no need to hash megabytes.
        if attempt.len() > 4 * 128 {
            return false;
        }
        let right = self.in_turn(|| match Phc::new(stored) {
            Ok(parsed) => self.argon2.verify_password(attempt.as_bytes(), &parsed).is_ok(),
            Err(_) => false,
        });
        right && against.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_verifies_against_its_own_hash_only() {
        let passwords = Argon2Passwords::weak();
        let password = Password::parse("correct horse").expect("long enough");
        let hash = passwords.hash(&password);
        assert!(hash.reveal().starts_with("$argon2id$"), "{}", hash.reveal());
        assert_ne!(hash, passwords.hash(&password), "salted");
        assert!(passwords.verify("correct horse", Some(&hash)));
        assert!(!passwords.verify("wrong horse", Some(&hash)));
        assert!(!passwords.verify("", Some(&hash)));
        assert!(!passwords.verify("correct horse", None));
        assert!(!passwords.verify("nobody has this password", None));
    }

    #[test]
    fn the_decoy_costs_what_a_new_hash_costs() {
        let new = Argon2Passwords::default().hash(&Password::parse("correct horse").expect("long"));
        let cost = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(cost(new.reveal()), cost(DECOY));
    }
}
