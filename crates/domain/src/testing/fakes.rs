//! Doubles of the ports: plain collections with the real rules, fast and predictable.

mod clock;
mod emails;
mod events;
mod identities;
mod keys;
mod mixing;
mod namespaces;
mod outbox;
mod passwords;
mod public_keys;
mod secrets;
mod sign_in_failures;
mod store;
mod tokens;
mod tx;
mod users;

pub use clock::FakeClock;
pub use passwords::FakePasswords;
pub use public_keys::FakePublicKeys;
pub use secrets::FakeSecrets;
pub use store::FakeStore;
