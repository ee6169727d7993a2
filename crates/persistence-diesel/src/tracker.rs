//! Issues and merge requests, and their labels, milestones, notes and boards.

pub(crate) mod award;
pub(crate) mod board;
pub(crate) mod group_label;
pub(crate) mod issuable;
pub(crate) mod issue;
pub(crate) mod issue_conditions;
pub(crate) mod issue_list;
pub(crate) mod issue_total;
pub(crate) mod label;
pub(crate) mod merge_request;
pub(crate) mod milestone;
pub(crate) mod note;
pub(crate) mod snippet;
pub(crate) mod todo;
