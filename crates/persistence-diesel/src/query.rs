//! Building blocks of queries.

pub(crate) mod access;
pub(crate) mod among;
pub(crate) mod page;
pub(crate) mod project_scope;
pub(crate) mod search;
pub(crate) mod sql;
pub(crate) mod title_start;
