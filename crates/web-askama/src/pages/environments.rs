//! The environments of a project.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::environment;
use hexforge_application::error::Error;
use hexforge_application::project::page as project_page;
use hexforge_domain::environment::Environment;
use hexforge_domain::policy::ci::CiAbility;

use super::project::{frame_of, other_spelling};
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/environments", list);
}

/// An environment in the table.
struct Row {
    name: String,
    state: &'static str,
    url: Option<String>,
    updated: Moment,
}

#[derive(Template)]
#[template(path = "environments.html")]
struct EnvironmentsPage {
    frame: Frame,
    rows: Vec<Row>,
    pager: Pager,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (visit.project(), visit.page());
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            if !project.may_build(CiAbility::ReadEnvironments) {
                return Err(Error::Forbidden(None));
            }
            let found = environment::list(app, viewer.actor(), &named, page)?;
            Ok((project, found.environments))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let section = frame_of(&project, "Pipelines");
    let frame = Frame::of_project(&visit, &viewer, "Environments", section);
    let row = |one: &Environment| {
        let url = one.external_url.as_ref().map(|url| url.as_str().to_owned());
        // A link leads to the web and runs nothing.
        let is_http = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        Row {
            name: one.name.as_str().to_owned(),
            state: one.state.as_str(),
            url: url.filter(is_http),
            updated: frame.moment(one.updated_at),
        }
    };
    let page = EnvironmentsPage {
        rows: found.items.iter().map(row).collect(),
        pager: Pager::new(&visit, found.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}
