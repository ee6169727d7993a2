//! The ports that the machine itself answers: time, randomness, password hashing, reading of keys.

mod clock;
mod passwords;
mod public_keys;
mod secrets;

pub use clock::SystemClock;
pub use passwords::Argon2Passwords;
pub use public_keys::OpensshKeys;
pub use secrets::SystemSecrets;
