//! The heart of hexforge: entities, state machines, access policy and the ports through which the
//! outside is reached. Nothing in here does I/O, reads a clock or draws a random number, so every
//! rule can be tested as a table and reused by other programs.
//!
//! It is built from `chrono` for dates, `thiserror` for errors and `regex` for the expressions that
//! users write into configurations. The last only computes, and does so in linear time, so it needs
//! no port.
//!
//! ```
//! use hexforge_domain::change::Change;
//! use hexforge_domain::user::{UserCommand, UserState, Username};
//!
//! let name = Username::parse("ada.lovelace").expect("letters and dots make a username");
//! assert_eq!(name.as_str(), "ada.lovelace");
//!
//! let blocked = UserState::Active.apply(UserCommand::Block);
//! assert_eq!(blocked, Ok(Change::Applied(UserState::Blocked)));
//! ```
//!
//! The crate `hexforge-domain-testing` has fakes of every port and the contract suite that all implementations
//! of the ports, fakes included, have to pass.

pub mod board;
pub mod branch;
pub mod build;
pub mod change;
pub mod ci;
pub mod commit;
pub mod delivery;
pub mod event;
pub mod field_errors;
pub mod group;
pub mod hex;
pub mod hook;
pub mod id;
pub mod issue;
pub mod label;
pub mod limiter;
pub mod member;
pub mod milestone;
pub mod namespace;
pub mod network;
pub mod note;
pub mod outbox;
pub mod pack;
pub mod paging;
pub mod pipeline;
pub mod policy;
pub mod ports;
pub mod project;
pub mod push;
pub mod ref_name;
pub mod refs;
pub mod removal;
pub mod repository;
pub mod runner;
pub mod sign_in;
pub mod subscription;
pub mod system_hook;
pub mod tag;
pub mod text;
pub mod token;
pub mod trigger;
pub mod user;
pub mod variable;
pub mod visibility;

/// A moment in UTC, to the microsecond: the finest that both databases keep.
pub type Timestamp = chrono::DateTime<chrono::Utc>;
