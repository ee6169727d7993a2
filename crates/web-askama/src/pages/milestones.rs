//! The milestones of a project.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use chrono::NaiveDate;
use hexforge_application::error::{Entity, Error};
use hexforge_application::milestone::{self, MilestoneFields};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_domain::id::MilestoneId;
use hexforge_domain::milestone::{Milestone, MilestoneCommand, MilestoneFilter, MilestoneState};
use hexforge_domain::paging::Paged;
use hexforge_domain::policy::merge_request::RequestsAbility;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::text::LongText;

use super::issues::IssueRow;
use super::project::{frame_of, other_spelling};
use super::tracker::{date, number, require_sign_in};
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::count;
use crate::prose::{Prose, ProseRenderer};
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/milestones", list);
    pages.get("/{namespace}/{project}/milestones/new", new);
    pages.post("/{namespace}/{project}/milestones", create);
    pages.get("/{namespace}/{project}/milestones/{id}", show);
    pages.get("/{namespace}/{project}/milestones/{id}/edit", edit);
    pages.post("/{namespace}/{project}/milestones/{id}/edit", update);
    pages.post("/{namespace}/{project}/milestones/{id}/state", change_state);
    pages.post("/{namespace}/{project}/milestones/{id}/delete", delete);
}

/// A milestone in a list.
pub(super) struct MilestoneRow {
    pub(super) address: String,
    pub(super) title: String,
    pub(super) is_active: bool,
    pub(super) start: Option<String>,
    pub(super) due: Option<String>,
    /// The project, in lists of several projects.
    pub(super) project: Option<String>,
}

impl MilestoneRow {
    pub(super) fn new(milestone: &Milestone, path: &str, is_of_many: bool) -> Self {
        Self {
            address: format!("/{path}/milestones/{}", milestone.id),
            title: milestone.title.as_str().to_owned(),
            is_active: milestone.state == MilestoneState::Active,
            start: milestone.start_date.map(|day| day.to_string()),
            due: milestone.due_date.map(|day| day.to_string()),
            project: is_of_many.then(|| path.to_owned()),
        }
    }
}

