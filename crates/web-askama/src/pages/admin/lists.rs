//! Lists of administrators: projects, groups, builds and deploy keys.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::administration;
use hexforge_application::deploy_key;
use hexforge_application::group::page::{self as group_page, GroupList};
use hexforge_application::project::{self, ProjectList};

use super::super::explore::{self, Row};
use super::super::groups::{GroupRow, search_of};
use super::frame_of;
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/admin/projects", projects);
    pages.get("/admin/groups", groups);
    pages.get("/admin/builds", builds);
    pages.get("/admin/deploy_keys", deploy_keys);
    pages.get("/admin/labels", labels);
}

#[derive(Template)]
#[template(path = "admin/projects.html")]
struct ProjectsPage {
    frame: Frame,
    rows: Vec<Row>,
    total: u64,
    search: String,
    pager: Pager,
}

async fn projects(visit: Visit) -> PageResult<HttpResponse> {
    let (listing, page) = (explore::listing(&visit), visit.page());
    let (viewer, projects) = visit
        .run(move |app, viewer| {
            project::list_simple(app, viewer.actor(), ProjectList::All, &listing, page)
        })
        .await?;
    let frame = frame_of(&visit, &viewer, "Projects");
    let page = ProjectsPage {
        rows: projects.items.iter().map(|placed| Row::new(placed, &frame)).collect(),
        total: projects.total,
        search: search_of(&visit).unwrap_or_default(),
        pager: Pager::new(&visit, projects.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "admin/groups.html")]
struct GroupsPage {
    frame: Frame,
    rows: Vec<GroupRow>,
    total: u64,
    search: String,
    pager: Pager,
}

async fn groups(visit: Visit) -> PageResult<HttpResponse> {
    let (search, page) = (search_of(&visit), visit.page());
    let (viewer, groups) = visit
        .run(move |app, viewer| {
            group_page::list(app, viewer.actor(), GroupList::All, search.clone(), page)
        })
        .await?;
    let page = GroupsPage {
        frame: frame_of(&visit, &viewer, "Groups"),
        rows: groups.items.iter().map(GroupRow::new).collect(),
        total: groups.total,
        search: search_of(&visit).unwrap_or_default(),
        pager: Pager::new(&visit, groups.total),
    };
    render::page(&visit, &viewer, &page)
}

struct BuildRow {
    id: i64,
    name: String,
    status: &'static str,
    project: String,
    runner: String,
    created: Moment,
}

#[derive(Template)]
#[template(path = "admin/builds.html")]
struct BuildsPage {
    frame: Frame,
    rows: Vec<BuildRow>,
}

async fn builds(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, builds) =
        visit.run(|app, viewer| administration::builds(app, viewer.actor())).await?;
    let frame = frame_of(&visit, &viewer, "Builds");
    let row = |waiting: administration::WaitingBuild| BuildRow {
        id: waiting.view.build.id.0,
        name: waiting.view.build.name.clone(),
        status: waiting.view.build.status.as_str(),
        project: waiting.project,
        runner: waiting.view.runner.map_or_else(String::new, |runner| runner.description),
        created: frame.moment(waiting.view.build.created_at),
    };
    let rows = builds.into_iter().map(row).collect();
    render::page(&visit, &viewer, &BuildsPage { rows, frame })
}

struct KeyRow {
    title: String,
    fingerprint: String,
    created: Moment,
}

#[derive(Template)]
#[template(path = "admin/deploy_keys.html")]
struct DeployKeysPage {
    frame: Frame,
    rows: Vec<KeyRow>,
    total: u64,
    pager: Pager,
}

async fn deploy_keys(visit: Visit) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, keys) =
        visit.run(move |app, viewer| deploy_key::list_all(app, viewer.actor(), page)).await?;
    let frame = frame_of(&visit, &viewer, "Deploy keys");
    let row = |key: &hexforge_domain::deploy_key::DeployKey| KeyRow {
        title: key.title.as_str().to_owned(),
        fingerprint: key.fingerprint.0.clone(),
        created: frame.moment(key.created_at),
    };
    let page = DeployKeysPage {
        rows: keys.items.iter().map(row).collect(),
        total: keys.total,
        pager: Pager::new(&visit, keys.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "admin/labels.html")]
struct LabelsPage {
    frame: Frame,
}

/// Where labels are made. The service itself has none.
async fn labels(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run(|_, viewer| administration::authorize(viewer.actor())).await?;
    let frame = frame_of(&visit, &viewer, "Labels");
    render::page(&visit, &viewer, &LabelsPage { frame })
}
