//! The hexforge program: configuration, wiring and command line around the crates that do the work.

pub mod backup;
pub mod built_in_runner;
pub mod cli;
pub mod commands;
pub mod config;
pub mod first_start;
pub mod http;
pub mod logging;
pub mod memory;
pub mod serve;
pub mod ssh;
pub mod storage;
pub mod system;
pub mod upgrade;
pub mod wiring;
pub mod worker;
