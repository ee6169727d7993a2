//! Tags.

pub mod port;
pub mod release;

pub use crate::ref_name::TagName;
pub use release::Release;

use crate::commit::Commit;

/// A tag and what it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its name.
    pub name: TagName,
    /// The annotation; `None` for a tag that is only a name.
    pub message: Option<String>,
    /// The commit it leads to in the end.
    pub commit: Commit,
}
