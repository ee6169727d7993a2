//! Subscriptions to merge requests.

use hexforge_domain::change::Change;
use hexforge_domain::id::MergeRequestId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::subscription::SubscriptionCommand;

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::view::issuable;
use crate::view::merge_request::{self as view, MergeRequestView};

/// Subscribes the actor to a merge request, or unsubscribes. Participants are subscribed by default.
pub fn apply(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
    command: SubscriptionCommand,
) -> Result<Change<MergeRequestView>, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let request = tracker.merge_request(tx, MergeRequestAbility::Update, id)?;
        let subscribed = issuable::subscribed(tx, user, id.into(), request.concerns(user))?;
        let Change::Applied(state) = subscribed.apply(command) else {
            return Ok(Change::Unchanged);
        };
        tx.issuables().subscribe(id.into(), user, state)?;
        Ok(Change::Applied(view::load(tx, user, &tracker.project, request)?))
    })
}
