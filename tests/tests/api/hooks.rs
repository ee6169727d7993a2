//! Hooks and their deliveries.

mod hook_deliveries;
mod hook_payloads;
mod hook_payloads_system;
pub mod hook_support;
mod project_hooks;
mod project_hooks_checks;
mod slack;
mod system_hooks;
