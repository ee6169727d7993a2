//! Projects: reads and removes them, and functions shared by the other project use cases.

pub mod archive;
pub mod avatar;
pub mod create;
pub mod edit;
pub mod fields;
pub mod fork;
pub mod fork_link;
pub mod hook;
pub mod import;
pub mod page;
pub mod share;
pub mod star;
pub mod upload;

use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::id::NamespaceId;
use hexforge_domain::outbox::{MemberFacts, SystemEvent, TeamFacts};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::policy::{Actor, Protected};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectOrder, ProjectScope};
use hexforge_domain::project::{AdminSettings, Project, ProjectRef, ProjectWithNamespace};
use hexforge_domain::visibility::Visibility;

use crate::access::{self, Requester};
use crate::app::App;
use crate::error::Error;
use crate::removal::Removed;
use crate::view::project::{self as view, ProjectView};
use crate::{deploy_key, merge_request};

/// The filter and order of a list of projects in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectListing {
    pub archived: Option<bool>,
    pub visibility: Option<Visibility>,
    pub search: Option<String>,
    pub order: ProjectOrder,
    pub descending: bool,
    pub builds_first: bool,
}

impl ProjectListing {
    /// Returns the filter for this scope and date.
    pub(crate) fn filter(&self, scope: ProjectScope, today: NaiveDate) -> ProjectFilter {
        ProjectFilter {
            scope,
            archived: self.archived,
            visibility: self.visibility,
            search: self.search.clone(),
            order: self.order,
            descending: self.descending,
            builds_first: self.builds_first,
            today,
        }
    }
}

/// The kinds of project lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectList {
    /// Projects that the actor is authorized for.
    Own,
    /// Projects that the actor may see.
    Visible,
    /// Projects in the actor's personal namespace and in groups that the actor owns.
    Owned,
    /// Projects that the actor starred and may see.
    Starred,
    /// Projects that the actor may see, without the actor's permissions.
    Found,
    /// All projects; for administrators.
    All,
}

impl ProjectList {
    fn scope(self, actor: Actor) -> Result<ProjectScope, Error> {
        let viewer = access::viewer(actor)?;
        Ok(match self {
            ProjectList::Own => ProjectScope::AuthorizedFor(viewer.user),
            ProjectList::Visible | ProjectList::Found => ProjectScope::VisibleTo(viewer),
            ProjectList::Owned => ProjectScope::OwnedBy(viewer.user),
            ProjectList::Starred => ProjectScope::StarredBy(viewer),
            ProjectList::All => {
                access::require_service_ability(actor, ServiceAbility::Administer)?;
                ProjectScope::All
            }
        })
    }

    /// Returns whether the list includes the actor's permissions in each project.
    fn shows_permissions(self) -> bool {
        match self {
            ProjectList::Own | ProjectList::Visible | ProjectList::Owned | ProjectList::All => true,
            ProjectList::Starred | ProjectList::Found => false,
        }
    }
}

/// Checks that the actor may request this list.
pub fn authorize_list(actor: Actor, list: ProjectList) -> Result<(), Error> {
    list.scope(actor).map(drop)
}

/// Lists projects in full.
pub fn list(
    app: &App,
    actor: Actor,
    list: ProjectList,
    listing: &ProjectListing,
    page: Page,
) -> Result<Paged<ProjectView>, Error> {
    let scope = list.scope(actor)?;
    let member = if list.shows_permissions() { actor.user() } else { None };
    app.store.read(|tx| {
        let projects = tx.projects().list(&listing.filter(scope, app.today()), page)?;
        Ok(view::full_page(tx, projects, app.requester(actor), member)?)
    })
}

/// Lists projects with few fields.
pub fn list_simple(
    app: &App,
    actor: Actor,
    list: ProjectList,
    listing: &ProjectListing,
    page: Page,
) -> Result<Paged<ProjectWithNamespace>, Error> {
    let scope = list.scope(actor)?;
    app.store.read(|tx| {
        let projects = tx.projects().list(&listing.filter(scope, app.today()), page)?;
        Ok(view::page_with_namespaces(tx, projects)?)
    })
}

/// Lists projects: the public ones for an anonymous actor, and all projects that a signed-in actor may see.
pub fn explore(
    app: &App,
    actor: Actor,
    listing: &ProjectListing,
    page: Page,
) -> Result<Paged<ProjectWithNamespace>, Error> {
    let today = app.today();
    let filter = match actor {
        Actor::Anonymous => ProjectFilter {
            visibility: Some(Visibility::Public),
            ..listing.filter(ProjectScope::All, today)
        },
        actor => listing.filter(ProjectScope::VisibleTo(access::viewer(actor)?), today),
    };
    app.store.read(|tx| {
        let projects = tx.projects().list(&filter, page)?;
        Ok(view::page_with_namespaces(tx, projects)?)
    })
}

