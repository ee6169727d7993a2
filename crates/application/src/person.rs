//! The pages of a person. Everybody may see them, unless the settings of the service restrict public visibility; then
//! strangers may not. Projects, groups and events are those that the actor may see.

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::event::query::EventFeed;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::NamespaceId;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::group::{GroupAbility, GroupFacts};
use hexforge_domain::policy::snippet::PersonalSnippetFacts;
use hexforge_domain::policy::system::{Service, ServiceAbility};
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::policy::{Actor, Protected};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectOrder, ProjectScope};
use hexforge_domain::snippet::Snippet;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;
use hexforge_domain::visibility::Visibility;

use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::event::{self, FeedEntry};
use crate::view::project as project_view;

/// The entries of each list on a page.
const SHOWN: u64 = 20;

/// The days and the maximum number of events of a calendar.
const CALENDAR_DAYS: i64 = 371;
const CALENDAR_EVENTS: u32 = 5000;

/// The maximum number of groups, events and snippets that are looked through for a list.
const LOOKED_THROUGH: u64 = 200;

/// A person as all pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The account.
    pub user: User,
    namespace: NamespaceId,
}

/// The first page of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// The person.
    pub person: Person,
    /// The personal projects, most recently active first.
    pub projects: Paged<ProjectWithNamespace>,
    /// The newest events.
    pub events: Vec<FeedEntry>,
    /// The times of the events of a year, newest first.
    pub times: Vec<Timestamp>,
}

/// Whom or what the first segment of an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A user, with the stored spelling of the username.
    Person(String),
    /// A group that may be hidden, with the stored spelling of the path.
    Group(String),
}

/// Finds the user or group with a path, ignoring case.
pub fn resolve(app: &App, path: &str) -> Result<Named, Error> {
    let path = NamespacePath::stored(path.to_owned());
    let found = app.store.read(|tx| Ok::<_, Error>(tx.namespaces().find_by_path(&path)?))?;
    let namespace = found.ok_or(Error::NotFound(Entity::Record))?;
    let path = namespace.path.as_str().to_owned();
    Ok(if namespace.owner.is_some() { Named::Person(path) } else { Named::Group(path) })
}

fn find(app: &App, tx: &mut dyn Tx, actor: Actor, username: &str) -> Result<Person, Error> {
    access::require_account_ability(actor, AccountAbility::SeePage)?;
    let settings = app.current_settings(tx)?;
    if actor == Actor::Anonymous && settings.check_level(Visibility::Public).is_err() {
        return Err(Error::NotFound(Entity::User));
    }
    let path = NamespacePath::stored(username.to_owned());
    let namespace = tx.namespaces().find_by_path(&path)?;
    let namespace = namespace.ok_or(Error::NotFound(Entity::User))?;
    let owner = namespace.owner.ok_or(Error::NotFound(Entity::User))?;
    let user = tx.users().find(owner)?.ok_or(Error::NotFound(Entity::User))?;
    Ok(Person { user, namespace: namespace.id })
}

/// Returns a person.
pub fn get(app: &App, actor: Actor, username: &str) -> Result<Person, Error> {
    app.store.read(|tx| find(app, tx, actor, username))
}

/// Returns the first page of a person.
pub fn overview(app: &App, actor: Actor, username: &str) -> Result<Overview, Error> {
    let first = Page::Numbered { number: 1, size: SHOWN };
    app.store.read(|tx| {
        let person = find(app, tx, actor, username)?;
        let feed = EventFeed::Author(person.user.id);
        let since = app.clock.now() - TimeDelta::days(CALENDAR_DAYS);
        Ok(Overview {
            projects: personal_projects(app, tx, actor, &person, first)?,
            events: event::feed(app, tx, actor, feed, first)?,
            times: tx.events().times(
                &event::selection(app, actor, feed),
                since,
                CALENDAR_EVENTS,
            )?,
            person,
        })
    })
}

/// Returns a person, and the times of the events of a year, newest first.
pub fn calendar(
    app: &App,
    actor: Actor,
    username: &str,
) -> Result<(Person, Vec<Timestamp>), Error> {
    app.store.read(|tx| {
        let person = find(app, tx, actor, username)?;
        let selection = event::selection(app, actor, EventFeed::Author(person.user.id));
        let since = app.clock.now() - TimeDelta::days(CALENDAR_DAYS);
        let times = tx.events().times(&selection, since, CALENDAR_EVENTS)?;
        Ok((person, times))
    })
}

