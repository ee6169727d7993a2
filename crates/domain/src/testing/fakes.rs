//! Doubles of the ports: plain collections with the real rules, fast and predictable.

mod access;
mod boards;
mod clock;
mod emails;
mod events;
mod groups;
mod hooks;
mod identities;
mod issues;
mod keys;
mod labels;
mod members;
mod milestones;
mod mixing;
mod namespaces;
mod notes;
mod outbox;
mod passwords;
mod project_lists;
mod projects;
mod public_keys;
mod removal;
mod search;
mod secrets;
mod shares;
mod sign_in_failures;
mod stars;
mod store;
mod tokens;
mod tx;
mod users;

pub use clock::FakeClock;
pub use passwords::FakePasswords;
pub use public_keys::FakePublicKeys;
pub use secrets::FakeSecrets;
pub use store::FakeStore;
