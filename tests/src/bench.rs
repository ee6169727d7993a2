//! Measuring a running server.

pub mod beside;
pub mod history;
pub mod lists;
pub mod load;
pub mod repository;
pub mod seed;
pub mod streams;
pub mod world;
