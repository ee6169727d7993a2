//! The forms of a new issue and of an edited one.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::issue::fields::IssueFields;
use hexforge_application::issue::page::{self, IssueForm};
use hexforge_application::issue::{create as creation, update as change};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::view::issue::IssueView;
use hexforge_domain::hex;
use hexforge_domain::id::{self, UserId};
use hexforge_domain::issue::Title;
use hexforge_domain::text::LongText;
use sha2::{Digest, Sha256};

use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::Frame;
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::{FormChoices, date, label_titles, number, require_sign_in};
use crate::prose::{Prose, ProseRenderer};
use crate::render;
use crate::visit::{Viewer, Visit};

#[derive(Template)]
#[template(path = "issue_form.html")]
struct FormPage {
    frame: Frame,
    heading: &'static str,
    action: String,
    faults: Faults,
    fields: Fields,
    choices: FormChoices,
    may_administer: bool,
    is_new: bool,
    preview: Option<Prose>,
    /// The texts that somebody else stored meanwhile.
    current: Option<(String, String)>,
}

/// What the form shows.
#[derive(Clone, Debug, Default)]
struct Fields {
    title: String,
    description: String,
    is_confidential: bool,
    assignee: Option<UserId>,
    milestone: Option<i64>,
    labels: Vec<String>,
    due_date: String,
    /// The version of the issue that the editor saw.
    seen: String,
}

impl Fields {
    /// The fields of the address: other sites link to the form with them.
    fn of_query(visit: &Visit) -> Self {
        let text = |name: &str| visit.query(name).unwrap_or_default().to_owned();
        let number = |name: &str| visit.query(name).and_then(id::parse);
        Self {
            title: text("issue[title]"),
            description: text("issue[description]"),
            assignee: number("issue[assignee_id]").map(UserId),
            milestone: number("issue[milestone_id]"),
            ..Self::default()
        }
    }

    /// The fields that were sent.
    fn of_form(visit: &Visit) -> Self {
        let form = visit.form();
        let chosen = |name: &str| id::parse(form.text(name)).filter(|id| *id != 0);
        Self {
            title: form.text("title").to_owned(),
            description: form.raw("description").to_owned(),
            is_confidential: form.is_set("confidential"),
            assignee: chosen("assignee_id").map(UserId),
            milestone: chosen("milestone_id"),
            labels: form.all("label_name").map(str::to_owned).collect(),
            due_date: form.text("due_date").to_owned(),
            seen: form.text("seen").to_owned(),
        }
    }

    /// The fields of a stored issue.
    fn of_issue(view: &IssueView) -> Self {
        let issue = &view.issue;
        Self {
            title: issue.title.as_str().to_owned(),
            description: description(view).to_owned(),
            is_confidential: issue.confidential,
            assignee: issue.assignee,
            milestone: issue.milestone.map(|milestone| milestone.0),
            labels: view.labels.clone(),
            due_date: issue.due_date.map(|day| day.to_string()).unwrap_or_default(),
            seen: version(view),
        }
    }
}

pub(super) fn description(view: &IssueView) -> &str {
    view.issue.description.as_ref().map_or("", LongText::as_str)
}

/// A digest of what the form edits. Comments do not change it.
fn version(view: &IssueView) -> String {
    let issue = &view.issue;
    let (assignee, milestone) = (issue.assignee, issue.milestone);
    let (title, due, hidden) = (issue.title.as_str(), issue.due_date, issue.confidential);
    let parts = (title, description(view), assignee, milestone, &view.labels, due, hidden);
    hex::encode(&Sha256::digest(format!("{parts:?}").as_bytes())[..16])
}

/// Reads the form. Fields that the visitor may not set are ignored by the use case.
fn read(visit: &Visit) -> Result<IssueFields, Faults> {
    let form = visit.form();
    let is_sent = |name: &str| form.given(name).is_some();
    Ok(IssueFields {
        title: Some(Title::parse(form.text("title"))),
        description: Some(LongText::parse(form.raw("description"))),
        assignee: is_sent("assignee_id")
            .then(|| id::parse(form.text("assignee_id")).unwrap_or_default()),
        milestone: is_sent("milestone_id")
            .then(|| id::parse(form.text("milestone_id")).unwrap_or_default()),
        // Browsers send nothing for a group without a set checkbox.
        labels: is_sent("labels_shown").then(|| label_titles(visit)),
        due_date: match is_sent("due_date") {
            true => Some(date(visit, "due_date")?),
            false => None,
        },
        confidential: Some(form.is_set("confidential")),
        ..IssueFields::default()
    })
}

/// What the form needs from the store.
struct Loaded {
    project: ProjectPage,
    form: IssueForm,
    preview: Option<Prose>,
}

/// Loads the form, and renders the description if it is to be previewed.
async fn load(visit: &Visit, iid: Option<i64>) -> PageResult<(Viewer, Loaded)> {
    let named = visit.project();
    let text = (!visit.form().text("preview").is_empty())
        .then(|| visit.form().raw("description").to_owned());
    let load = move |app: &hexforge_application::app::App,
                     actor: hexforge_domain::policy::Actor| {
        let project = project_page::get(app, actor, &named)?;
        let form = page::form(app, actor, &named, iid)?;
        let preview = match text.as_deref() {
            Some(text) => {
                let path = project.path();
                let mut renderer = ProseRenderer::new(app, actor, &named, &path, &[text])?;
                Some(renderer.render(text))
            }
            None => None,
        };
        Ok(Loaded { project, form, preview })
    };
    match iid {
        // Whether the issue exists is not told to strangers.
        Some(_) => visit.run(move |app, viewer| load(app, viewer.actor())).await,
        None => visit.run_signed_in(move |app, signed_in| load(app, signed_in.actor)).await,
    }
}

