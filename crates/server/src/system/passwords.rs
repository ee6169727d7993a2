//! Password hashing with argon2id.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash as Phc, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::user::{Password, PasswordHash};

/// Hashes passwords with argon2id. At most 12 hashes run at the same time, because each takes 19 MiB.
pub struct Argon2Passwords {
    argon2: Argon2<'static>,
    permits: Mutex<Permits>,
    freed: Condvar,
}

/// The permits for hashing, limited to [`MAX_CONCURRENT`].
struct Permits {
    free: usize,
    /// The buffer of the last hash, kept while hashes follow each other quickly. Mapping and
    /// unmapping 19 MiB holds the kernel's lock of the address space, for which other threads wait.
    memory: Option<Vec<Block>>,
    /// The time at which the last hash ended.
    last: Option<Instant>,
}

/// The hash that is verified if there is no account, so that the answer takes the same time. It has
/// the parameters of new hashes.
const DECOY: &str = "$argon2id$v=19$m=19456,t=2,p=1$E9cTvszU1henNPE7npTTbg$L2/+BQYRbgqX8u/45ZXv6+VF9LON5jLer7zNcYZQQ5Q";

impl Default for Argon2Passwords {
    fn default() -> Self {
        Self::with(Params::default())
    }
}

impl Argon2Passwords {
    /// Uses the weakest parameters, for tests that hash often.
    pub fn weak() -> Self {
        let params = Params::new(Params::MIN_M_COST, 1, 1, None);
        Self::with(params.expect("the least of everything is allowed"))
    }

    fn with(params: Params) -> Self {
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let permits = Permits { free: MAX_CONCURRENT, memory: None, last: None };
        Self { argon2, permits: Mutex::new(permits), freed: Condvar::new() }
    }

    fn permits(&self) -> MutexGuard<'_, Permits> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_permit<T>(&self, work: impl FnOnce(&mut Vec<Block>) -> T) -> T {
        let permits = self.freed.wait_while(self.permits(), |permits| permits.free == 0);
        let mut permits = permits.unwrap_or_else(PoisonError::into_inner);
        permits.free -= 1;
        let memory = permits.memory.take().unwrap_or_default();
        drop(permits);
        let mut permit = Permit { of: self, memory };
        work(&mut permit.memory)
    }
}

/// The most hashes at the same time. It is larger than the number of permits for sign-ins: threads
/// of low priority take long for those, and new passwords must not wait for them.
const MAX_CONCURRENT: usize = 12;

/// If less time than this passes between two hashes, the buffer is kept.
const BUFFER_KEPT_FOR: Duration = Duration::from_secs(1);

/// A permit, returned when it is dropped.
struct Permit<'a> {
    of: &'a Argon2Passwords,
    memory: Vec<Block>,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        let mut permits = self.of.permits();
        permits.free += 1;
        let last = permits.last.replace(Instant::now());
        let are_many = last.is_some_and(|last| last.elapsed() < BUFFER_KEPT_FOR);
        let surplus = if are_many { permits.memory.replace(memory) } else { Some(memory) };
        drop(permits);
        self.of.freed.notify_one();
        drop(surplus);
    }
}

/// Larger allocations return to the operating system when they are freed. The allocator would keep
/// smaller ones for later allocations.
const RETURNED_ALLOCATION: usize = 33 * 1024 * 1024;

/// Computes the hash of a password with a salt. Only the part of the memory that the parameters need is touched.
fn digest(
    argon2: &Argon2<'_>,
    memory: &mut Vec<Block>,
    password: &[u8],
    salt: &[u8],
) -> argon2::Result<Vec<u8>> {
    let blocks = argon2.params().block_count();
    if memory.len() < blocks {
        memory.reserve_exact(blocks.max(RETURNED_ALLOCATION / Block::SIZE) - memory.len());
        memory.resize(blocks, Block::default());
    }
    let mut output = vec![0; argon2.params().output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN)];
    let memory = &mut memory[..blocks];
    argon2.hash_password_into_with_memory(password, salt, &mut output, memory)?;
    Ok(output)
}

fn hash(argon2: &Argon2<'_>, memory: &mut Vec<Block>, password: &str) -> PasswordHash {
    let mut salt = [0; Salt::RECOMMENDED_LENGTH];
    getrandom::fill(&mut salt).expect("the operating system has random numbers");
    let mut made = || -> Option<Phc> {
        let output = digest(argon2, memory, password.as_bytes(), &salt).ok()?;
        Some(Phc {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: ParamsString::try_from(argon2.params()).ok()?,
            salt: Some(Salt::new(&salt).ok()?),
            hash: Some(Output::new(&output).ok()?),
        })
    };
    let hash =
        made().expect("argon2 hashes every text up to 4 GiB with a salt of the right length");
    PasswordHash::new(hash.to_string())
}

/// Verifies a password against a stored hash, with the parameters of that hash. The comparison takes constant time.
fn verify(memory: &mut Vec<Block>, attempt: &str, stored: &str) -> Option<bool> {
    let stored = Phc::new(stored).ok()?;
    let version = Version::try_from(stored.version?).ok()?;
    let params = Params::try_from(&stored).ok()?;
    if stored.algorithm != Algorithm::Argon2id.ident() {
        return None;
    }
    let argon2 = Argon2::new(Algorithm::Argon2id, version, params);
    let output = digest(&argon2, memory, attempt.as_bytes(), stored.salt?.as_ref()).ok()?;
    Some(Output::new(&output).ok()? == stored.hash?)
}

impl Passwords for Argon2Passwords {
    fn hash(&self, password: &Password) -> PasswordHash {
        self.with_permit(|memory| hash(&self.argon2, memory, password.reveal()))
    }

    fn verify(&self, attempt: &str, against: Option<&PasswordHash>) -> bool {
        let stored = against.map_or(DECOY, PasswordHash::reveal);
        // No password is longer, so megabytes are never hashed.
        if attempt.len() > 4 * 128 {
            return false;
        }
        let right = self.with_permit(|memory| verify(memory, attempt, stored).unwrap_or(false));
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
    fn one_buffer_is_kept_while_passwords_are_hashed_often() {
        let passwords = Argon2Passwords::weak();
        let password = Password::parse("correct horse").expect("long enough");
        passwords.hash(&password);
        assert!(passwords.permits().memory.is_none());
        // The previous hash ended just now.
        passwords.permits().last = Some(Instant::now());
        passwords.hash(&password);
        assert!(passwords.permits().memory.is_some());
        assert!(passwords.verify("correct horse", Some(&passwords.hash(&password))));
    }

    #[test]
    fn the_decoy_costs_what_a_new_hash_costs() {
        let new = Argon2Passwords::default().hash(&Password::parse("correct horse").expect("long"));
        let cost = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(cost(new.reveal()), cost(DECOY));
        // The decoy was computed by another program: our hashes have the standard format.
        let mut memory = Vec::new();
        assert_eq!(verify(&mut memory, "nobody has this password", DECOY), Some(true));
        assert_eq!(verify(&mut memory, "somebody has this one", DECOY), Some(false));
        assert_eq!(verify(&mut memory, "anything", "no hash at all"), None);
    }
}