#[derive(Template)]
#[template(path = "milestones.html")]
struct ListPage {
    frame: Frame,
    base: String,
    tabs: [(&'static str, String, bool); 3],
    rows: Vec<MilestoneRow>,
    total: String,
    pager: Pager,
    may_administer: bool,
}

/// The state in the query: the word, and the condition.
pub(super) fn state_of(visit: &Visit) -> (&'static str, Option<MilestoneState>) {
    match visit.query("state") {
        Some("closed") => ("closed", Some(MilestoneState::Closed)),
        Some("all") => ("all", None),
        _ => ("opened", Some(MilestoneState::Active)),
    }
}

/// The tabs of a list of milestones.
pub(super) fn tabs(visit: &Visit, current: &str) -> [(&'static str, String, bool); 3] {
    [("Open", "opened"), ("Closed", "closed"), ("All", "all")]
        .map(|(name, word)| (name, visit.address_with("state", word), word == current))
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, asked) = (visit.project(), visit.page());
    let (word, state) = state_of(&visit);
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let filter = MilestoneFilter { state, iids: None };
            let found = milestone::list(app, viewer.actor(), &named, &filter, asked)?;
            Ok((project, found))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let path = project.path();
    let page = ListPage {
        frame: Frame::of_project(&visit, &viewer, "Milestones", frame_of(&project, "Issues")),
        tabs: tabs(&visit, word),
        rows: found.items.iter().map(|one| MilestoneRow::new(one, &path, false)).collect(),
        total: count(found.total, "milestone"),
        pager: Pager::new(&visit, found.total),
        may_administer: project.may_track(TrackerAbility::AdministerMilestones),
        base: format!("/{path}"),
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "milestone.html")]
struct ShowPage {
    frame: Frame,
    one: String,
    title: String,
    is_active: bool,
    start: Option<String>,
    due: Option<String>,
    /// The merge requests of the milestone, for those who may list them.
    requests: Option<String>,
    description: Prose,
    rows: Vec<IssueRow>,
    total: String,
    pager: Pager,
    may_administer: bool,
}

fn description(milestone: &Milestone) -> &str {
    milestone.description.as_ref().map_or("", LongText::as_str)
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), MilestoneId(number(&visit, "id")?));
    let asked = visit.page();
    let (viewer, (project, found, issues, text)) = visit
        .run(move |app, viewer| {
            let actor = viewer.actor();
            let project = project_page::get(app, actor, &named)?;
            let found = milestone::get(app, actor, &named, id)?;
            let issues = milestone::issues(app, actor, &named, id, asked)?;
            let text = description(&found);
            let mut renderer = ProseRenderer::new(app, actor, &named, &project.path(), &[text])?;
            let text = renderer.render(text);
            Ok((project, found, issues, text))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Paged { items, total } = issues;
    let title = found.title.as_str().to_owned();
    let frame = Frame::of_project(&visit, &viewer, &title, frame_of(&project, "Issues"));
    let page = ShowPage {
        one: format!("/{}/milestones/{id}", project.path()),
        title,
        is_active: found.state == MilestoneState::Active,
        start: found.start_date.map(|day| day.to_string()),
        due: found.due_date.map(|day| day.to_string()),
        requests: project.may_request(RequestsAbility::List).then(|| {
            let query = [("state", "all"), ("milestone_title", found.title.as_str())];
            format!("/{}/merge_requests?{}", project.path(), address::query(query))
        }),
        description: text,
        rows: items.iter().map(|view| IssueRow::new(view, &[], &frame, false)).collect(),
        total: count(total, "issue"),
        pager: Pager::new(&visit, total),
        may_administer: project.may_track(TrackerAbility::AdministerMilestones),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "milestone_form.html")]
struct FormPage {
    frame: Frame,
    heading: &'static str,
    action: String,
    button: &'static str,
    fields: Fields,
    faults: Faults,
}

/// What the form shows.
#[derive(Default)]
struct Fields {
    title: String,
    description: String,
    start_date: String,
    due_date: String,
}

impl Fields {
    fn of_form(visit: &Visit) -> Self {
        let form = visit.form();
        Self {
            title: form.text("title").to_owned(),
            description: form.raw("description").to_owned(),
            start_date: form.text("start_date").to_owned(),
            due_date: form.text("due_date").to_owned(),
        }
    }
}

/// Loads the project, and the milestone that is edited. Both are hidden from those who may not change milestones.
fn load(
    app: &hexforge_application::app::App,
    actor: hexforge_domain::policy::Actor,
    named: &hexforge_domain::project::ProjectRef,
    id: Option<MilestoneId>,
) -> Result<(ProjectPage, Option<Milestone>), Error> {
    let project = project_page::get(app, actor, named)?;
    if !project.may_track(TrackerAbility::AdministerMilestones) {
        return Err(Error::NotFound(Entity::Record));
    }
    let found = id.map(|id| milestone::get(app, actor, named, id)).transpose()?;
    Ok((project, found))
}

fn show_form(
    visit: &Visit,
    viewer: &Viewer,
    (project, milestone): &(ProjectPage, Option<Milestone>),
    fields: Fields,
    faults: Faults,
) -> HttpResponse {
    let base = format!("/{}/milestones", project.path());
    let (heading, button, action) = match milestone {
        Some(one) => ("Edit milestone", "Save changes", format!("{base}/{}/edit", one.id)),
        None => ("New milestone", "Create milestone", base),
    };
    let is_right = faults.is_empty();
    let frame = Frame::of_project(visit, viewer, heading, frame_of(project, "Issues"));
    let page = FormPage { frame, heading, action, button, fields, faults };
    let status = if is_right { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    render::page_with(status, visit, viewer, &page)
}

async fn new(visit: Visit) -> PageResult<HttpResponse> {
    require_sign_in(&visit).await?;
    let named = visit.project();
    let (viewer, loaded) =
        visit.run_signed_in(move |app, who| load(app, who.actor, &named, None)).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    Ok(show_form(&visit, &viewer, &loaded, Fields::default(), Faults::default()))
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    store(visit, None).await
}

async fn update(visit: Visit) -> PageResult<HttpResponse> {
    let id = MilestoneId(number(&visit, "id")?);
    store(visit, Some(id)).await
}

/// The dates of the form: the first day, and the last.
fn dates(visit: &Visit) -> Result<(Option<NaiveDate>, Option<NaiveDate>), Faults> {
    let (start, due) = (date(visit, "start_date")?, date(visit, "due_date")?);
    match (start, due) {
        (Some(start), Some(due)) if due < start => {
            Err(Faults::of_field("due_date", "must be greater than start date"))
        }
        dates => Ok(dates),
    }
}

/// Stores a new or an edited milestone.
async fn store(visit: Visit, id: Option<MilestoneId>) -> PageResult<HttpResponse> {
    let typed = Fields::of_form(&visit);
    let dates = dates(&visit);
    let (title, text) = (typed.title.clone(), typed.description.clone());
    let named = visit.project();
    let (viewer, (loaded, stored)) = visit
        .run_signed_in(move |app, who| {
            let loaded = load(app, who.actor, &named, id)?;
            let (start_date, due_date) = match &dates {
                Ok((start, due)) => (Some(*start), Some(*due)),
                Err(faults) => return Ok((loaded, Err(faults.clone()))),
            };
            let fields = MilestoneFields {
                title: Some(title.clone()),
                description: Some(text.clone()),
                start_date,
                due_date,
                command: None,
            };
            let stored = match id {
                Some(id) => milestone::update(app, who.actor, &named, id, &fields),
                None => milestone::create(app, who.actor, &named, &fields),
            };
            match stored {
                Ok(stored) => Ok((loaded, Ok(stored))),
                Err(error) => Ok((loaded, Err(Faults::of(error)?))),
            }
        })
        .await?;
    match stored {
        Ok(stored) => {
            let address = format!("/{}/milestones/{}", loaded.0.path(), stored.id);
            let notice = if id.is_some() { Notice::Saved } else { Notice::Created };
            Ok(render::see_other_with(&visit, &address, notice))
        }
        Err(faults) => Ok(show_form(&visit, &viewer, &loaded, typed, faults)),
    }
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), MilestoneId(number(&visit, "id")?));
    let (viewer, loaded) =
        visit.run(move |app, who| load(app, who.actor(), &named, Some(id))).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    let fields = match &loaded.1 {
        Some(one) => Fields {
            title: one.title.as_str().to_owned(),
            description: description(one).to_owned(),
            start_date: one.start_date.map(|day| day.to_string()).unwrap_or_default(),
            due_date: one.due_date.map(|day| day.to_string()).unwrap_or_default(),
        },
        None => Fields::default(),
    };
    Ok(show_form(&visit, &viewer, &loaded, fields, Faults::default()))
}

async fn change_state(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), MilestoneId(number(&visit, "id")?));
    let command = match visit.form().text("state_event") {
        "close" => Some(MilestoneCommand::Close),
        "activate" => Some(MilestoneCommand::Activate),
        _ => None,
    };
    let (_, project) = visit
        .run_signed_in(move |app, who| {
            let (project, _) = load(app, who.actor, &named, Some(id))?;
            let fields = MilestoneFields { command, ..MilestoneFields::default() };
            milestone::update(app, who.actor, &named, id, &fields)?;
            Ok(project)
        })
        .await?;
    let address = format!("/{}/milestones/{id}", project.path());
    Ok(render::see_other_with(&visit, &address, Notice::Saved))
}

async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), MilestoneId(number(&visit, "id")?));
    let (_, project) = visit
        .run_signed_in(move |app, who| {
            let (project, _) = load(app, who.actor, &named, Some(id))?;
            milestone::delete(app, who.actor, &named, id)?;
            Ok(project)
        })
        .await?;
    let address = format!("/{}/milestones", project.path());
    Ok(render::see_other_with(&visit, &address, Notice::Removed))
}
