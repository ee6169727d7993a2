//! The use cases of hexforge: free functions over the ports of the domain, one transaction each.
//!
//! A use case takes the [`app::App`] with the ports, the [`Actor`](hexforge_domain::policy::Actor) that makes the
//! request, and the parameters. It loads rows and checks permissions ([`access`]), lets the domain decide, writes, and
//! returns a read model ([`view`]). It knows neither HTTP nor databases.

pub mod access;
pub mod administration;
pub mod app;
pub mod application_settings;
pub mod award;
pub mod basic_auth;
pub mod board;
pub mod branch;
pub mod broadcast;
pub mod browser_session;
pub mod build;
pub mod ci_token;
pub mod commit;
pub mod commit_status;
pub mod dashboard;
pub mod delivery;
pub mod deploy_key;
pub mod deployment;
pub mod discussion;
pub mod environment;
pub mod error;
pub mod event;
pub mod file;
pub mod git_access;
pub mod group;
pub mod issue;
pub mod label;
pub mod lfs;
pub mod limiter;
pub mod member;
pub mod merge_request;
pub mod milestone;
pub mod namespace;
pub mod note;
pub mod notification;
pub mod person;
pub mod pipeline;
pub mod project;
pub mod public_key;
pub mod push;
pub mod reference;
pub mod removal;
pub mod repository;
pub mod retry;
pub mod runner;
pub mod search;
pub mod service;
pub mod session;
pub mod setup;
pub mod sign_in;
mod snapshot;
pub mod snippet;
pub mod system_hook;
pub mod tag;
pub mod template;
pub mod todo;
pub mod token;
pub mod tracker_choices;
pub mod trigger;
pub mod user;
pub mod variable;
pub mod view;
