//! The use cases on fakes.

#[macro_use]
mod support;

mod application_settings;
mod block;
mod branches;
mod browse;
mod browser_session;
mod bulk;
mod deliveries;
mod emails;
mod events;
mod keys;
mod limiter;
mod notes;
mod packs;
mod public_key;
mod pushes;
mod registration;
mod runners;
mod session;
mod session_brake;
mod setup;
mod sign_in;
mod snapshot;
mod sudo;
mod tags;
mod token;
mod uploads;
mod user_create;
mod user_create_conflicts;
mod user_delete;
mod user_identities;
mod user_read;
mod user_update;
