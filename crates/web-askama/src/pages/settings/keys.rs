//! Deploy keys.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::deploy_key::{self, DeployKeyFields};
use hexforge_application::project::page::ProjectPage;
use hexforge_domain::deploy_key::DeployKey;
use hexforge_domain::id::KeyId;
use hexforge_domain::paging::Paged;

use super::super::project::other_spelling;
use super::{administered, after_button, frame, to_page};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const PAGE: &str = "deploy_keys";

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/deploy_keys", show);
    pages.post("/{namespace}/{project}/deploy_keys", add);
    pages.post("/{namespace}/{project}/deploy_keys/{id}/remove", remove);
}

/// A key in the list.
struct Row {
    id: i64,
    title: String,
    fingerprint: String,
    created: Moment,
}

#[derive(Template)]
#[template(path = "deploy_keys.html")]
struct KeysPage {
    frame: Frame,
    base: String,
    faults: Faults,
    title: String,
    key: String,
    rows: Vec<Row>,
    pager: Pager,
}

type Loaded = (ProjectPage, Paged<DeployKey>);

async fn load(visit: &Visit) -> PageResult<(Viewer, Loaded)> {
    let (named, page) = (visit.project(), visit.page());
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            Ok((project, deploy_key::list(app, viewer.actor(), &named, page)?))
        })
        .await
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    Ok(page(&visit, &viewer, StatusCode::OK, loaded, Faults::default()))
}

fn page(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (project, keys): Loaded,
    faults: Faults,
) -> HttpResponse {
    let frame = frame(visit, viewer, &project, "Deploy keys");
    let row = |key: &DeployKey| Row {
        id: key.id.0,
        title: key.title.as_str().to_owned(),
        fingerprint: key.fingerprint.0.clone(),
        created: frame.moment(key.created_at),
    };
    let page = KeysPage {
        base: format!("/{}", project.path()),
        faults,
        title: visit.form().text("title").to_owned(),
        key: visit.form().text("key").to_owned(),
        rows: keys.items.iter().map(row).collect(),
        pager: Pager::new(visit, keys.total),
        frame,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn add(visit: Visit) -> PageResult<HttpResponse> {
    let (named, form) = (visit.project(), visit.form());
    let fields = DeployKeyFields {
        title: Some(form.text("title").to_owned()),
        key: Some(form.text("key").to_owned()),
    };
    let (_, added) = visit
        .submit(move |app, signed_in| deploy_key::add(app, signed_in.actor, &named, &fields))
        .await?;
    match added {
        Ok(_) => to_page(&visit, PAGE, Notice::Created),
        Err(faults) => {
            let (viewer, loaded) = load(&visit).await?;
            Ok(page(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, loaded, faults))
        }
    }
}

async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), KeyId(visit.id("id")));
    let (_, removed) = visit
        .submit(move |app, signed_in| deploy_key::disable(app, signed_in.actor, &named, id))
        .await?;
    after_button(&visit, PAGE, removed, Notice::Removed)
}