/// How the form is shown again.
struct Again {
    status: StatusCode,
    fields: Fields,
    faults: Faults,
    current: Option<(String, String)>,
}

impl Again {
    fn new(status: StatusCode, fields: Fields, faults: Faults) -> Self {
        Self { status, fields, faults, current: None }
    }
}

fn show(visit: &Visit, viewer: &Viewer, loaded: Loaded, again: Again) -> HttpResponse {
    let Loaded { project, form, preview } = loaded;
    let Again { status, fields, faults, current } = again;
    let base = format!("/{}", project.path());
    let (heading, action) = match &form.view {
        Some(view) => ("Edit issue", format!("{base}/issues/{}/edit", view.issue.iid)),
        None => ("New issue", format!("{base}/issues")),
    };
    let own = form.view.as_ref().and_then(|view| view.milestone.as_ref());
    let page = FormPage {
        frame: Frame::of_project(visit, viewer, heading, frame_of(&project, "Issues")),
        heading,
        action,
        faults,
        choices: FormChoices::new(
            &form.choices,
            fields.assignee,
            (fields.milestone, own),
            &fields.labels,
        ),
        may_administer: form.may_administer,
        is_new: form.view.is_none(),
        fields,
        preview,
        current,
    };
    render::page_with(status, visit, viewer, &page)
}

pub(super) async fn new(visit: Visit) -> PageResult<HttpResponse> {
    require_sign_in(&visit).await?;
    let (viewer, loaded) = load(&visit, None).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.project) {
        return Ok(redirect);
    }
    let again = Again::new(StatusCode::OK, Fields::of_query(&visit), Faults::default());
    Ok(show(&visit, &viewer, loaded, again))
}

pub(super) async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let typed = Fields::of_form(&visit);
    let faults = if visit.form().text("preview").is_empty() {
        match read(&visit) {
            Ok(fields) => {
                let named = visit.project();
                let (_, created) = visit
                    .submit(move |app, signed_in| {
                        creation::create(app, signed_in.actor, &named, &fields)
                    })
                    .await?;
                match created {
                    Ok(view) => {
                        let address = format!("/{}/issues/{}", view.project_path, view.issue.iid);
                        return Ok(render::see_other_with(&visit, &address, Notice::Created));
                    }
                    Err(faults) => Some(faults),
                }
            }
            Err(faults) => Some(faults),
        }
    } else {
        None
    };
    let (viewer, loaded) = load(&visit, None).await?;
    Ok(show(&visit, &viewer, loaded, again(typed, faults)))
}

/// The form after a preview, or after faults.
fn again(typed: Fields, faults: Option<Faults>) -> Again {
    match faults {
        None => Again::new(StatusCode::OK, typed, Faults::default()),
        Some(faults) => Again::new(StatusCode::UNPROCESSABLE_ENTITY, typed, faults),
    }
}

pub(super) async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let iid = number(&visit, "iid")?;
    let (viewer, loaded) = load(&visit, Some(iid)).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.project) {
        return Ok(redirect);
    }
    let fields = loaded.form.view.as_ref().map(Fields::of_issue).unwrap_or_default();
    let again = Again::new(StatusCode::OK, fields, Faults::default());
    Ok(show(&visit, &viewer, loaded, again))
}

pub(super) async fn update(visit: Visit) -> PageResult<HttpResponse> {
    let iid = number(&visit, "iid")?;
    let typed = Fields::of_form(&visit);
    if !visit.form().text("preview").is_empty() {
        let (viewer, loaded) = load(&visit, Some(iid)).await?;
        return Ok(show(&visit, &viewer, loaded, again(typed, None)));
    }
    let faults = match read(&visit) {
        Ok(fields) => {
            let (named, seen) = (visit.project(), typed.seen.clone());
            let (_, changed) = visit
                .submit(move |app, signed_in| {
                    let actor = signed_in.actor;
                    let id = page::find_id(app, actor, &named, iid)?;
                    let is_current = |view: &IssueView| version(view) == seen;
                    change::update_if(app, actor, &named, id, &fields, Some(&is_current))
                })
                .await?;
            match changed {
                Ok(Some(view)) => {
                    let address = format!("/{}/issues/{iid}", view.project_path);
                    return Ok(render::see_other_with(&visit, &address, Notice::Saved));
                }
                Ok(None) => return conflict(&visit, iid, typed).await,
                Err(faults) => faults,
            }
        }
        Err(faults) => faults,
    };
    let (viewer, loaded) = load(&visit, Some(iid)).await?;
    Ok(show(&visit, &viewer, loaded, again(typed, Some(faults))))
}

/// Shows what was typed beside what somebody else stored meanwhile. Sending the form again replaces it.
async fn conflict(visit: &Visit, iid: i64, typed: Fields) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(visit, Some(iid)).await?;
    let stored = loaded.form.view.as_ref().map(Fields::of_issue).unwrap_or_default();
    let faults = Faults::of_form(
        "somebody else changed this issue while you edited it: compare both texts, and save again",
    );
    let again = Again {
        status: StatusCode::CONFLICT,
        fields: Fields { seen: stored.seen, ..typed },
        faults,
        current: Some((stored.title, stored.description)),
    };
    Ok(show(visit, &viewer, loaded, again))
}
