//! Password hashing with argon2id.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::text::Secret;
use hexforge_domain::user::{Password, PasswordHash};

/// Hashes so slowly that guessing does not pay, on as many threads as there are cores and no others:
/// each hash takes 19 MiB, which the allocator keeps for the thread that had it.
pub struct Argon2Passwords {
    argon2: Argon2<'static>,
    jobs: Sender<Job>,
}

type Job = Box<dyn FnOnce() + Send>;

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
        let (jobs, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let queue = Arc::clone(&queue);
            thread::Builder::new()
                .name("passwords".to_owned())
                .spawn(move || work_off(&queue))
                .expect("the operating system has room for a few threads");
        }
        Self { argon2, jobs }
    }

    /// Does the work on one of the threads and waits for it.
    fn in_turn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (answer, answered) = mpsc::sync_channel(1);
        let job = Box::new(move || {
            // Nobody waits any more only if the asking thread is gone.
            let _ = answer.send(work());
        });
        self.jobs.send(job).expect("the threads live as long as their queue");
        answered.recv().expect("a job always answers")
    }
}

/// Ends when nobody can ask for anything any more.
fn work_off(queue: &Mutex<Receiver<Job>>) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(job) => job(),
            Err(_) => return,
        }
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
        let (argon2, password) = (self.argon2.clone(), password.clone());
        self.in_turn(move || hash(&argon2, password.reveal()))
    }

    fn verify(&self, attempt: &str, against: Option<&PasswordHash>) -> bool {
        // Longer than any password is: no need to hash megabytes.
        if attempt.len() > 4 * 128 {
            return false;
        }
        let (argon2, attempt) = (self.argon2.clone(), Secret::new(attempt));
        let stored = against.cloned().unwrap_or_else(|| PasswordHash::new(DECOY));
        let right = self.in_turn(move || match Phc::new(stored.reveal()) {
            Ok(parsed) => argon2.verify_password(attempt.reveal().as_bytes(), &parsed).is_ok(),
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
