//! Read models: what one answer needs, loaded in a bounded number of queries.

pub mod event;
pub mod group;
pub mod project;
pub mod user;
