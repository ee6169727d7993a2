//! The issue fields of a request, and their resolution to rows.

use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::{LabelId, MilestoneId, ProjectId, UserId};
use hexforge_domain::issue::{IssueCommand, Title};
use hexforge_domain::label::{LabelTitle, NewLabel};
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::text::{LongText, TooLong};

use crate::access::tracker::Tracker;
use crate::error::Error;

/// The issue fields of a request. `None` means not given.
///
/// Texts are parsed before the transaction, because parsing time grows with the text and other transactions wait for
/// the locks. Parse errors are returned only after the permission to set the fields was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueFields {
    pub title: Option<Result<Title, FieldErrors>>,
    pub description: Option<Result<LongText, TooLong>>,
    /// A user id; 0 removes the assignee.
    pub assignee: Option<i64>,
    /// A milestone id; 0 removes the milestone.
    pub milestone: Option<i64>,
    /// An empty list removes all labels.
    pub labels: Option<Result<Vec<LabelTitle>, FieldErrors>>,
    /// `Some(None)` removes the due date.
    pub due_date: Option<Option<NaiveDate>>,
    pub confidential: Option<bool>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub command: Option<IssueCommand>,
}

impl IssueFields {
    /// Returns the fields that the actor may set. The others are dropped without an error.
    pub(super) fn allowed(&self, tracker: &Tracker) -> Self {
        let mut fields = self.clone();
        if !tracker.allows(TrackerAbility::AdministerIssues) {
            (fields.assignee, fields.milestone) = (None, None);
            (fields.labels, fields.due_date) = (None, None);
        }
        if !tracker.allows(TrackerAbility::DeleteIssues) {
            (fields.created_at, fields.updated_at) = (None, None);
        }
        fields
    }

    /// Returns the given title and description, if they are valid.
    pub(super) fn texts(&self) -> [Option<&str>; 2] {
        let title = self.title.as_ref().and_then(|title| title.as_ref().ok());
        [title.map(Title::as_str), self.valid_description()]
    }

    /// Returns the given description, if it is valid.
    pub(super) fn valid_description(&self) -> Option<&str> {
        let description = self.description.as_ref()?.as_ref().ok()?;
        Some(description.as_str())
    }
}

/// Returns the assignee to set: `None` for no change, `Some(None)` to remove the assignee. A user who does not exist or
/// could not see the issue is ignored.
pub(super) fn resolve_assignee(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    given: Option<i64>,
    confidential: bool,
) -> Result<Option<Option<UserId>>, StoreError> {
    match given {
        None => Ok(None),
        Some(0) => Ok(Some(None)),
        Some(id) => {
            let Some(user) = tx.users().find(UserId(id))? else { return Ok(None) };
            let may = tracker.may_be_assigned(tx, &user, confidential)?;
            Ok(may.then_some(Some(user.id)))
        }
    }
}

/// Returns the milestone to set: `None` for no change, `Some(None)` to remove the milestone. An unknown id removes it.
pub(crate) fn resolve_milestone(
    tx: &mut dyn Tx,
    project: ProjectId,
    given: Option<i64>,
) -> Result<Option<Option<MilestoneId>>, StoreError> {
    match given {
        None => Ok(None),
        Some(id) => {
            let found = tx.milestones().find(project, MilestoneId(id))?;
            Ok(Some(found.map(|milestone| milestone.id)))
        }
    }
}

/// Returns the labels with these titles, and creates the missing ones.
pub(crate) fn find_or_create_labels(
    tx: &mut dyn Tx,
    project: ProjectId,
    titles: &[LabelTitle],
    now: Timestamp,
) -> Result<Vec<LabelId>, Error> {
    if titles.is_empty() {
        return Ok(vec![]);
    }
    let mut found = tx.labels().find_by_titles(project, titles)?;
    let is_missing = |title: &&LabelTitle| !found.iter().any(|label| label.title == **title);
    let new =
        titles.iter().filter(is_missing).map(|title| NewLabel::with_title(title.clone(), now));
    let new: Vec<NewLabel> = new.collect();
    if !new.is_empty() {
        found.extend(tx.labels().insert_all(project, new)?);
        found.sort_by(|a, b| a.title.as_str().cmp(b.title.as_str()));
    }
    Ok(found.into_iter().map(|label| label.id).collect())
}
