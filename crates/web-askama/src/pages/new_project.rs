//! New projects: created, imported, or forked.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue, LOCATION};
use askama::Template;
use hexforge_application::error::Error;
use hexforge_application::namespace;
use hexforge_application::project::fields::ProjectFields;
use hexforge_application::project::fork::{self, ForkTarget};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::project::{create, import};
use hexforge_domain::id::NamespaceId;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::repository::task::ImportState;
use hexforge_domain::visibility::Visibility;

use super::explore::visibility_name;
use super::project::{frame_of, other_spelling};
use super::settings::base_of;
use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::forms::{Choice, Form};
use crate::frame::{Frame, Pager};
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const REFRESH: HeaderName = HeaderName::from_static("refresh");

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/projects/new", form);
    pages.post("/projects/new", create_project);
    pages.get("/{namespace}/{project}/import", show_import);
    pages.post("/{namespace}/{project}/import", import_again);
    pages.get("/{namespace}/{project}/forks", forks);
    pages.get("/{namespace}/{project}/forks/new", fork_form);
    pages.post("/{namespace}/{project}/forks/new", create_fork);
}

#[derive(Template)]
#[template(path = "new_project.html")]
struct NewProjectPage {
    frame: Frame,
    faults: Faults,
    project_name: String,
    path: String,
    namespaces: Vec<Choice>,
    description: String,
    visibility: Vec<Choice>,
    import_url: String,
}

/// The choices of a visibility level.
pub(super) fn visibility_choices(chosen: Option<i64>) -> Vec<Choice> {
    let choice = |visibility: Visibility| {
        let level = visibility.level();
        Choice::new(level.to_string(), visibility_name(visibility), chosen == Some(level.into()))
    };
    Visibility::ALL.into_iter().map(choice).collect()
}

/// The choices of a namespace. The first one, which is the own, is chosen unless another is given.
fn namespace_choices(namespaces: &[Namespace], chosen: Option<&str>) -> Vec<Choice> {
    let is_known = |id: &&str| namespaces.iter().any(|known| known.id.to_string() == **id);
    let chosen = chosen.filter(is_known);
    let choice = |(at, namespace): (usize, &Namespace)| {
        let id = namespace.id.to_string();
        let is_chosen = chosen.map_or(at == 0, |chosen| chosen == id);
        Choice::new(id, namespace.path.as_str(), is_chosen)
    };
    namespaces.iter().enumerate().map(choice).collect()
}

/// What the form needs: the namespaces, and the default visibility level.
type Offer = (Vec<Namespace>, Visibility);

async fn offer(visit: &Visit) -> PageResult<(Viewer, Offer)> {
    visit
        .run_signed_in(|app, signed_in| {
            let namespaces = namespace::list_for_new_projects(app, signed_in.actor)?;
            Ok((namespaces, app.application_settings.newest().default_project_visibility))
        })
        .await
}

async fn form(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, offer) = offer(&visit).await?;
    Ok(show_form(&visit, &viewer, StatusCode::OK, offer, Faults::default()))
}

fn show_form(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (namespaces, default): Offer,
    faults: Faults,
) -> HttpResponse {
    let form = visit.form();
    let namespace = form.given("namespace_id").or(visit.query("namespace_id"));
    let level = form.given("visibility_level").and_then(|level| level.parse().ok());
    let page = NewProjectPage {
        frame: Frame::new(visit, viewer, "New project"),
        faults,
        project_name: form.text("name").to_owned(),
        path: form.text("path").to_owned(),
        namespaces: namespace_choices(&namespaces, namespace),
        description: form.text("description").to_owned(),
        visibility: visibility_choices(level.or(Some(default.level().into()))),
        import_url: form.text("import_url").to_owned(),
    };
    render::page_with(status, visit, viewer, &page)
}

/// A field that was filled in.
pub(super) fn filled(form: &Form, name: &str) -> Option<String> {
    form.given(name).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The namespace that a form names. Text that is no id names none that exists.
fn chosen_namespace(form: &Form) -> Option<NamespaceId> {
    filled(form, "namespace_id").map(|id| NamespaceId(id.parse().unwrap_or(0)))
}

async fn create_project(visit: Visit) -> PageResult<HttpResponse> {
    let form = visit.form();
    let fields = ProjectFields {
        name: Some(form.text("name").to_owned()),
        path: filled(form, "path"),
        description: filled(form, "description"),
        visibility_level: filled(form, "visibility_level"),
        import_url: filled(form, "import_url"),
        ..ProjectFields::default()
    };
    let (namespace, is_import) = (chosen_namespace(form), fields.import_url.is_some());
    let (_, made) = visit
        .submit(move |app, signed_in| {
            let made = create::create_own(app, signed_in.actor, namespace, &fields)?;
            Ok(made.place.path_of(&made.project))
        })
        .await?;
    match made {
        // The page of the import has a status of its own.
        Ok(path) if is_import => Ok(render::see_other(&format!("/{path}/import")).finish()),
        Ok(path) => Ok(render::see_other_with(&visit, &format!("/{path}"), Notice::Created)),
        Err(faults) => {
            let (viewer, offer) = offer(&visit).await?;
            Ok(show_form(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, offer, faults))
        }
    }
}

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    frame: Frame,
    /// The reason of a failure, for those who administer the project.
    failure: Option<String>,
    is_running: bool,
    base: String,
    /// Whether the visitor may try again.
    may_retry: bool,
    import_url: String,
    faults: Faults,
}

