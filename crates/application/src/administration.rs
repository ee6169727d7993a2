//! What administrators see of the whole service: numbers, health, queues, and builds that wait or run.

use std::collections::HashMap;

use hexforge_domain::build::Silence;
use hexforge_domain::delivery::QueueSize;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::ProjectId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::project::query::{ProjectFilter, ProjectScope};
use hexforge_domain::runner::query::{RunnerFilter, RunnerSelection};
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::UserFilter;

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::view::build::{self as build_view, BuildView};
use crate::view::project as project_view;

/// The maximum number of builds in the list.
const BUILDS: u32 = 100;

/// Checks that the actor administers the service.
pub fn authorize(actor: Actor) -> Result<(), Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)
}

/// How many rows of each kind the service has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// All users.
    pub users: u64,
    /// Blocked users.
    pub blocked: u64,
    /// All projects.
    pub projects: u64,
    /// All groups.
    pub groups: u64,
    /// All runners.
    pub runners: u64,
}

/// Counts users, projects, groups and runners.
pub fn numbers(app: &App, actor: Actor) -> Result<Numbers, Error> {
    authorize(actor)?;
    let one = Page::Numbered { number: 1, size: 1 };
    let blocked = UserFilter { blocked: true, ..UserFilter::default() };
    let groups = GroupFilter {
        scope: GroupScope::All,
        skip: vec![],
        search: None,
        order: GroupOrder::Name,
        descending: false,
    };
    let runners = RunnerFilter { selection: RunnerSelection::All, scope: None };
    app.store.read(|tx| {
        let projects = ProjectFilter::newest_first(ProjectScope::All, app.today());
        Ok(Numbers {
            users: tx.users().list(&UserFilter::default(), one)?.total,
            blocked: tx.users().list(&blocked, one)?.total,
            projects: tx.projects().list(&projects, one)?.total,
            groups: tx.groups().list(&groups, app.today(), one)?.total,
            runners: tx.runners().list(&runners, one)?.total,
        })
    })
}

/// Returns the size of the queue of hooks.
pub fn queue(app: &App, actor: Actor) -> Result<QueueSize, Error> {
    authorize(actor)?;
    app.store.read(|tx| Ok(tx.delivery_log().queue()?))
}

/// Returns whether the database answers.
pub fn is_healthy(app: &App, actor: Actor) -> Result<bool, Error> {
    authorize(actor)?;
    Ok(app.store.check_ready().is_ok())
}

/// A build in the list of all projects.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingBuild {
    /// The build.
    pub view: BuildView,
    /// The path of its project, with the namespace.
    pub project: String,
}

/// Lists the builds of all projects that wait or run, longest without a report first.
pub fn builds(app: &App, actor: Actor) -> Result<Vec<WaitingBuild>, Error> {
    authorize(actor)?;
    app.store.read(|tx| {
        let now = app.clock.now();
        let builds = tx.builds().silent_since(Silence { pending: now, running: now }, BUILDS)?;
        let projects = sorted_unique(builds.iter().map(|build| build.project));
        let projects = tx.projects().find_all(&projects)?;
        let projects = project_view::page_with_namespaces(tx, Paged { items: projects, total: 0 })?;
        let path = |ProjectWithNamespace { project, place }: ProjectWithNamespace| {
            (project.id, place.path_of(&project))
        };
        let paths: HashMap<ProjectId, String> = projects.items.into_iter().map(path).collect();
        let views = build_view::page(tx, Paged { items: builds, total: 0 })?;
        let waiting = |view: BuildView| {
            let project = paths.get(&view.build.project)?.clone();
            Some(WaitingBuild { view, project })
        };
        Ok(views.items.into_iter().filter_map(waiting).collect())
    })
}