/// Returns a person, and the newest events of the person.
pub fn activity(
    app: &App,
    actor: Actor,
    username: &str,
    page: Page,
) -> Result<(Person, Vec<FeedEntry>), Error> {
    app.store.read(|tx| {
        let person = find(app, tx, actor, username)?;
        let feed = EventFeed::Author(person.user.id);
        let events = event::feed(app, tx, actor, feed, page)?;
        Ok((person, events))
    })
}

/// Returns a person, and the personal projects of the person.
pub fn projects(
    app: &App,
    actor: Actor,
    username: &str,
    page: Page,
) -> Result<(Person, Paged<ProjectWithNamespace>), Error> {
    app.store.read(|tx| {
        let person = find(app, tx, actor, username)?;
        let projects = personal_projects(app, tx, actor, &person, page)?;
        Ok((person, projects))
    })
}

fn personal_projects(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    person: &Person,
    page: Page,
) -> Result<Paged<ProjectWithNamespace>, Error> {
    let viewer = match Service.allows(actor, ServiceAbility::Administer) {
        true => ListAudience::Unrestricted,
        false => ListAudience::Viewer(access::page_viewer(actor)),
    };
    let scope = ProjectScope::InGroup { group: person.namespace, viewer };
    let filter = ProjectFilter {
        order: ProjectOrder::LastActivityAt,
        ..ProjectFilter::newest_first(scope, app.today())
    };
    let projects = tx.projects().list(&filter, page)?;
    Ok(project_view::page_with_namespaces(tx, projects)?)
}

/// Returns a person, and the groups of the person that are open to the actor or have the actor as a member.
pub fn groups(app: &App, actor: Actor, username: &str) -> Result<(Person, Vec<Namespace>), Error> {
    let (today, viewer) = (app.today(), access::page_viewer(actor));
    let page = Page::Numbered { number: 1, size: LOOKED_THROUGH };
    let of = |scope| GroupFilter {
        scope,
        skip: vec![],
        search: None,
        order: GroupOrder::Name,
        descending: false,
    };
    app.store.read(|tx| {
        let person = find(app, tx, actor, username)?;
        let joined = of(GroupScope::MemberOf(person.user.id));
        let mut groups = tx.groups().list(&joined, today, page)?.items;
        if actor.user() == Some(person.user.id) {
            return Ok((person, groups));
        }
        let own = of(GroupScope::MemberOf(viewer.user));
        let page = Page::Numbered { number: 1, size: 5 * LOOKED_THROUGH };
        let own = tx.groups().list(&own, today, page)?.items;
        groups.retain(|group| {
            let is_member = own.iter().any(|known| known.id == group.id);
            let level = is_member.then_some(AccessLevel::Guest);
            // The projects of a group do not make it visible here: looking at them takes too long.
            let facts = GroupFacts { visibility: group.visibility, level, sees_a_project: false };
            facts.allows(actor, GroupAbility::Read)
        });
        Ok((person, groups))
    })
}

/// Returns a person, and the projects in which the person acted lately.
pub fn contributed(
    app: &App,
    actor: Actor,
    username: &str,
) -> Result<(Person, Vec<ProjectWithNamespace>), Error> {
    app.store.read(|tx| {
        let person = find(app, tx, actor, username)?;
        let selection = event::selection(app, actor, EventFeed::Author(person.user.id));
        let page = Page::Numbered { number: 1, size: LOOKED_THROUGH };
        let events = tx.events().select(&selection, page)?;
        let projects = sorted_unique(events.iter().map(|event| event.project));
        let projects = tx.projects().find_all(&projects)?;
        let projects = project_view::page_with_namespaces(tx, Paged { total: 0, items: projects })?;
        Ok((person, projects.items))
    })
}

/// Returns a person, and the newest personal snippets that the actor may see.
pub fn snippets(app: &App, actor: Actor, username: &str) -> Result<(Person, Vec<Snippet>), Error> {
    app.store.read(|tx| {
        let person = find(app, tx, actor, username)?;
        let page = Page::Numbered { number: 1, size: LOOKED_THROUGH };
        let mut snippets = tx.snippets().personal(person.user.id, page)?.items;
        let written_by_actor = actor.user() == Some(person.user.id);
        snippets.retain(|&Snippet { visibility, .. }| {
            PersonalSnippetFacts { visibility, written_by_actor }.is_read_by(actor)
        });
        Ok((person, snippets))
    })
}

/// Returns the public SSH keys of a person, newest first.
pub fn keys(app: &App, actor: Actor, username: &str) -> Result<Vec<String>, Error> {
    app.store.read(|tx| {
        let person = find(app, tx, actor, username)?;
        let page = Page::Numbered { number: 1, size: LOOKED_THROUGH };
        let keys = tx.keys().list(person.user.id, page)?;
        Ok(keys.items.into_iter().map(|key| key.key).collect())
    })
}
