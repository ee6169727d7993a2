//! Measuring a running server.

pub mod backend;
pub mod history;
pub mod lists;
pub mod load;
pub mod seed;
pub mod transport;
pub mod world;
