//! JSON as the interface shows it: fields in the order of the reference.

pub mod board;
pub mod branch;
pub mod build;
pub mod commit;
pub mod commit_status;
pub mod email;
pub mod event;
pub mod hook;
pub mod issue;
pub mod key;
pub mod label;
pub mod links;
pub mod member;
pub mod milestone;
pub mod namespace;
pub mod note;
pub mod pipeline;
pub mod project;
pub mod push;
pub mod repository;
pub mod tag;
pub mod time;
pub mod trigger;
pub mod upload;
pub mod user;
pub mod variable;
