//! Subscriptions to issues.

use hexforge_domain::change::Change;
use hexforge_domain::id::IssueId;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::subscription::SubscriptionCommand;

use super::find_visible;
use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::view::issuable;
use crate::view::issue::{self as view, IssueView};

/// Subscribes the actor to an issue, or unsubscribes. Participants are subscribed by default.
pub fn apply(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: IssueId,
    command: SubscriptionCommand,
) -> Result<Change<IssueView>, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let issue = find_visible(tx, &tracker, id)?;
        let subscribed = issuable::subscribed(tx, user, id.into(), issue.concerns(user))?;
        let Change::Applied(state) = subscribed.apply(command) else {
            return Ok(Change::Unchanged);
        };
        tx.issuables().subscribe(id.into(), user, state)?;
        Ok(Change::Applied(view::load(tx, user, &tracker.project, issue)?))
    })
}
