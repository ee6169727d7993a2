//! The user who changes a merge request, and the time of the change.

use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;
use hexforge_domain::project::Project;

use super::head::HeadCommit;

/// The author and time of a change, passed to every function that writes merge requests, system notes, events or hook
/// deliveries.
#[derive(Clone, Copy)]
pub(crate) struct RequestEditor<'a> {
    /// The author of the change.
    pub user: UserId,
    /// The target project.
    pub project: &'a Project,
    /// The commit of the request's head, which hook payloads show.
    pub head: &'a HeadCommit,
    /// The time of the change.
    pub now: Timestamp,
}
