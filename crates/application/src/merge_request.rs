//! Merge requests: reads and deletes them.

pub mod activity;
pub mod automatic;
pub(crate) mod build;
pub mod changes;
pub mod closing;
pub mod commands;
pub mod comments;
pub mod create;
mod editor;
pub mod fields;
pub mod fork;
pub(crate) mod found;
pub mod head;
pub mod merge;
pub(crate) mod own_commits;
pub mod page;
pub mod refresh;
pub(crate) mod source;
pub mod subscription;
pub mod update;
pub mod version;

use hexforge_domain::id::MergeRequestId;
use hexforge_domain::merge_request::query::{
    MergeRequestFilter, MergeRequestOrder, RequestScope, StateFilter,
};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::{MergeRequestAbility, RequestsAbility};
use hexforge_domain::project::ProjectRef;

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::view::merge_request::{self as view, MergeRequestView};
pub(crate) use editor::RequestEditor;

/// The filter and order of a list of merge requests in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeRequestListing {
    pub states: StateFilter,
    pub iids: Option<Vec<i64>>,
    pub order: MergeRequestOrder,
    pub ascending: bool,
}

/// Lists the merge requests into a project.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    listing: MergeRequestListing,
    page: Page,
) -> Result<Paged<MergeRequestView>, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require_requests(RequestsAbility::List)?;
        let MergeRequestListing { states, iids, order, ascending } = listing;
        let (project, descending) = (tracker.project.id, !ascending);
        let all = MergeRequestFilter::newest_first(RequestScope::Project(project));
        let filter = MergeRequestFilter { states, iids, order, descending, ..all };
        let requests = tx.merge_requests().list(&filter, page)?;
        Ok(view::page(tx, user, Some(&tracker.project), requests)?)
    })
}

/// Returns one merge request.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<MergeRequestView, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let request = tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
        Ok(view::load(tx, user, &tracker.project, request)?)
    })
}

/// Deletes a merge request, and returns its state before. The refs that keep its commits stay.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<MergeRequestView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        // A missing request is refused like one that the actor may not delete, as in the reference.
        let request = tx.merge_requests().find(tracker.project.id, id)?;
        let may = |one: &_| tracker.allows_on(MergeRequestAbility::Delete, one);
        let request = request.filter(may).ok_or(Error::Forbidden(None))?;
        let shown = view::load(tx, user, &tracker.project, request)?;
        tx.merge_requests().delete(id)?;
        Ok(shown)
    })
}
