//! Projects.

mod deploy_keys;
mod project_events;
pub mod project_support;
mod projects_archive;
mod projects_beside;
mod projects_create;
mod projects_create_checks;
mod projects_create_for_user;
mod projects_create_places;
mod projects_delete;
mod projects_fork;
mod projects_fork_links;
mod projects_lists;
mod projects_lists_filters;
mod projects_read;
mod projects_search;
mod projects_share;
mod projects_star;
mod projects_team;
mod projects_update;
mod projects_update_checks;
mod push_events;
mod services;
mod services_table;
