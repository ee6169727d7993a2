//! The environments of a project, and what was deployed to them.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::deployment::{self, DeploymentView, EnvironmentDeployments};
use hexforge_application::environment::{self, EnvironmentFields};
use hexforge_application::error::Error;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_domain::environment::Environment;
use hexforge_domain::id::EnvironmentId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::project::ProjectRef;

use super::project::{frame_of, other_spelling};
use super::settings::{base_of, to_page};
use super::tracker::number;
use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/environments", list);
    pages.get("/{namespace}/{project}/environments/new", new);
    pages.post("/{namespace}/{project}/environments", create);
    pages.get("/{namespace}/{project}/environments/{id}", show);
    pages.get("/{namespace}/{project}/environments/{id}/edit", edit);
    pages.post("/{namespace}/{project}/environments/{id}/edit", update);
    pages.post("/{namespace}/{project}/environments/{id}/delete", delete);
}

/// An environment in the table.
struct Row {
    id: i64,
    name: String,
    state: &'static str,
    url: Option<String>,
    updated: Moment,
}

impl Row {
    fn new(one: &Environment, frame: &Frame) -> Self {
        let url = one.external_url.as_ref().map(|url| url.as_str().to_owned());
        // A link leads to the web and runs nothing.
        let is_http = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        Self {
            id: one.id.0,
            name: one.name.as_str().to_owned(),
            state: one.state.as_str(),
            url: url.filter(is_http),
            updated: frame.moment(one.updated_at),
        }
    }
}

#[derive(Template)]
#[template(path = "environments.html")]
struct EnvironmentsPage {
    frame: Frame,
    base: String,
    rows: Vec<Row>,
    total: u64,
    pager: Pager,
    may_create: bool,
}

