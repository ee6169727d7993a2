//! Group labels, which exist in all projects of a group.

use super::{Color, LabelDescription, LabelTitle};
use crate::id::{LabelId, NamespaceId};

/// A group label as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLabel {
    /// Assigned by the store, never reused. No project label has the same id.
    pub id: LabelId,
    /// The group of the label.
    pub group: NamespaceId,
    /// The title, unique in the group.
    pub title: LabelTitle,
    /// The colour.
    pub color: Color,
    /// The description.
    pub description: Option<LabelDescription>,
}
