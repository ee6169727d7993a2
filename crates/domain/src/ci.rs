//! Continuous integration: the configuration file, and the state machines of pipelines and builds.
//!
//! Everything here is a pure function: no store, no clock, no YAML library.

pub mod config;
pub mod coverage;
pub mod duration;
pub mod expand;
pub mod regexp;
pub mod rerun;
pub mod set;
pub mod skip;
pub mod stages;
pub mod status;
pub mod when;
