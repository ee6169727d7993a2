//! Groups, namespaces, memberships, shares and access requests.

pub(crate) mod access_request;
pub(crate) mod group;
pub(crate) mod group_list;
pub(crate) mod member;
pub(crate) mod namespace;
pub(crate) mod share;
