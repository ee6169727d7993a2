//! Reading the activity feeds.

use std::collections::HashMap;

use hexforge_domain::id::UserId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::User;

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
        let viewer = access::viewer(actor)?;
        let events = tx.events().authored_by(author.id, viewer, app.today(), page)?;
        Ok(events.map(|event| EventView { event, author: author.clone() }))
    })
}

/// What happened in a project, newest first.
pub fn of_project(
    app: &App,
    actor: Actor,
    project: &ProjectRef,
    page: Page,
) -> Result<Paged<EventView>, Error> {
    app.store.read(|tx| {
        let project = access::project(tx, actor, ProjectAbility::Read, project, app.today())?;
        let events = tx.events().of_project(project.id, page)?;
        let authors: Vec<UserId> = events.items.iter().map(|event| event.author).collect();
        let authors: HashMap<UserId, User> =
            tx.users().find_all(&authors)?.into_iter().map(|user| (user.id, user)).collect();
        // Events go with their authors, so every author is there.
        let items = events
            .items
            .into_iter()
            .filter_map(|event| {
                let author = authors.get(&event.author)?.clone();
                Some(EventView { event, author })
            })
            .collect();
        Ok(Paged { items, total: events.total })
    })
}
