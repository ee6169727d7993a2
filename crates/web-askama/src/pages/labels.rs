//! The labels of a project.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::error::{Entity, Error};
use hexforge_application::label::{self, LabelChanges, LabelFields};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::view::label::LabelView;
use hexforge_domain::label::{ColorRule, LabelRef, Priority};
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::subscription::SubscriptionCommand;

use super::project::{frame_of, other_spelling};
use super::tracker::{LabelChip, require_sign_in};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::count;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

/// The color that the form of a new label shows.
const DEFAULT_COLOR: &str = "#428BCA";

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/labels", list);
    pages.get("/{namespace}/{project}/labels/new", new);
    pages.post("/{namespace}/{project}/labels", create);
    pages.get("/{namespace}/{project}/labels/{id}/edit", edit);
    pages.post("/{namespace}/{project}/labels/{id}/edit", update);
    pages.post("/{namespace}/{project}/labels/{id}/delete", delete);
    pages.post("/{namespace}/{project}/labels/{id}/subscribe", subscribe);
    pages.post("/{namespace}/{project}/labels/{id}/unsubscribe", unsubscribe);
}

/// A label in the list.
struct Row {
    id: i64,
    chip: LabelChip,
    description: String,
    counts: String,
    subscribed: bool,
    priority: Option<i64>,
    /// Labels of a group are changed in the group.
    is_of_group: bool,
}

impl Row {
    fn new(view: &LabelView, base: &str) -> Self {
        let label = &view.label;
        let issues = count(view.counts.open.into(), "open issue");
        let requests = count(view.open_merge_requests.into(), "open merge request");
        let (title, all) = (label.title.as_str(), std::slice::from_ref(label));
        Self {
            id: label.shown_id().0,
            chip: LabelChip::new(title, all, &format!("{base}/issues")),
            description: description(view).to_owned(),
            counts: format!("{issues} · {requests}"),
            subscribed: view.subscribed,
            priority: label.priority.map(Priority::number),
            is_of_group: label.of_group.is_some(),
        }
    }
}

fn description(view: &LabelView) -> &str {
    view.label.description.as_ref().map_or("", |text| text.as_str())
}

