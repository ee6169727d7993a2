//! Pipelines, builds, environments, deployments, runners, triggers and variables.

pub(crate) mod build;
pub(crate) mod build_definition;
pub(crate) mod build_list;
pub(crate) mod build_queue;
pub(crate) mod deployment;
pub(crate) mod environment;
pub(crate) mod pipeline;
pub(crate) mod runner;
pub(crate) mod trigger;
pub(crate) mod variable;
