//! Reads the activity feeds.

use hexforge_domain::id::UserId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::project::ProjectRef;

use crate::access;
use crate::access::tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::event::{self as view, EventView};

/// Lists the activity of a user, newest first.
pub fn list_of_user(
    app: &App,
    actor: Actor,
    author: UserId,
    page: Page,
) -> Result<Paged<EventView>, Error> {
    access::require_account_ability(actor, AccountAbility::Read)?;
    app.store.read(|tx| {
        let author = tx.users().find(author)?.ok_or(Error::NotFound(Entity::User))?;
        let (viewer, clearance) = (access::viewer(actor)?, tracker::clearance(actor));
        let events = tx.events().authored_by(author.id, viewer, clearance, app.today(), page)?;
        Ok(view::page(tx, events)?)
    })
}

/// Lists the activity in a project, newest first.
pub fn list_of_project(
    app: &App,
    actor: Actor,
    project: &ProjectRef,
    page: Page,
) -> Result<Paged<EventView>, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let tracker = requester.tracker(tx, project)?;
        let clearance = tracker.clearance();
        let events =
            tx.events().of_project(tracker.project.id, clearance, requester.today, page)?;
        Ok(view::page(tx, events)?)
    })
}
