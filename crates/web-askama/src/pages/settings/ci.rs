//! Variables, triggers and runners of a project.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::page::ProjectPage;
use hexforge_application::runner::administer::{self, RunnerChanges};
use hexforge_application::runner::manage;
use hexforge_application::{project, trigger, variable};
use hexforge_domain::build::Tags;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::RunnerId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::runner::Runner;
use hexforge_domain::text::{limit, within_field};

use super::super::project::other_spelling;
use super::{administered, after_button, frame, to_page};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::{Choice, Form};
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/variables", variables);
    pages.post("/{namespace}/{project}/variables", add_variable);
    pages.post("/{namespace}/{project}/variables/update", update_variable);
    pages.post("/{namespace}/{project}/variables/remove", remove_variable);
    pages.get("/{namespace}/{project}/triggers", triggers);
    pages.post("/{namespace}/{project}/triggers", add_trigger);
    pages.post("/{namespace}/{project}/triggers/remove", remove_trigger);
    pages.get("/{namespace}/{project}/runners", runners);
    pages.post("/{namespace}/{project}/runners/token", rotate_token);
    pages.post("/{namespace}/{project}/runners/enable", enable_runner);
    pages.get("/{namespace}/{project}/runners/{id}/edit", edit_runner);
    pages.post("/{namespace}/{project}/runners/{id}/edit", save_runner);
    pages.post("/{namespace}/{project}/runners/{id}/{action}", change_runner);
}

#[derive(Template)]
#[template(path = "variables.html")]
struct VariablesPage {
    frame: Frame,
    base: String,
    faults: Faults,
    key: String,
    keys: Vec<String>,
    pager: Pager,
}

/// The keys of the variables. Their values are never shown.
async fn load_variables(visit: &Visit) -> PageResult<(Viewer, (ProjectPage, Paged<String>))> {
    let (named, page) = (visit.project(), visit.page());
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            let found = variable::list(app, viewer.actor(), &named, page)?;
            Ok((project, found.map(|variable| variable.key)))
        })
        .await
}

async fn variables(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (project, keys)) = load_variables(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    Ok(show_variables(&visit, &viewer, StatusCode::OK, (project, keys), Faults::default()))
}

