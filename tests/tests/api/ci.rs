//! Pipelines, builds, environments, deployments, runners, triggers and variables.

mod builds;
mod builds_files;
pub mod ci_support;
mod commit_statuses;
mod deployments;
mod deployments_locks;
mod deployments_many;
mod environments;
mod pipelines;
mod pipelines_create;
mod pipelines_stages;
mod runner_admin;
mod runner_artifacts;
mod runner_builds;
mod runner_choice;
mod runner_reports;
pub mod runner_support;
mod runner_traces;
mod runners;
mod triggers;
mod variables;
