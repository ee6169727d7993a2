//! Reading the activity feeds.

use hexforge_domain::id::UserId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;

use crate::access;
use crate::app::App;
use crate::error::{Error, Thing};
use crate::view::event::EventView;

/// What a user did, newest first.
pub fn of_user(
    app: &App,
    actor: Actor,
    author: UserId,
    page: Page,
) -> Result<Paged<EventView>, Error> {
    access::accounts(actor, AccountAbility::Read)?;
    app.store.read(|tx| {
        let author = tx.users().find(author)?.ok_or(Error::NotFound(Thing::User))?;
        let events = tx.events().authored_by(author.id, page)?;
        Ok(events.map(|event| EventView { event, author: author.clone() }))
    })
}
