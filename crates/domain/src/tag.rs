//! Git tags and their releases.

pub mod port;
pub mod release;

pub use crate::ref_name::TagName;
pub use release::Release;

use crate::commit::Commit;

/// A tag with its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its name.
    pub name: TagName,
    /// The annotation; `None` for a lightweight tag.
    pub message: Option<String>,
    /// The commit that the tag points to, directly or through tag objects.
    pub commit: Commit,
}
