//! What is said about a tag.

use super::TagName;

/// The text about a tag that was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The tag.
    pub tag: TagName,
    /// The text.
    pub description: String,
}
