//! Labels of groups, which all projects of the group have.

use super::{Color, LabelDescription, LabelTitle};
use crate::id::{LabelId, NamespaceId};

/// A label of a group as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLabel {
    /// Assigned by the store, never reused, and no label of a project has it.
    pub id: LabelId,
    /// Of which group.
    pub group: NamespaceId,
    /// By what it is known; unique in the group.
    pub title: LabelTitle,
    /// How it is shown.
    pub color: Color,
    /// What it means.
    pub description: Option<LabelDescription>,
}
