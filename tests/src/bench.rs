//! Measuring a running server.

pub mod hooks;
pub mod lists;
pub mod load;
pub mod seed;
pub mod world;
