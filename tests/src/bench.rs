//! Measuring a running server.

pub mod load;
pub mod program;
pub mod seed;
