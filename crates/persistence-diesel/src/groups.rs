//! Groups and namespaces, and who is a member of what.

pub(crate) mod access_request;
pub(crate) mod group;
pub(crate) mod group_list;
pub(crate) mod member;
pub(crate) mod namespace;
pub(crate) mod share;
