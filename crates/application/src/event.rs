//! Reads the activity feeds.

use std::collections::HashMap;

use hexforge_domain::event::query::{EventFeed, EventSelection};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::{ProjectRef, ProjectWithNamespace};
use hexforge_domain::unique::sorted_unique;

use crate::access;
use crate::access::tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::event::{self as view, EventView};
use crate::view::project as project_view;

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

/// An entry of a feed on a web page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEntry {
    /// The event.
    pub view: EventView,
    /// The path of its project, with the namespace.
    pub project: String,
}

/// Lists what happened in the projects that the actor is authorized for, newest first.
pub fn list_of_own_projects(app: &App, actor: Actor, page: Page) -> Result<Vec<FeedEntry>, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| feed(app, tx, actor, EventFeed::AuthorizedFor(user), page))
}

/// Loads the entries of a feed that the actor may see, newest first.
pub(crate) fn feed(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    feed: EventFeed,
    page: Page,
) -> Result<Vec<FeedEntry>, Error> {
    let events = tx.events().select(&selection(app, actor, feed), page)?;
    let projects = sorted_unique(events.iter().map(|event| event.project));
    let projects = tx.projects().find_all(&projects)?;
    let projects = project_view::page_with_namespaces(tx, Paged { total: 0, items: projects })?;
    let path = |ProjectWithNamespace { project, place }: ProjectWithNamespace| {
        (project.id, place.path_of(&project))
    };
    let paths: HashMap<ProjectId, String> = projects.items.into_iter().map(path).collect();
    let views = view::page(tx, Paged { total: 0, items: events })?;
    let entry = |view: EventView| {
        let project = paths.get(&view.event.project)?.clone();
        Some(FeedEntry { view, project })
    };
    Ok(views.items.into_iter().filter_map(entry).collect())
}

/// Returns the events of a feed that the actor may see.
pub(crate) fn selection(app: &App, actor: Actor, feed: EventFeed) -> EventSelection {
    let (viewer, clearance) = (access::page_viewer(actor), tracker::clearance(actor));
    EventSelection { feed, viewer, clearance, today: app.today() }
}
