//! Groups, their members, and namespaces.

mod access_requests;
mod access_requests_checks;
pub mod group_support;
mod groups_create;
mod groups_delete;
mod groups_list;
mod groups_projects;
mod groups_read;
mod groups_transfer;
mod groups_update;
mod member_expiry;
mod members_of_groups;
mod members_of_groups_checks;
mod members_of_projects;
mod members_of_projects_checks;
mod namespaces;
