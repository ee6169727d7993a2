//! JSON as the interface shows it: fields in the order of the reference.

pub mod branch;
pub mod commit;
pub mod email;
pub mod event;
pub mod hook;
pub mod key;
pub mod links;
pub mod member;
pub mod namespace;
pub mod project;
pub mod push;
pub mod repository;
pub mod tag;
pub mod time;
pub mod upload;
pub mod user;
