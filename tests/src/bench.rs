//! Measuring a running server.

pub mod backend;
pub mod beside;
pub mod clones;
pub mod history;
pub mod hooks;
pub mod lists;
pub mod load;
pub mod long_history;
pub mod repository;
pub mod seed;
pub mod streams;
pub mod transport;
pub mod world;
