//! Releases: the published notes of a tag.

use super::TagName;

/// The release notes of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The tag.
    pub tag: TagName,
    /// The release notes.
    pub description: String,
}
