//! Labels with counts and subscriptions for the reader, in a bounded number of queries for any page size.

use std::collections::{HashMap, HashSet};

use hexforge_domain::id::{LabelId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::label::{Label, VisibleCounts};
use hexforge_domain::paging::Paged;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};

use crate::access::merge_request::RequestCounts;
use crate::access::tracker::Tracker;
use crate::error::Error;

/// A label with counts and subscription for its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelView {
    /// The label.
    pub label: Label,
    /// The number of issues with this label that the reader may see.
    pub counts: VisibleCounts,
    /// The number of open merge requests with this label that the reader may see.
    pub open_merge_requests: u32,
    /// Whether the reader is subscribed to the label.
    pub subscribed: bool,
}

/// Loads the view of one label.
pub fn load(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    reader: UserId,
    label: Label,
) -> Result<LabelView, Error> {
    let page = page(tx, tracker, reader, Paged { items: vec![label], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone.into())
}

/// Loads the views of a page of labels.
pub fn page(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    reader: UserId,
    labels: Paged<Label>,
) -> Result<Paged<LabelView>, Error> {
    let ids: Vec<LabelId> = labels.items.iter().map(|label| label.id).collect();
    let subscribed: HashSet<LabelId> = tx.labels().subscribed(reader, &ids)?.into_iter().collect();
    let sees_issues = tracker.allows(TrackerAbility::ReadIssues);
    let own: Option<HashMap<LabelId, VisibleCounts>> = match tracker.clearance() {
        Clearance::All => None,
        Clearance::Nothing => Some(HashMap::new()),
        Clearance::Own(user) | Clearance::ByRole(user) => {
            let own = tx.labels().count_confidential(tracker.project.id, user, &ids)?;
            Some(own.into_iter().collect())
        }
    };
    // For labels of the group, the issues of all projects in the group are counted.
    let of_group: Vec<LabelId> = labels.items.iter().filter_map(|label| label.of_group).collect();
    let of_group: HashMap<LabelId, VisibleCounts> = tx
        .group_labels()
        .counts(&of_group, tracker.audience()?, tracker.requester.today)?
        .into_iter()
        .collect();
    let open_requests: HashMap<LabelId, u32> = match tracker.request_counts() {
        RequestCounts::None => HashMap::new(),
        RequestCounts::Own(user) => {
            tx.merge_requests().open_counts(&ids, Some(user))?.into_iter().collect()
        }
        RequestCounts::All => tx.merge_requests().open_counts(&ids, None)?.into_iter().collect(),
    };
    Ok(labels.map(|label| {
        let counts = match &own {
            _ if label.of_group.is_some() => {
                of_group.get(&label.shown_id()).copied().unwrap_or_default()
            }
            _ if !sees_issues => VisibleCounts::default(),
            None => label.counts.all(),
            Some(own) => label.counts.with(own.get(&label.id).copied().unwrap_or_default()),
        };
        let open_merge_requests = open_requests.get(&label.id).copied().unwrap_or_default();
        let subscribed = subscribed.contains(&label.id);
        LabelView { counts, open_merge_requests, subscribed, label }
    }))
}
