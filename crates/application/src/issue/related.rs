//! The merge requests that mention an issue.

use hexforge_domain::issue::Issue;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::ports::store::Tx;

use crate::access::tracker::Tracker;
use crate::error::Error;

/// The maximum number of merge requests that a page shows.
const MAX_RELATED: u32 = 20;

/// Returns the 20 merge requests of the project that mentioned the issue last, highest number first, as far as the
/// actor may read them. A request that closes the issue by its description mentions it.
pub(super) fn merge_requests(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    issue: &Issue,
) -> Result<Vec<MergeRequest>, Error> {
    let (project, reader) = (tracker.project.id, tracker.requester.note_reader()?);
    let ids = tx.notes().mentioning_requests(issue.id.into(), project, reader, MAX_RELATED)?;
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let mut found = tx.merge_requests().find_all(&ids)?;
    found.retain(|request| tracker.allows_on(MergeRequestAbility::Read, request));
    found.sort_by_key(|request| std::cmp::Reverse(request.iid));
    Ok(found)
}
