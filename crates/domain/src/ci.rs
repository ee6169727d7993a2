//! Continuous integration: what a configuration file says, and how pipelines and builds move.
//!
//! Everything here is a function of what it is given: no store, no clock, no YAML library.

pub mod config;
pub mod coverage;
pub mod duration;
pub mod regexp;
pub mod rerun;
pub mod set;
pub mod skip;
pub mod stages;
pub mod status;
pub mod when;