/// Returns one project, with the actor's permissions in it.
pub fn get(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectView, Error> {
    app.store.read_autocommit(|tx| {
        let requester = app.requester(actor);
        let (found, _, facts) =
            requester.project_with_namespace(tx, ProjectAbility::Read, named)?;
        let administers = facts.allows(actor, ProjectAbility::Administer);
        let view = view::full_with_namespace(tx, found, requester, actor.user())?;
        Ok(if administers { add_admin_fields(tx, view)? } else { view })
    })
}

/// Returns the view of a created or changed project. Includes the runners token if the actor administers the project.
pub(crate) fn view_with_token(
    tx: &mut dyn Tx,
    requester: Requester,
    project: Project,
) -> Result<ProjectView, Error> {
    let facts = requester.project_facts(tx, &project)?;
    let administers = facts.allows(requester.actor, ProjectAbility::Administer);
    let view = view::full(tx, project, requester)?;
    Ok(if administers { add_admin_fields(tx, view)? } else { view })
}

/// Adds the fields that only administrators of the project may see.
fn add_admin_fields(tx: &mut dyn Tx, view: ProjectView) -> Result<ProjectView, StoreError> {
    let id = view.project.id;
    let AdminSettings { runners_token, coverage_expression, build } =
        tx.projects().admin_settings(id)?;
    Ok(ProjectView { runners_token, coverage_expression, build_settings: Some(build), ..view })
}

/// Checks that the actor administers the project, for calls that check permission before they validate the request.
pub fn authorize_administration(app: &App, actor: Actor, named: &ProjectRef) -> Result<(), Error> {
    app.store
        .read(|tx| app.requester(actor).project(tx, ProjectAbility::Administer, named).map(drop))
}

/// Removes a project with everything that belongs to it.
pub fn delete(app: &App, actor: Actor, named: &ProjectRef) -> Result<(), Error> {
    let removed = app.store.write(|tx| {
        app.requester(actor).project_header(tx, ProjectAbility::Own, named)?;
        tx.removals().begin()?;
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Own, named)?;
        let mut removed = Removed::default();
        remove_project(tx, project, (actor, app.clock.now()), &mut removed)?;
        Ok::<_, Error>(removed)
    })?;
    removed.discard_files(app);
    Ok(())
}

/// The page size for reading all projects of a namespace, or all members of a project or group.
pub(crate) const ROWS_PER_READ: usize = 200;

/// Removes all projects of a namespace that is about to be deleted.
pub(crate) fn remove_all_in(
    tx: &mut dyn Tx,
    namespace: NamespaceId,
    requester: Requester,
    now: Timestamp,
) -> Result<Removed, Error> {
    let mut removed = Removed::default();
    let filter = ProjectFilter::newest_first(
        ProjectScope::InGroup { group: namespace, viewer: ListAudience::Unrestricted },
        requester.today,
    );
    // Always the first page: its projects are deleted before the next query.
    loop {
        let projects = tx
            .projects()
            .list(&filter, Page::Numbered { number: 1, size: ROWS_PER_READ as u64 })?;
        if projects.items.is_empty() {
            return Ok(removed);
        }
        for project in projects.items {
            remove_project(tx, project, (requester.actor, now), &mut removed)?;
        }
    }
}

/// Removes a project on behalf of the actor. Records the system hook events, and queues the closing of its merge
/// requests into other projects.
fn remove_project(
    tx: &mut dyn Tx,
    project: Project,
    (actor, now): (Actor, Timestamp),
    removed: &mut Removed,
) -> Result<(), Error> {
    if let Some(user) = actor.user() {
        merge_request::fork::queue_closing(tx, &project, user, now)?;
    }
    let placed = view::with_namespace(tx, project)?;
    let facts = placed.place.facts(&placed.project);
    let id = placed.project.id;
    for number in 1.. {
        let page = Page::Numbered { number, size: ROWS_PER_READ as u64 };
        let members = tx.project_members().list(id, None, page)?.items;
        for (user, membership) in &members {
            let member = MemberFacts::new(user, membership.level, now);
            let left = TeamFacts { project: facts.clone(), member };
            tx.outbox().record(&SystemEvent::TeamMemberRemoved(left), now)?;
        }
        if members.len() < ROWS_PER_READ {
            break;
        }
    }
    deploy_key::detach_all(tx, id, now)?;
    tx.outbox().record(&SystemEvent::ProjectDestroyed(facts), now)?;
    tx.projects().delete(id)?;
    removed.add(id);
    Ok(())
}