#[derive(Template)]
#[template(path = "labels.html")]
struct ListPage {
    frame: Frame,
    base: String,
    rows: Vec<Row>,
    total: String,
    pager: Pager,
    may_administer: bool,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, asked) = (visit.project(), visit.page());
    let (viewer, (project, labels)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            if !project.may_track(TrackerAbility::ReadLabels) {
                return Err(Error::NotFound(Entity::Label));
            }
            Ok((project, label::list(app, viewer.actor(), &named, asked)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let page = ListPage {
        frame: Frame::of_project(&visit, &viewer, "Labels", frame_of(&project, "Issues")),
        rows: labels.items.iter().map(|view| Row::new(view, &base)).collect(),
        total: count(labels.total, "label"),
        pager: Pager::new(&visit, labels.total),
        may_administer: project.may_track(TrackerAbility::AdministerLabels),
        base,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "label_form.html")]
struct FormPage {
    frame: Frame,
    heading: &'static str,
    action: String,
    button: &'static str,
    is_new: bool,
    fields: Fields,
    faults: Faults,
}

/// What the form shows.
struct Fields {
    title: String,
    description: String,
    color: String,
    priority: String,
}

impl Fields {
    fn of_form(visit: &Visit) -> Self {
        let text = |name: &str| visit.form().text(name).to_owned();
        Self {
            title: text("title"),
            description: text("description"),
            color: text("color"),
            priority: text("priority"),
        }
    }

    /// The number that was typed; `None` if the field is empty.
    fn priority(&self) -> Result<Option<i64>, Faults> {
        let number = Some(self.priority.as_str()).filter(|text| !text.is_empty());
        let number = number.map(str::parse).transpose();
        number.map_err(|_| Faults::of_field("priority", "is not a number"))
    }
}

/// Loads the project, and the label that is edited. Both are hidden from those who may not change labels.
fn load(
    app: &hexforge_application::app::App,
    actor: hexforge_domain::policy::Actor,
    named: &hexforge_domain::project::ProjectRef,
    label: Option<&LabelRef>,
) -> Result<(ProjectPage, Option<LabelView>), Error> {
    let project = project_page::get(app, actor, named)?;
    if !project.may_track(TrackerAbility::AdministerLabels) {
        return Err(Error::NotFound(Entity::Label));
    }
    let label = label.map(|label| label::get(app, actor, named, label)).transpose()?;
    if label.as_ref().is_some_and(|view| view.label.of_group.is_some()) {
        return Err(Error::NotFound(Entity::Label));
    }
    Ok((project, label))
}

fn show_form(
    visit: &Visit,
    viewer: &Viewer,
    (project, label): &(ProjectPage, Option<LabelView>),
    fields: Fields,
    faults: Faults,
) -> HttpResponse {
    let base = format!("/{}", project.path());
    let (heading, button, action) = match label {
        Some(view) => {
            let action = format!("{base}/labels/{}/edit", view.label.id);
            ("Edit label", "Save changes", action)
        }
        None => ("New label", "Create label", format!("{base}/labels")),
    };
    let is_right = faults.is_empty();
    let frame = Frame::of_project(visit, viewer, heading, frame_of(project, "Issues"));
    let is_new = label.is_none();
    let page = FormPage { frame, heading, action, button, is_new, fields, faults };
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
    let fields = Fields {
        title: visit.query("title").unwrap_or_default().to_owned(),
        description: String::new(),
        color: DEFAULT_COLOR.to_owned(),
        priority: String::new(),
    };
    Ok(show_form(&visit, &viewer, &loaded, fields, Faults::default()))
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let typed = Fields::of_form(&visit);
    let (named, priority) = (visit.project(), typed.priority());
    let fields = LabelFields {
        name: typed.title.clone(),
        color: typed.color.clone(),
        description: Some(typed.description.clone()),
        priority: priority.clone().ok().flatten(),
    };
    let (viewer, (loaded, created)) = visit
        .run_signed_in(move |app, who| {
            let loaded = load(app, who.actor, &named, None)?;
            if let Err(faults) = &priority {
                return Ok((loaded, Err(faults.clone())));
            }
            let rule = ColorRule::LongOrShort;
            match label::create(app, who.actor, &named, rule, &fields) {
                Ok(_) => Ok((loaded, Ok(()))),
                Err(error) => Ok((loaded, Err(Faults::of(error)?))),
            }
        })
        .await?;
    match created {
        Ok(()) => Ok(to_list(&visit, &loaded.0, Notice::Created)),
        Err(faults) => Ok(show_form(&visit, &viewer, &loaded, typed, faults)),
    }
}

fn to_list(visit: &Visit, project: &ProjectPage, notice: Notice) -> HttpResponse {
    render::see_other_with(visit, &format!("/{}/labels", project.path()), notice)
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (named, label) = (visit.project(), LabelRef(visit.param("id")));
    let (viewer, loaded) =
        visit.run(move |app, who| load(app, who.actor(), &named, Some(&label))).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    let stored = loaded.1.as_ref();
    let fields = Fields {
        title: stored.map_or("", |view| view.label.title.as_str()).to_owned(),
        description: stored.map_or("", description).to_owned(),
        color: stored.map_or(DEFAULT_COLOR, |view| view.label.color.as_str()).to_owned(),
        priority: stored
            .and_then(|view| view.label.priority)
            .map_or_else(String::new, |priority| priority.number().to_string()),
    };
    Ok(show_form(&visit, &viewer, &loaded, fields, Faults::default()))
}

async fn update(visit: Visit) -> PageResult<HttpResponse> {
    let typed = Fields::of_form(&visit);
    let priority = typed.priority();
    let wrong = match &priority {
        _ if typed.title.is_empty() => Some(Faults::of_field("title", "can't be blank")),
        Err(faults) => Some(faults.clone()),
        Ok(_) => None,
    };
    if let Some(faults) = wrong {
        let (named, label) = (visit.project(), LabelRef(visit.param("id")));
        let (viewer, loaded) =
            visit.run_signed_in(move |app, who| load(app, who.actor, &named, Some(&label))).await?;
        return Ok(show_form(&visit, &viewer, &loaded, typed, faults));
    }
    let (named, label) = (visit.project(), LabelRef(visit.param("id")));
    let priority = priority.ok().flatten();
    let (title, color, description) =
        (typed.title.clone(), typed.color.clone(), typed.description.clone());
    let (viewer, (loaded, changed)) = visit
        .run_signed_in(move |app, who| {
            let loaded = load(app, who.actor, &named, Some(&label))?;
            let stored = loaded.1.as_ref().ok_or(Error::NotFound(Entity::Label))?;
            let changes = LabelChanges {
                name: stored.label.title.as_str().to_owned(),
                new_name: Some(title.clone()),
                color: Some(color.clone()),
                description: Some(description.clone()),
                priority: Some(priority),
            };
            let rule = ColorRule::LongOrShort;
            match label::update(app, who.actor, &named, rule, &changes) {
                Ok(_) => Ok((loaded, Ok(()))),
                Err(error) => Ok((loaded, Err(Faults::of(error)?))),
            }
        })
        .await?;
    match changed {
        Ok(()) => Ok(to_list(&visit, &loaded.0, Notice::Saved)),
        Err(faults) => Ok(show_form(&visit, &viewer, &loaded, typed, faults)),
    }
}

async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (named, label) = (visit.project(), LabelRef(visit.param("id")));
    let (_, project) = visit
        .run_signed_in(move |app, who| {
            let (project, stored) = load(app, who.actor, &named, Some(&label))?;
            let stored = stored.ok_or(Error::NotFound(Entity::Label))?;
            label::delete(app, who.actor, &named, stored.label.title.as_str())?;
            Ok(project)
        })
        .await?;
    Ok(to_list(&visit, &project, Notice::Removed))
}

async fn subscribe(visit: Visit) -> PageResult<HttpResponse> {
    change_subscription(visit, SubscriptionCommand::Subscribe).await
}

async fn unsubscribe(visit: Visit) -> PageResult<HttpResponse> {
    change_subscription(visit, SubscriptionCommand::Unsubscribe).await
}

async fn change_subscription(
    visit: Visit,
    command: SubscriptionCommand,
) -> PageResult<HttpResponse> {
    let (named, label) = (visit.project(), LabelRef(visit.param("id")));
    let (_, project) = visit
        .run_signed_in(move |app, who| {
            let project = project_page::get(app, who.actor, &named)?;
            label::subscribe(app, who.actor, &named, &label, command)?;
            Ok(project)
        })
        .await?;
    Ok(to_list(&visit, &project, Notice::Saved))
}
