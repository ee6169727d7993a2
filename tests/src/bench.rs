//! Measuring a running server.

pub mod load;
pub mod seed;
