//! JSON as the interface shows it: fields in the order of the reference.

pub mod blocks;
pub mod board;
pub mod branch;
pub mod commit;
pub mod delivery;
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
pub mod payload;
pub mod project;
pub mod push;
pub mod repository;
pub mod tag;
pub mod time;
pub mod upload;
pub mod user;
