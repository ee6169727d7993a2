//! The change of one ref.

use crate::commit::ObjectId;

/// A change of one ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChange {
    /// The full name, with `refs/`.
    pub name: String,
    /// The object to which the ref has to point before the change; `None` when it must not exist.
    pub old: Option<ObjectId>,
    /// The object to which the ref points after the change; `None` when the change removes the ref.
    pub new: Option<ObjectId>,
}
