//! The core of hexforge: entities, state machines, the access policy and the ports to the outside world. Nothing in
//! this crate does I/O, reads a clock or generates random numbers, so every rule can be tested with a table and reused
//! by other programs.
//!
//! # Where to start
//!
//! - **Entities and values.** Each entity has a module: [`user`], [`group`], [`project`], [`issue`], [`pipeline`] and
//!   so on. A value such as [`user::Username`] is created by `parse`, which validates its input, so every value that
//!   exists is valid. `stored` wraps a text that was validated before it was written to the database.
//! - **State machines.** A state has a method `apply` that takes a command and returns a [`change::Change`]: the new
//!   state, or that nothing changed.
//! - **Access policy.** [`policy::authorize`] decides whether an [`Actor`](policy::Actor) may do something with a
//!   resource.
//! - **Ports.** A port is a trait that an adapter implements. The ports to the rows of an entity are in the submodule
//!   `port` of its module, and [`ports::store::Tx`] lists all of them. [`ports`] has all other ports.
//! - **Continuous integration.** [`ci`] has the rules for `.gitlab-ci.yml`, pipelines and builds.
//!
//! # Example
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
//! # Dependencies and tests
//!
//! The crate depends on `chrono` for dates, `thiserror` for errors and `regex` for the regular expressions that users
//! write into configurations. `regex` does no I/O and runs in linear time, so it needs no port.
//!
//! The crate `hexforge-domain-testing` has a fake of every port. It also has the contract suite that every
//! implementation of the store has to pass, the fake included.

pub mod application_settings;
pub mod award;
pub mod board;
pub mod branch;
pub mod broadcast;
pub mod browser_session;
pub mod build;
pub mod change;
pub mod ci;
pub mod commit;
pub mod delivery;
pub mod deploy_key;
pub mod deployment;
pub mod environment;
pub mod event;
pub mod field_errors;
pub mod group;
pub mod hex;
pub mod hook;
pub mod id;
pub mod issuable;
pub mod issue;
pub mod label;
pub mod lfs;
pub mod limiter;
pub mod member;
pub mod merge_request;
pub mod milestone;
pub mod namespace;
pub mod network;
pub mod note;
pub mod notification;
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
pub mod search;
pub mod service;
pub mod sign_in;
pub mod snippet;
pub mod subscription;
pub mod system_hook;
pub mod tag;
pub mod text;
pub mod todo;
pub mod token;
pub mod trigger;
pub mod unique;
pub mod user;
pub mod variable;
pub mod visibility;

/// A point in time in UTC with microsecond precision, the finest precision that both databases store.
pub type Timestamp = chrono::DateTime<chrono::Utc>;
