//! Milestones and labels of all projects of the actor, as the dashboard shows them.

use std::collections::HashMap;

use hexforge_domain::id::ProjectId;
use hexforge_domain::label::Label;
use hexforge_domain::milestone::{Milestone, MilestoneFilter, MilestoneState};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::query::{ProjectFilter, ProjectOrder, ProjectScope};

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::view::project as project_view;

/// The maximum number of projects that are looked through: those with the last activity.
const MAX_PROJECTS: u64 = 100;

/// The maximum number of labels.
const MAX_LABELS: u32 = 1000;

/// The own projects with labels and milestones, and their paths.
fn own_projects(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
) -> Result<Vec<(ProjectId, String)>, Error> {
    let user = access::own_account(actor)?;
    let scope = ProjectScope::AuthorizedFor(user);
    let filter = ProjectFilter {
        order: ProjectOrder::LastActivityAt,
        descending: true,
        ..ProjectFilter::newest_first(scope, app.today())
    };
    let mut found =
        tx.projects().list(&filter, Page::Numbered { number: 1, size: MAX_PROJECTS })?;
    found.items.retain(|project| project.features.issues || project.features.merge_requests);
    let placed = project_view::page_with_namespaces(tx, found)?;
    let paths = placed.items.into_iter();
    Ok(paths.map(|one| (one.project.id, one.place.path_of(&one.project))).collect())
}

/// Milestones, each with the path of its project.
pub type MilestonesOfProjects = Paged<(Milestone, String)>;

/// Lists the milestones of the own projects, newest first.
pub fn milestones(
    app: &App,
    actor: Actor,
    state: Option<MilestoneState>,
    page: Page,
) -> Result<MilestonesOfProjects, Error> {
    app.store.read(|tx| {
        let projects = own_projects(app, tx, actor)?;
        let ids: Vec<ProjectId> = projects.iter().map(|(id, _)| *id).collect();
        let filter = MilestoneFilter { state, iids: None };
        let Paged { items, total } = tx.milestones().list_of(&ids, &filter, page)?;
        let paths: HashMap<ProjectId, String> = projects.into_iter().collect();
        let with_path = |milestone: Milestone| {
            let path = paths.get(&milestone.project)?.clone();
            Some((milestone, path))
        };
        Ok(Paged { items: items.into_iter().filter_map(with_path).collect(), total })
    })
}

/// Lists the labels of the own projects by title, each title once.
pub fn labels(app: &App, actor: Actor, page: Page) -> Result<Paged<Label>, Error> {
    app.store.read(|tx| {
        let projects = own_projects(app, tx, actor)?;
        let ids: Vec<ProjectId> = projects.into_iter().map(|(id, _)| id).collect();
        let mut labels = tx.labels().list_of(&ids, MAX_LABELS)?;
        labels.dedup_by(|one, other| one.title == other.title);
        Ok(page.slice(labels))
    })
}
