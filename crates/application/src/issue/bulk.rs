//! The same change of several issues of a project, as the list on their page offers it.

use hexforge_domain::issue::IssueCommand;
use hexforge_domain::label::LabelTitle;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::project::ProjectRef;

use super::fields::IssueFields;
use super::update;
use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::view::issue::{self as view, IssueView};

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
    fn labels_of(&self, issue: &IssueView) -> Option<Vec<LabelTitle>> {
        let is_removed =
            |title: &String| self.removed.as_ref().is_some_and(|removed| removed.as_str() == title);
        let kept = issue.labels.iter().filter(|title| !is_removed(title));
        let mut titles: Vec<LabelTitle> = kept.cloned().map(LabelTitle::stored).collect();
        if let Some(added) = self.added.as_ref().filter(|added| !titles.contains(added)) {
            titles.push(added.clone());
        }
        let stays = titles.len() == issue.labels.len()
            && titles.iter().all(|title| issue.labels.iter().any(|known| known == title.as_str()));
        (!stays).then_some(titles)
    }
}

/// Changes the issues with these numbers, each in a transaction of its own. Missing and hidden ones are left out.
pub fn change(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iids: &[i64],
    change: &BulkChange,
) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    let iids = &iids[..iids.len().min(MAX_ISSUES)];
    let found = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerIssues)?;
        let mut issues = tx.issues().find_by_iids(tracker.project.id, iids)?;
        issues.retain(|issue| tracker.sees(issue));
        let total = issues.len() as u64;
        let issues = hexforge_domain::paging::Paged { items: issues, total };
        Ok::<_, Error>(view::page(tx, user, Some(&tracker.project), issues)?.items)
    })?;
    for view in found {
        let labels = change.labels_of(&view).map(Ok);
        let fields = IssueFields { command: change.command, labels, ..IssueFields::default() };
        if fields == IssueFields::default() {
            continue;
        }
        match update::update(app, actor, named, view.issue.id, &fields) {
            // Somebody removed it meanwhile.
            Ok(_) | Err(Error::NotFound(_)) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