/// Shows the progress of an import. When it is done, the home of the project is shown.
async fn show_import(visit: Visit) -> PageResult<HttpResponse> {
    show_import_with(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_import_with(
    visit: &Visit,
    status: StatusCode,
    faults: Faults,
) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (viewer, (project, state)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            Ok((project, import::state(app, viewer.actor(), &named)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(visit, &project) {
        return Ok(redirect);
    }
    let Some(state) = state else {
        let home = format!("/{}", project.path());
        return Ok(HttpResponse::Found().insert_header((LOCATION, home)).finish());
    };
    let what = "Import in progress";
    let frame = Frame::of_project(visit, &viewer, what, frame_of(&project, "Overview"));
    let (failure, is_running) = match state {
        ImportState::Started => (None, true),
        ImportState::Retrying(reason) => (Some(reason), true),
        ImportState::Failed(reason) => (Some(reason), false),
    };
    let failure = failure.filter(|_| project.may(ProjectAbility::Administer));
    let stored = project.placed.project.import_url.clone().unwrap_or_default();
    let page = ImportPage {
        failure,
        is_running,
        base: format!("/{}", project.path()),
        may_retry: !is_running && project.may(ProjectAbility::Administer),
        import_url: visit.form().given("import_url").map_or(stored, str::to_owned),
        faults,
        frame,
    };
    let mut response = render::page_with(status, visit, &viewer, &page);
    if is_running {
        response.headers_mut().insert(REFRESH, HeaderValue::from_static("5"));
    }
    Ok(response)
}

/// Imports again after a failure.
async fn import_again(visit: Visit) -> PageResult<HttpResponse> {
    let (named, url) = (visit.project(), visit.form().text("import_url").to_owned());
    let (_, done) = visit
        .submit(move |app, signed_in| import::retry(app, signed_in.actor, &named, &url))
        .await?;
    match done {
        Ok(()) => Ok(render::see_other(&format!("{}/import", base_of(&visit))).finish()),
        Err(faults) => show_import_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}

#[derive(Template)]
#[template(path = "forks.html")]
struct ForksPage {
    frame: Frame,
    base: String,
    may_fork: bool,
    paths: Vec<String>,
    total: u64,
    pager: Pager,
}

async fn forks(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (visit.project(), visit.page());
    let (viewer, (project, forks)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            Ok((project, fork::list(app, viewer.actor(), &named, page)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let page = ForksPage {
        frame: Frame::of_project(&visit, &viewer, "Forks", frame_of(&project, "Overview")),
        base: format!("/{}", project.path()),
        may_fork: project.may(ProjectAbility::DownloadCode) && viewer.signed_in().is_some(),
        paths: forks.items.iter().map(|fork| fork.place.path_of(&fork.project)).collect(),
        total: forks.total,
        pager: Pager::new(&visit, forks.total),
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "fork.html")]
struct ForkPage {
    frame: Frame,
    base: String,
    path: String,
    faults: Faults,
    namespaces: Vec<Choice>,
}

/// The project to fork, with the namespaces of the visitor. Strangers have none.
async fn fork_offer(visit: &Visit) -> PageResult<(Viewer, (ProjectPage, Vec<Namespace>))> {
    let named = visit.project();
    let (viewer, offer) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            if !project.may(ProjectAbility::DownloadCode) {
                return Err(Error::Forbidden(None));
            }
            let namespaces = match viewer.signed_in() {
                Some(signed_in) => namespace::list_for_new_projects(app, signed_in.actor)?,
                None => Vec::new(),
            };
            Ok((project, namespaces))
        })
        .await?;
    match viewer.signed_in() {
        Some(_) => Ok((viewer, offer)),
        None => Err(PageError::sign_in()),
    }
}

async fn fork_form(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (project, namespaces)) = fork_offer(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let faults = Faults::default();
    Ok(show_fork(&visit, &viewer, StatusCode::OK, (&project, &namespaces), faults))
}

fn show_fork(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (project, namespaces): (&ProjectPage, &[Namespace]),
    faults: Faults,
) -> HttpResponse {
    let frame = Frame::of_project(visit, viewer, "Fork project", frame_of(project, "Overview"));
    let path = project.path();
    let page = ForkPage {
        frame,
        base: format!("/{path}"),
        path,
        faults,
        namespaces: namespace_choices(namespaces, visit.form().given("namespace_id")),
    };
    render::page_with(status, visit, viewer, &page)
}

async fn create_fork(visit: Visit) -> PageResult<HttpResponse> {
    let (named, namespace) = (visit.project(), filled(visit.form(), "namespace_id"));
    let target = namespace.map_or(ForkTarget::Own, ForkTarget::Named);
    let (_, made) = visit
        .submit(move |app, signed_in| {
            let made = fork::create(app, signed_in.actor, &named, &target)?;
            Ok(made.place.path_of(&made.project))
        })
        .await?;
    match made {
        Ok(path) => Ok(render::see_other_with(&visit, &format!("/{path}"), Notice::Created)),
        Err(faults) => {
            let (viewer, (project, namespaces)) = fork_offer(&visit).await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(show_fork(&visit, &viewer, status, (&project, &namespaces), faults))
        }
    }
}
