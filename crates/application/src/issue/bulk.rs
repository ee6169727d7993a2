//! The same change of several issues of a project, as the list on their page offers it.

use hexforge_domain::issue::IssueCommand;
use hexforge_domain::label::LabelTitle;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::{IssueAbility, TrackerAbility};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::ProjectRef;

use super::Editor;
use super::fields::IssueFields;
use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::retry;

/// The maximum number of issues of one change. A list shows fewer.
const MAX_ISSUES: usize = 100;

/// What happens to each of the issues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BulkChange {
    pub command: Option<IssueCommand>,
    pub added: Option<LabelTitle>,
    pub removed: Option<LabelTitle>,
}

impl BulkChange {
    /// The titles of the labels of an issue after the change; `None` if they stay as they are.
    fn labels_after(&self, before: &[LabelTitle]) -> Option<Vec<LabelTitle>> {
        let mut titles = before.to_vec();
        titles.retain(|title| self.removed.as_ref() != Some(title));
        if let Some(added) = self.added.as_ref().filter(|added| !titles.contains(added)) {
            titles.push(added.clone());
        }
        let stays = titles.len() == before.len() && titles.iter().all(|one| before.contains(one));
        (!stays).then_some(titles)
    }
}

/// What was done before an error stopped it.
#[derive(Debug, Default)]
pub struct BulkOutcome {
    /// The number of issues that were changed, or had been as wanted already.
    pub changed: usize,
    /// Why the issues after them were not changed.
    pub error: Option<Error>,
}

/// Changes the issues with these numbers, each in a transaction of its own. Missing and hidden ones are left out.
/// # Errors
/// An error before the first change. A later one is in the outcome, because the changes before it stay.
pub fn change(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iids: &[i64],
    change: &BulkChange,
) -> Result<BulkOutcome, Error> {
    // Also without issues, a hidden project looks like a missing one.
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerIssues)
    })?;
    let mut outcome = BulkOutcome::default();
    for iid in &iids[..iids.len().min(MAX_ISSUES)] {
        let attempt = || change_one(app, actor, named, *iid, change);
        match retry::while_busy(retry::TRIES, is_busy, attempt) {
            Ok(is_found) => outcome.changed += usize::from(is_found),
            Err(error) if outcome.changed == 0 => return Err(error),
            Err(error) => return Ok(BulkOutcome { error: Some(error), ..outcome }),
        }
    }
    Ok(outcome)
}

/// Changes one issue, and returns whether it exists. The labels are read in the same transaction, so that labels which
/// others add at the same time are kept.
fn change_one(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iid: i64,
    change: &BulkChange,
) -> Result<bool, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerIssues)?;
        let found = tx.issues().find_by_iids(tracker.project.id, &[iid])?.pop();
        let Some(issue) = found.filter(|issue| tracker.sees(issue)) else { return Ok(false) };
        tracker.authorize(IssueAbility::Update, &issue).map_err(|_| Error::Forbidden(None))?;
        let labels = tx.issues().labels_of(&[issue.id])?;
        let labels: Vec<LabelTitle> = labels.into_iter().map(|(_, _, title)| title).collect();
        let labels = change.labels_after(&labels).map(Ok);
        let fields = IssueFields { command: change.command, labels, ..IssueFields::default() };
        if fields != IssueFields::default() {
            let editor = Editor { user, tracker: &tracker, now: app.clock.now() };
            editor.change(tx, issue, &fields)?;
        }
        Ok(true)
    })
}

fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Busy))
}
