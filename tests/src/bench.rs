//! Measuring a running server.

pub mod backend;
pub mod beside;
pub mod bulk;
pub mod clones;
pub mod history;
pub mod hooks;
pub mod issues;
pub mod lists;
pub mod load;
pub mod long_history;
pub mod pipelines;
pub mod repository;
pub mod seed;
pub mod streams;
pub mod tracker_world;
pub mod transport;
pub mod world;
