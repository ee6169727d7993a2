//! The groups with which a project is shared.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::project::page::ProjectPage;
use hexforge_application::project::share::{self, ShareFields};
use hexforge_domain::id::NamespaceId;
use hexforge_domain::project::share::Share;

use super::super::members::{parse_date, role_choices};
use super::super::project::other_spelling;
use super::{administered, after_button, frame, to_page};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Choice;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const PAGE: &str = "group_links";

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/group_links", show);
    pages.post("/{namespace}/{project}/group_links", add);
    pages.post("/{namespace}/{project}/group_links/{id}/remove", remove);
}

/// A share in the table.
struct Row {
    group: i64,
    name: String,
    role: &'static str,
    expires: String,
}

#[derive(Template)]
#[template(path = "group_links.html")]
struct SharesPage {
    frame: Frame,
    base: String,
    faults: Faults,
    group: String,
    roles: Vec<Choice>,
    expires_at: String,
    rows: Vec<Row>,
}

type Loaded = (ProjectPage, Vec<Share>);

async fn load(visit: &Visit) -> PageResult<(Viewer, Loaded)> {
    let named = visit.project();
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            Ok((project, share::list(app, viewer.actor(), &named)?))
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
    (project, shares): Loaded,
    faults: Faults,
) -> HttpResponse {
    let form = visit.form();
    let row = |share: &Share| Row {
        group: share.share.group.0,
        name: share.group_name.clone(),
        role: share.share.access.as_str(),
        expires: share.share.expires_at.map(|day| day.to_string()).unwrap_or_default(),
    };
    let page = SharesPage {
        frame: frame(visit, viewer, &project, "Groups"),
        base: format!("/{}", project.path()),
        faults,
        group: form.text("group").to_owned(),
        roles: role_choices(false, form.given("role").unwrap_or("30")),
        expires_at: form.text("expires_at").to_owned(),
        rows: shares.iter().map(row).collect(),
    };
    render::page_with(status, visit, viewer, &page)
}

async fn add(visit: Visit) -> PageResult<HttpResponse> {
    let (named, form) = (visit.project(), visit.form().clone());
    let (_, added) = visit
        .submit(move |app, signed_in| {
            administered(app, signed_in.actor, &named)?;
            let fields = ShareFields {
                group_id: None,
                group_access: form.text("role").parse().ok(),
                expires_at: parse_date(form.text("expires_at"))?,
            };
            share::create_by_path(app, signed_in.actor, &named, form.text("group"), fields)
        })
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
    let (named, group) = (visit.project(), NamespaceId(visit.id("id")));
    let (_, removed) = visit
        .submit(move |app, signed_in| share::delete(app, signed_in.actor, &named, group))
        .await?;
    after_button(&visit, PAGE, removed, Notice::Removed)
}
