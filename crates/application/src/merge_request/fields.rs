//! The fields of a merge request in a request, and their resolution to rows.

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::UserId;
use hexforge_domain::label::LabelTitle;
use hexforge_domain::merge_request::{MergeRequestCommand, RequestBranch, Title};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::text::{LongText, TooLong};

use crate::access::tracker::Tracker;

/// The fields of a merge request in a request. `None` means not given.
///
/// Texts are parsed before the transaction, because parsing time grows with the text and other transactions wait for
/// the locks. Parse errors are returned only after the permission to set the fields was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeRequestFields {
    pub title: Option<Result<Title, FieldErrors>>,
    pub description: Option<Result<LongText, TooLong>>,
    pub target_branch: Option<Result<RequestBranch, FieldErrors>>,
    /// A user id; 0 removes the assignee.
    pub assignee: Option<i64>,
    /// A milestone id; 0 removes the milestone.
    pub milestone: Option<i64>,
    /// An empty list removes all labels.
    pub labels: Option<Result<Vec<LabelTitle>, FieldErrors>>,
    pub command: Option<MergeRequestCommand>,
}

impl MergeRequestFields {
    /// Returns the fields without labels, milestone and assignee, unless the actor may set them.
    pub(super) fn allowed(self, may_administer: bool) -> Self {
        if may_administer {
            self
        } else {
            Self { assignee: None, milestone: None, labels: None, ..self }
        }
    }

    /// Returns the given title and description, if they are valid.
    pub(super) fn texts(&self) -> [Option<&str>; 2] {
        let title = self.title.as_ref().and_then(|title| title.as_ref().ok());
        [title.map(Title::as_str), self.valid_description()]
    }

    /// Returns the given description, if it is valid.
    pub(super) fn valid_description(&self) -> Option<&str> {
        Some(self.description.as_ref()?.as_ref().ok()?.as_str())
    }
}

/// Returns the assignee to set: `None` for no change, `Some(None)` to remove the assignee. A user who does not exist or
/// does not see the project is ignored.
pub(super) fn resolve_assignee(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    given: Option<i64>,
) -> Result<Option<Option<UserId>>, StoreError> {
    match given {
        None => Ok(None),
        Some(0) => Ok(Some(None)),
        Some(id) => {
            let Some(user) = tx.users().find(UserId(id))? else { return Ok(None) };
            Ok(tracker.is_seen_by(tx, &user)?.then_some(Some(user.id)))
        }
    }
}
