//! Read models: the data for one response, loaded in a bounded number of queries.

pub mod award;
pub mod board;
pub mod build;
pub mod event;
pub mod group;
pub(crate) mod issuable;
pub mod issue;
pub mod label;
pub mod merge_request;
pub mod note;
pub mod project;
pub mod snippet;
pub mod todo;
pub mod user;
