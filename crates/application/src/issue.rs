//! Issues: reads and deletes them.

pub mod activity;
pub mod bulk;
pub mod commands;
pub mod create;
mod editor;
pub mod fields;
pub mod mentions;
pub mod movement;
pub mod page;
mod related;
pub mod subscription;
pub mod update;

use hexforge_domain::group::GroupRef;
use hexforge_domain::id::IssueId;
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::query::{Clearance, IssueFilter, IssueOrder, IssueScope, LabelFilter};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;

use crate::access;
use crate::access::tracker::{self, Tracker};
use crate::app::App;
use crate::error::{Entity, Error};
use crate::group::audience_of;
use crate::view::issue::{self as view, IssueView};
pub(crate) use editor::Editor;

/// The filter and order of a list of issues in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueListing {
    pub open: Option<bool>,
    /// The titles of labels.
    pub labels: Vec<String>,
    pub milestone: Option<String>,
    pub iid: Option<i64>,
    pub order: IssueOrder,
    pub descending: bool,
}

impl IssueListing {
    fn filter(
        &self,
        app: &App,
        scope: IssueScope,
        clearance: Clearance,
        labels: fn(Vec<String>) -> LabelFilter,
    ) -> IssueFilter {
        IssueFilter {
            open: self.open,
            labels: (!self.labels.is_empty()).then(|| labels(self.labels.clone())),
            milestone: self.milestone.clone(),
            iid: self.iid,
            order: self.order,
            descending: self.descending,
            ..IssueFilter::newest_first(scope, clearance, app.today())
        }
    }
}

/// Lists the issues that the actor wrote, in projects that the actor may see. Issues match with any of the labels.
pub fn list_own(
    app: &App,
    actor: Actor,
    listing: &IssueListing,
    page: Page,
) -> Result<Paged<IssueView>, Error> {
    let user = access::own_account(actor)?;
    let audience = access::audience(actor)?;
    app.store.read(|tx| {
        let scope = IssueScope::AuthoredBy(user, audience);
        let filter = listing.filter(app, scope, Clearance::All, LabelFilter::Any);
        let issues = tx.issues().list(&filter, page)?;
        Ok(view::page(tx, user, None, issues)?)
    })
}

/// Lists the issues in a group's projects that the actor may see. Issues match only with all of the labels.
pub fn list_of_group(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    listing: &IssueListing,
    page: Page,
) -> Result<Paged<IssueView>, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let group = requester.group(tx, GroupAbility::Read, named)?;
        let scope = IssueScope::Group(group.id, audience_of(tx, requester, &group)?);
        let filter = listing.filter(app, scope, tracker::clearance(actor), LabelFilter::All);
        let issues = tx.issues().list(&filter, page)?;
        Ok(view::page(tx, user, None, issues)?)
    })
}

/// Lists the issues of a project that the actor may see. Issues match with any of the labels.
pub fn list_of_project(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    listing: &IssueListing,
    page: Page,
) -> Result<Paged<IssueView>, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        if !tracker.allows(TrackerAbility::ReadIssues) {
            return Ok(Paged { items: vec![], total: 0 });
        }
        let scope = IssueScope::Project(tracker.project.id);
        let filter = listing.filter(app, scope, tracker.clearance(), LabelFilter::Any);
        let issues = tx.issues().list(&filter, page)?;
        Ok(view::page(tx, user, Some(&tracker.project), issues)?)
    })
}

/// Returns one issue.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, id: IssueId) -> Result<IssueView, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let issue = find_visible(tx, &tracker, id)?;
        Ok(view::load(tx, user, &tracker.project, issue)?)
    })
}

/// Returns the issue with this id, if it exists and the actor may see it.
pub(crate) fn find_visible(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    id: IssueId,
) -> Result<Issue, Error> {
    let issue = tx.issues().find(tracker.project.id, id)?;
    issue.filter(|issue| tracker.sees(issue)).ok_or(Error::NotFound(Entity::Record))
}

/// Deletes an issue, and returns its state before.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: IssueId,
) -> Result<IssueView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::DeleteIssues)?;
        let issue = find_visible(tx, &tracker, id)?;
        let shown = view::load(tx, user, &tracker.project, issue)?;
        tx.issues().delete(id)?;
        Ok(shown)
    })
}