/// The project, for those who may read its environments.
fn project_of(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectPage, Error> {
    let project = project_page::get(app, actor, named)?;
    match project.may_build(CiAbility::ReadEnvironments) {
        true => Ok(project),
        false => Err(Error::Forbidden(None)),
    }
}

fn frame(visit: &Visit, viewer: &Viewer, project: &ProjectPage, what: &str) -> Frame {
    Frame::of_project(visit, viewer, what, frame_of(project, "Pipelines"))
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (visit.project(), visit.page());
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = project_of(app, viewer.actor(), &named)?;
            let found = environment::list(app, viewer.actor(), &named, page)?;
            Ok((project, found.environments))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let frame = frame(&visit, &viewer, &project, "Environments");
    let page = EnvironmentsPage {
        base: format!("/{}", project.path()),
        rows: found.items.iter().map(|one| Row::new(one, &frame)).collect(),
        total: found.total,
        pager: Pager::new(&visit, found.total),
        may_create: project.may_build(CiAbility::Run),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// A deployment in the table.
struct DeploymentRow {
    iid: i64,
    reference: String,
    sha: String,
    short: String,
    build: (i64, String),
    user: Option<String>,
    at: Moment,
}

impl DeploymentRow {
    fn new(view: &DeploymentView, frame: &Frame) -> Self {
        let sha = view.deployment.sha.to_string();
        Self {
            iid: view.deployment.iid,
            reference: view.deployment.reference.clone(),
            short: sha.chars().take(8).collect(),
            sha,
            build: (view.build.build.id.0, view.build.build.name.clone()),
            user: view.user.as_ref().map(|user| user.username.as_str().to_owned()),
            at: frame.moment(view.deployment.created_at),
        }
    }
}

#[derive(Template)]
#[template(path = "environment.html")]
struct ShowPage {
    frame: Frame,
    base: String,
    row: Row,
    deployments: Vec<DeploymentRow>,
    total: u64,
    pager: Pager,
    may_administer: bool,
    may_read_builds: bool,
}

async fn load(
    visit: &Visit,
    page: Page,
) -> PageResult<(Viewer, (ProjectPage, EnvironmentDeployments))> {
    let (named, id) = (visit.project(), EnvironmentId(number(visit, "id")?));
    visit
        .run(move |app, viewer| {
            let project = project_of(app, viewer.actor(), &named)?;
            let found = deployment::of_environment(app, viewer.actor(), &named, id, page)?;
            Ok((project, found))
        })
        .await
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (project, found)) = load(&visit, visit.page()).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let EnvironmentDeployments { environment, deployments } = found;
    let frame = frame(&visit, &viewer, &project, environment.name.as_str());
    let page = ShowPage {
        base: format!("/{}", project.path()),
        row: Row::new(&environment, &frame),
        deployments: deployments.items.iter().map(|one| DeploymentRow::new(one, &frame)).collect(),
        total: deployments.total,
        pager: Pager::new(&visit, deployments.total),
        may_administer: project.may_build(CiAbility::Administer),
        may_read_builds: project.may_build(CiAbility::ReadBuilds),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "environment_form.html")]
struct FormPage {
    frame: Frame,
    heading: &'static str,
    action: String,
    button: &'static str,
    given_name: String,
    url: String,
    faults: Faults,
}

/// Shows the form of a new environment, or that of one with this id.
fn show_form(
    visit: &Visit,
    viewer: &Viewer,
    (project, id): (&ProjectPage, Option<EnvironmentId>),
    (given_name, url): (String, String),
    faults: Faults,
) -> HttpResponse {
    let base = format!("/{}/environments", project.path());
    let (heading, button, action) = match id {
        Some(id) => ("Edit environment", "Save changes", format!("{base}/{id}/edit")),
        None => ("New environment", "Create environment", base),
    };
    let status = match faults.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let frame = frame(visit, viewer, project, heading);
    let page = FormPage { frame, heading, action, button, given_name, url, faults };
    render::page_with(status, visit, viewer, &page)
}

/// The project, for those with an ability. Strangers who see it are sent to the sign-in.
async fn allowed(visit: &Visit, ability: CiAbility) -> PageResult<(Viewer, ProjectPage)> {
    let named = visit.project();
    let (viewer, project) =
        visit.run(move |app, viewer| project_page::get(app, viewer.actor(), &named)).await?;
    if viewer.signed_in().is_none() {
        return Err(PageError::sign_in());
    }
    match project.may_build(ability) {
        true => Ok((viewer, project)),
        false => Err(PageError::not_found(viewer)),
    }
}

async fn new(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, project) = allowed(&visit, CiAbility::Run).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let empty = (String::new(), String::new());
    Ok(show_form(&visit, &viewer, (&project, None), empty, Faults::default()))
}

/// The name and the address that were typed.
fn typed(visit: &Visit) -> (String, String) {
    let text = |name: &str| visit.form().text(name).to_owned();
    (text("name"), text("external_url"))
}

fn given((name, url): (String, String)) -> EnvironmentFields {
    EnvironmentFields { name: Some(name), external_url: Some(Some(url)) }
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let (named, fields) = (visit.project(), given(typed(&visit)));
    let (_, made) =
        visit.submit(move |app, who| environment::create(app, who.actor, &named, &fields)).await?;
    match made {
        Ok(view) => {
            to_page(&visit, &format!("environments/{}", view.environment.id), Notice::Created)
        }
        Err(faults) => {
            let (viewer, project) = allowed(&visit, CiAbility::Run).await?;
            Ok(show_form(&visit, &viewer, (&project, None), typed(&visit), faults))
        }
    }
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (project, found)) = load(&visit, visit.page()).await?;
    if !project.may_build(CiAbility::Administer) {
        return Err(PageError::not_found(viewer));
    }
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let one = found.environment;
    let url = one.external_url.as_ref().map_or("", |url| url.as_str()).to_owned();
    let fields = (one.name.as_str().to_owned(), url);
    Ok(show_form(&visit, &viewer, (&project, Some(one.id)), fields, Faults::default()))
}

async fn update(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), EnvironmentId(number(&visit, "id")?));
    let fields = given(typed(&visit));
    let (_, changed) = visit
        .submit(move |app, who| environment::update(app, who.actor, &named, id, &fields))
        .await?;
    match changed {
        Ok(_) => to_page(&visit, &format!("environments/{id}"), Notice::Saved),
        Err(faults) => {
            let (viewer, project) = allowed(&visit, CiAbility::Administer).await?;
            Ok(show_form(&visit, &viewer, (&project, Some(id)), typed(&visit), faults))
        }
    }
}

async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), EnvironmentId(number(&visit, "id")?));
    visit.run_signed_in(move |app, who| environment::delete(app, who.actor, &named, id)).await?;
    let address = format!("{}/environments", base_of(&visit));
    Ok(render::see_other_with(&visit, &address, Notice::Removed))
}
