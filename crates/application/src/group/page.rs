//! The group of a web page: what its pages show, and what the actor may do. Strangers see the public projects of public
//! groups.

use hexforge_domain::event::query::EventFeed;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupRef, GroupScope};
use hexforge_domain::id::ProjectId;
use hexforge_domain::milestone::{Milestone, MilestoneFilter, MilestoneState};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::group::{GroupAbility, GroupFacts};
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::policy::{Actor, Protected};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::project::query::{
    ListAudience, ProjectFilter, ProjectOrder, ProjectScope, Viewer,
};

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::event::{self, FeedEntry};
use crate::project::ProjectListing;
use crate::view::project as project_view;

/// A group as its pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPage {
    /// The group.
    pub group: Namespace,
    actor: Actor,
    facts: GroupFacts,
}

impl GroupPage {
    /// Returns whether the actor may do this.
    pub fn may(&self, ability: GroupAbility) -> bool {
        self.facts.allows(self.actor, ability)
    }

    /// Returns whether the actor is a user.
    pub fn is_user(&self) -> bool {
        self.actor != Actor::Anonymous
    }

    fn load(app: &App, tx: &mut dyn Tx, actor: Actor, named: &GroupRef) -> Result<Self, Error> {
        let requester = app.requester(actor);
        let group = requester.group(tx, GroupAbility::Read, named)?;
        let facts = requester.group_facts(tx, &group)?;
        Ok(Self { group, actor, facts })
    }
}

/// Returns a group that the actor may see.
pub fn get(app: &App, actor: Actor, named: &GroupRef) -> Result<GroupPage, Error> {
    app.store.read(|tx| GroupPage::load(app, tx, actor, named))
}

/// Returns a group that the actor administers. To others, its settings do not exist.
pub fn get_to_edit(app: &App, actor: Actor, named: &GroupRef) -> Result<Namespace, Error> {
    app.store.read(|tx| app.requester(actor).group(tx, GroupAbility::Administer, named))
}

/// Returns a group, with its projects that the actor may see, and those that are shared with it.
pub fn projects(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    listing: &ProjectListing,
    page: Page,
) -> Result<(GroupPage, Paged<ProjectWithNamespace>), Error> {
    app.store.read(|tx| {
        let found = GroupPage::load(app, tx, actor, named)?;
        let viewer = if found.may(GroupAbility::ReadAllProjects) {
            ListAudience::Unrestricted
        } else {
            ListAudience::Viewer(access::page_viewer(actor))
        };
        let scope = ProjectScope::OfGroup { group: found.group.id, viewer };
        let projects = tx.projects().list(&listing.filter(scope, app.today()), page)?;
        Ok((found, project_view::page_with_namespaces(tx, projects)?))
    })
}

/// Returns a group, and what happened in its projects, newest first.
pub fn activity(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    page: Page,
) -> Result<(GroupPage, Vec<FeedEntry>), Error> {
    app.store.read(|tx| {
        let found = GroupPage::load(app, tx, actor, named)?;
        let feed = EventFeed::Namespace(found.group.id);
        let events = event::feed(app, tx, actor, feed, page)?;
        Ok((found, events))
    })
}

/// The maximum number of projects whose milestones are listed: those with the last activity.
const MAX_PROJECTS: u64 = 100;

/// The projects in a group that the actor may see, with the last activity first.
fn projects_inside(
    app: &App,
    tx: &mut dyn Tx,
    found: &GroupPage,
    page: Page,
) -> Result<Paged<ProjectWithNamespace>, Error> {
    let viewer = if found.may(GroupAbility::ReadAllProjects) {
        ListAudience::Unrestricted
    } else {
        ListAudience::Viewer(access::viewer(found.actor)?)
    };
    let filter = ProjectFilter {
        order: ProjectOrder::LastActivityAt,
        ..ProjectFilter::newest_first(
            ProjectScope::InGroup { group: found.group.id, viewer },
            app.today(),
        )
    };
    let projects = tx.projects().list(&filter, page)?;
    Ok(project_view::page_with_namespaces(tx, projects)?)
}

/// Returns a group, and the milestones of the projects in it, newest first, each with the path of its project.
pub fn milestones(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    state: Option<MilestoneState>,
    page: Page,
) -> Result<(GroupPage, Paged<(Milestone, String)>), Error> {
    access::own_account(actor)?;
    app.store.read(|tx| {
        let found = GroupPage::load(app, tx, actor, named)?;
        let first = Page::Numbered { number: 1, size: MAX_PROJECTS };
        let mut projects = projects_inside(app, tx, &found, first)?.items;
        projects.retain(|ProjectWithNamespace { project, .. }| {
            project.features.issues || project.features.merge_requests
        });
        let ids: Vec<ProjectId> = projects.iter().map(|placed| placed.project.id).collect();
        let filter = MilestoneFilter { state, iids: None };
        let Paged { items, total } = tx.milestones().list_of(&ids, &filter, page)?;
        let with_path = |milestone: Milestone| {
            let placed = projects.iter().find(|one| one.project.id == milestone.project)?;
            let path = placed.place.path_of(&placed.project);
            Some((milestone, path))
        };
        Ok((found, Paged { items: items.into_iter().filter_map(with_path).collect(), total }))
    })
}

/// The groups of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupList {
    /// The groups with a membership of the actor.
    Own,
    /// The groups that the actor may see; for strangers, the public ones.
    Visible,
    /// All groups, for administrators.
    All,
}

/// Lists groups by name.
pub fn list(
    app: &App,
    actor: Actor,
    list: GroupList,
    search: Option<String>,
    page: Page,
) -> Result<Paged<Namespace>, Error> {
    let scope = match list {
        GroupList::Own => GroupScope::MemberOf(access::own_account(actor)?),
        GroupList::Visible => {
            let Viewer { user, external } = access::page_viewer(actor);
            GroupScope::AvailableTo { user, external }
        }
        GroupList::All => {
            access::require_service_ability(actor, ServiceAbility::Administer)?;
            GroupScope::All
        }
    };
    let order = GroupOrder::Name;
    let filter = GroupFilter { scope, skip: vec![], search, order, descending: false };
    app.store.read(|tx| Ok(tx.groups().list(&filter, app.today(), page)?))
}
