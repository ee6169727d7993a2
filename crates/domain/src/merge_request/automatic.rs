//! The automatic merge: a merge that waits until the pipeline of the head succeeds.

use crate::id::UserId;
use crate::text::LongText;

/// The wish to merge when the pipeline of the head succeeds. A push to the source branch revokes it. It stays when the
/// request is closed, and after the merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutomaticMerge {
    /// The user on whose behalf the request is merged.
    pub user: UserId,
    /// The message of the merge commit; `None` for the default message.
    pub message: Option<LongText>,
    /// Whether the source branch is deleted after the merge.
    pub remove_source_branch: Option<bool>,
}
