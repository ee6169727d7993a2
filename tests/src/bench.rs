//! Measuring a running server.

pub mod lists;
pub mod load;
pub mod seed;
pub mod world;
