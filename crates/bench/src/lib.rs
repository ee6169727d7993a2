//! Benchmarks of a running server; `main.rs` has the command line.

pub mod backend;
pub mod baseline;
pub mod bulk;
pub mod chart;
pub mod clones;
pub mod contents;
pub mod git_sizes;
pub mod history;
pub mod hooks;
pub mod hostile;
pub mod issues;
pub mod lists;
pub mod load;
pub mod long_history;
pub mod pipelines;
pub mod progress;
pub mod report;
pub mod repository;
pub mod seed;
pub mod sizes;
pub mod storage;
pub mod streams;
pub mod tracker_world;
pub mod transport;
pub mod users;
pub mod world;