fn show_variables(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (project, keys): (ProjectPage, Paged<String>),
    faults: Faults,
) -> HttpResponse {
    let page = VariablesPage {
        frame: frame(visit, viewer, &project, "Variables"),
        base: format!("/{}", project.path()),
        faults,
        key: visit.form().text("key").to_owned(),
        pager: Pager::new(visit, keys.total),
        keys: keys.items,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn add_variable(visit: Visit) -> PageResult<HttpResponse> {
    let (named, form) = (visit.project(), visit.form());
    let (key, value) = (form.text("key").to_owned(), form.raw("value").to_owned());
    let (_, added) = visit
        .submit(move |app, signed_in| {
            variable::create(app, signed_in.actor, &named, &key, &value).map(drop)
        })
        .await?;
    match added {
        Ok(()) => to_page(&visit, "variables", Notice::Created),
        Err(faults) => {
            let (viewer, loaded) = load_variables(&visit).await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(show_variables(&visit, &viewer, status, loaded, faults))
        }
    }
}

/// Replaces the value of a variable.
async fn update_variable(visit: Visit) -> PageResult<HttpResponse> {
    let (named, form) = (visit.project(), visit.form());
    let (key, value) = (form.text("key").to_owned(), form.raw("value").to_owned());
    let (_, changed) = visit
        .submit(move |app, signed_in| {
            variable::update(app, signed_in.actor, &named, &key, Some(&value)).map(drop)
        })
        .await?;
    match changed {
        Ok(()) => to_page(&visit, "variables", Notice::Saved),
        Err(faults) => {
            let (viewer, loaded) = load_variables(&visit).await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(show_variables(&visit, &viewer, status, loaded, faults))
        }
    }
}

async fn remove_variable(visit: Visit) -> PageResult<HttpResponse> {
    let (named, key) = (visit.project(), visit.form().text("key").to_owned());
    let (_, removed) = visit
        .submit(move |app, signed_in| {
            variable::delete(app, signed_in.actor, &named, &key).map(drop)
        })
        .await?;
    after_button(&visit, "variables", removed, Notice::Removed)
}

/// A trigger in the table.
struct TriggerRow {
    id: i64,
    token: String,
    used: Option<Moment>,
}

#[derive(Template)]
#[template(path = "triggers.html")]
struct TriggersPage {
    frame: Frame,
    base: String,
    address: String,
    rows: Vec<TriggerRow>,
    pager: Pager,
}

async fn triggers(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (visit.project(), visit.page());
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            Ok((project, trigger::list(app, viewer.actor(), &named, page)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let frame = frame(&visit, &viewer, &project, "Triggers");
    let row = |view: &trigger::TriggerView| TriggerRow {
        id: view.trigger.id.0,
        token: view.token.reveal().to_owned(),
        used: view.trigger.last_used_at.map(|at| frame.moment(at)),
    };
    let id = project.placed.project.id;
    let page = TriggersPage {
        base: format!("/{}", project.path()),
        address: visit.links().to(&format!("/api/v3/projects/{id}/trigger/builds")),
        rows: found.items.iter().map(row).collect(),
        pager: Pager::new(&visit, found.total),
        frame,
    };
    Ok(render::unstored(render::page_with(StatusCode::OK, &visit, &viewer, &page)))
}

async fn add_trigger(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (_, added) = visit
        .submit(move |app, signed_in| trigger::create(app, signed_in.actor, &named).map(drop))
        .await?;
    after_button(&visit, "triggers", added, Notice::Created)
}

async fn remove_trigger(visit: Visit) -> PageResult<HttpResponse> {
    let (named, token) = (visit.project(), visit.form().text("trigger").to_owned());
    let (_, removed) = visit
        .submit(move |app, signed_in| {
            trigger::delete(app, signed_in.actor, &named, &token).map(drop)
        })
        .await?;
    after_button(&visit, "triggers", removed, Notice::Removed)
}

/// A runner in the table.
struct RunnerRow {
    id: i64,
    description: String,
    kind: &'static str,
    tags: String,
    is_active: bool,
    is_specific: bool,
    contacted: Option<Moment>,
}

#[derive(Template)]
#[template(path = "runners.html")]
struct RunnersPage {
    frame: Frame,
    base: String,
    address: String,
    token: String,
    rows: Vec<RunnerRow>,
    pager: Pager,
    /// The runners of other projects that the visitor may enable.
    others: Vec<Choice>,
}

/// The maximum number of runners to choose from.
const MAX_OTHERS: u64 = 100;

async fn runners(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (visit.project(), visit.page());
    let (viewer, (project, token, found, others)) = visit
        .run(move |app, viewer| {
            let page_of = administered(app, viewer.actor(), &named)?;
            if !page_of.may_build(CiAbility::Administer) {
                return Err(Error::NotFound(Entity::Record));
            }
            let token = project::get(app, viewer.actor(), &named)?.runners_token;
            let found = administer::list_of_project(app, viewer.actor(), &named, None, page)?;
            let first = Page::Numbered { number: 1, size: MAX_OTHERS };
            let others = administer::list_own(app, viewer.actor(), None, first)?;
            Ok((page_of, token, found, others.items))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let frame = frame(&visit, &viewer, &project, "Runners");
    let row = |runner: &Runner| RunnerRow {
        id: runner.id.0,
        description: runner.description.clone(),
        kind: if runner.shared { "Shared" } else { "Specific" },
        tags: runner.tags.iter().collect::<Vec<_>>().join(", "),
        is_active: runner.active,
        is_specific: !runner.shared,
        contacted: runner.contacted_at.map(|at| frame.moment(at)),
    };
    let page = RunnersPage {
        base: format!("/{}", project.path()),
        address: visit.links().to("/ci"),
        token: token.map(|token| token.reveal().to_owned()).unwrap_or_default(),
        rows: found.items.iter().map(row).collect(),
        pager: Pager::new(&visit, found.total),
        others: others
            .iter()
            .filter(|other| !other.locked && found.items.iter().all(|one| one.id != other.id))
            .map(|other| {
                let label = format!("#{} {}", other.id, other.description);
                Choice::new(other.id.to_string(), label.trim(), false)
            })
            .collect(),
        frame,
    };
    Ok(render::unstored(render::page_with(StatusCode::OK, &visit, &viewer, &page)))
}

/// Gives the project a runner of another project.
async fn enable_runner(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), hexforge_domain::id::parse(visit.form().text("runner")));
    let id = RunnerId(id.unwrap_or(0));
    let (_, done) = visit
        .submit(move |app, signed_in| {
            administered(app, signed_in.actor, &named)?;
            administer::enable(app, signed_in.actor, &named, id).map(drop)
        })
        .await?;
    after_button(&visit, "runners", done, Notice::Saved)
}

/// The fields of a runner, as the forms of projects and of administrators show them.
pub(in crate::pages) struct RunnerForm {
    pub(in crate::pages) description: String,
    pub(in crate::pages) tags: String,
    pub(in crate::pages) is_active: bool,
    pub(in crate::pages) takes_untagged: bool,
    pub(in crate::pages) is_locked: bool,
}

impl RunnerForm {
    /// What is stored, or what was typed.
    pub(in crate::pages) fn new(visit: &Visit, runner: &Runner) -> Self {
        let form = visit.form();
        if form.given("description").is_some() {
            return Self {
                description: form.raw("description").to_owned(),
                tags: form.raw("tags").to_owned(),
                is_active: form.is_set("active"),
                takes_untagged: form.is_set("run_untagged"),
                is_locked: form.is_set("locked"),
            };
        }
        Self {
            description: runner.description.clone(),
            tags: runner.tags.iter().collect::<Vec<_>>().join(", "),
            is_active: runner.active,
            takes_untagged: runner.run_untagged,
            is_locked: runner.locked,
        }
    }

    /// The changes of the form.
    pub(in crate::pages) fn changes(form: &Form) -> Result<RunnerChanges, FieldErrors> {
        let (description, tags) = (form.text("description"), form.text("tags"));
        within_field("description", description, limit::SHORT)?;
        within_field("tags", tags, limit::SHORT)?;
        let tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty());
        Ok(RunnerChanges {
            description: Some(description.to_owned()),
            active: Some(form.is_set("active")),
            tags: Some(tags.collect::<Tags>()),
            run_untagged: Some(form.is_set("run_untagged")),
            locked: Some(form.is_set("locked")),
        })
    }
}

#[derive(Template)]
#[template(path = "runner.html")]
struct RunnerPage {
    frame: Frame,
    base: String,
    id: i64,
    form: RunnerForm,
    faults: Faults,
}

/// A specific runner of the project, for those who may change it.
async fn load_runner(visit: &Visit) -> PageResult<(Viewer, (ProjectPage, Runner))> {
    let (named, id) = (visit.project(), RunnerId(visit.id("id")));
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            let runner = administer::find_of_project(app, viewer.actor(), &named, id)?;
            Ok((project, runner))
        })
        .await
}

async fn edit_runner(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (project, runner)) = load_runner(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    Ok(show_runner(&visit, &viewer, StatusCode::OK, (&project, &runner), Faults::default()))
}

fn show_runner(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (project, runner): (&ProjectPage, &Runner),
    faults: Faults,
) -> HttpResponse {
    let page = RunnerPage {
        frame: frame(visit, viewer, project, &format!("Runner #{}", runner.id)),
        base: format!("/{}", project.path()),
        id: runner.id.0,
        form: RunnerForm::new(visit, runner),
        faults,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn save_runner(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (project, runner)) = load_runner(&visit).await?;
    let (id, form) = (runner.id, visit.form().clone());
    let (_, saved) = visit
        .submit(move |app, signed_in| {
            administer::update(app, signed_in.actor, id, &RunnerForm::changes(&form)?).map(drop)
        })
        .await?;
    match saved {
        Ok(()) => to_page(&visit, "runners", Notice::Saved),
        Err(faults) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(show_runner(&visit, &viewer, status, (&project, &runner), faults))
        }
    }
}

async fn rotate_token(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (_, done) = visit
        .submit(move |app, signed_in| {
            manage::rotate_project_token(app, signed_in.actor, &named).map(drop)
        })
        .await?;
    after_button(&visit, "runners", done, Notice::Saved)
}

/// Pauses or resumes a specific runner, or takes it from the project. The last project of a runner removes it.
async fn change_runner(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id, action) = (visit.project(), RunnerId(visit.id("id")), visit.param("action"));
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            administered(app, actor, &named)?;
            let active = |active| RunnerChanges { active: Some(active), ..Default::default() };
            match action.as_str() {
                "pause" => administer::update(app, actor, id, &active(false)).map(drop),
                "resume" => administer::update(app, actor, id, &active(true)).map(drop),
                "remove" => administer::release(app, actor, &named, id),
                _ => Err(Error::NotFound(Entity::Record)),
            }
        })
        .await?;
    after_button(&visit, "runners", done, Notice::Saved)
}
