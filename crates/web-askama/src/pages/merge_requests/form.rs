//! The forms of a new merge request and of an edited one.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::{Entity, Error};
use hexforge_application::merge_request::create::NewRequestFields;
use hexforge_application::merge_request::fields::MergeRequestFields;
use hexforge_application::merge_request::page::{self, RequestForm};
use hexforge_application::merge_request::{create as creation, update as change};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::repository;
use hexforge_application::view::merge_request::MergeRequestView;
use hexforge_domain::commit::Commit;
use hexforge_domain::hex;
use hexforge_domain::id::{self, UserId};
use hexforge_domain::merge_request::{RequestBranch, Title};
use hexforge_domain::policy::Actor;
use hexforge_domain::text::LongText;
use sha2::{Digest, Sha256};

use super::show::description;
use crate::cookies::Notice;
use crate::diff::{DiffHtml, DiffOptions, DiffView};
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Choice;
use crate::frame::Frame;
use crate::pages::project::{CommitLine, frame_of, other_spelling};
use crate::pages::tracker::{FormChoices, label_titles, number, require_sign_in};
use crate::prose::{Prose, ProseRenderer};
use crate::render;
use crate::visit::{Viewer, Visit};

/// The commits that the form of a new request shows.
const MAX_COMMITS: usize = 40;

#[derive(Template)]
#[template(path = "merge_request_form.html")]
struct FormPage {
    frame: Frame,
    heading: &'static str,
    /// `/namespace/project`.
    base: String,
    /// The selects of the form "Select branches"; `None` while a request is edited.
    branches: Option<Branches>,
    /// The form of the request itself.
    form: Option<Fields>,
    action: String,
    faults: Faults,
    choices: FormChoices,
    targets: Vec<Choice>,
    may_administer: bool,
    is_new: bool,
    preview: Option<Prose>,
    /// The texts that somebody else stored meanwhile.
    current: Option<(String, String)>,
    commits: Vec<CommitLine>,
    compared: Option<&'static str>,
    diff: Option<DiffHtml>,
}

struct Branches {
    source: Vec<Choice>,
    target: Vec<Choice>,
    projects: Vec<Choice>,
}

/// What the form shows.
#[derive(Clone, Debug, Default)]
struct Fields {
    source_branch: String,
    target_branch: String,
    target_project: Option<i64>,
    title: String,
    description: String,
    assignee: Option<UserId>,
    milestone: Option<i64>,
    labels: Vec<String>,
    /// The version of the request that the editor saw.
    seen: String,
}

impl Fields {
    /// The fields of the address: other sites link to the form with them.
    fn of_query(visit: &Visit) -> Self {
        let text = |name: &str| {
            let name = format!("merge_request[{name}]");
            visit.query(&name).unwrap_or_default().to_owned()
        };
        Self {
            source_branch: text("source_branch"),
            target_branch: text("target_branch"),
            target_project: id::parse(&text("target_project_id")),
            title: text("title"),
            description: text("description"),
            ..Self::default()
        }
    }

    /// The fields that were sent.
    fn of_form(visit: &Visit) -> Self {
        let form = visit.form();
        let chosen = |name: &str| id::parse(form.text(name)).filter(|id| *id != 0);
        Self {
            source_branch: form.text("source_branch").to_owned(),
            target_branch: form.text("target_branch").to_owned(),
            target_project: chosen("target_project_id"),
            title: form.text("title").to_owned(),
            description: form.raw("description").to_owned(),
            assignee: chosen("assignee_id").map(UserId),
            milestone: chosen("milestone_id"),
            labels: form.all("label_name").map(str::to_owned).collect(),
            seen: form.text("seen").to_owned(),
        }
    }

    /// The fields of a stored request.
    fn of_request(view: &MergeRequestView) -> Self {
        let request = &view.request;
        Self {
            source_branch: request.ends.source_branch.as_str().to_owned(),
            target_branch: request.ends.target_branch.as_str().to_owned(),
            target_project: None,
            title: request.title.as_str().to_owned(),
            description: description(request).to_owned(),
            assignee: request.assignee,
            milestone: request.milestone.map(|milestone| milestone.0),
            labels: view.labels.clone(),
            seen: version(view),
        }
    }

    fn has_branches(&self) -> bool {
        !self.source_branch.is_empty() && !self.target_branch.is_empty()
    }
}

/// A digest of what the form edits. Comments and pushes do not change it.
fn version(view: &MergeRequestView) -> String {
    let request = &view.request;
    let (assignee, milestone) = (request.assignee, request.milestone);
    let (title, target) = (request.title.as_str(), request.ends.target_branch.as_str());
    let parts = (title, description(request), assignee, milestone, &view.labels, target);
    hex::encode(&Sha256::digest(format!("{parts:?}").as_bytes())[..16])
}

/// Reads the form. Fields that the visitor may not set are ignored by the use case.
fn read(visit: &Visit) -> MergeRequestFields {
    let form = visit.form();
    let is_sent = |name: &str| form.given(name).is_some();
    let number = |name: &str| is_sent(name).then(|| id::parse(form.text(name)).unwrap_or_default());
    MergeRequestFields {
        title: Some(Title::parse(form.text("title"))),
        description: Some(LongText::parse(form.raw("description"))),
        target_branch: None,
        assignee: number("assignee_id"),
        milestone: number("milestone_id"),
        // Browsers send nothing for a group without a set checkbox.
        labels: is_sent("labels_shown").then(|| label_titles(visit)),
        command: None,
    }
}

/// What the form needs from the store and the repository.
struct Loaded {
    project: ProjectPage,
    form: RequestForm,
    preview: Option<Prose>,
    comparison: Compared,
    /// The texts that somebody else stored while the visitor edited the request.
    current: Option<(String, String)>,
}

/// The commits that a new request would have.
enum Compared {
    /// The branches are not chosen yet, or the request exists.
    Nothing,
    /// A branch does not exist.
    Missing,
    /// The branches of different projects are compared when the request is created.
    OtherProject,
    Changes(Vec<Commit>, DiffHtml),
}

fn preview(
    app: &App,
    actor: Actor,
    project: &ProjectPage,
    visit_text: Option<&str>,
    named: &hexforge_domain::project::ProjectRef,
) -> Result<Option<Prose>, Error> {
    let Some(text) = visit_text else { return Ok(None) };
    let mut renderer = ProseRenderer::new(app, actor, named, &project.path(), &[text])?;
    Ok(Some(renderer.render(text)))
}

fn preview_text(visit: &Visit) -> Option<String> {
    visit.form().given("preview").is_some().then(|| visit.form().raw("description").to_owned())
}

async fn load_new(visit: &Visit, fields: &Fields) -> PageResult<(Viewer, Loaded)> {
    let (named, client, chosen) = (visit.project(), visit.address(), fields.clone());
    let text = preview_text(visit);
    let (viewer, (project, form, preview, ends)) = visit
        .run_signed_in(move |app, signed_in| {
            let actor = signed_in.actor;
            let project = project_page::get(app, actor, &named)?;
            let form = page::new_form(app, actor, &named, chosen.target_project)?;
            let preview = preview(app, actor, &project, text.as_deref(), &named)?;
            let own = project.placed.project.id.0;
            let is_own = chosen.target_project.is_none_or(|target| target == own);
            let ends = if chosen.has_branches() && is_own {
                let readable = repository::readable(app, actor, client, &named)?;
                let at = |name: &str| {
                    repository::revision(app, &readable, &format!("refs/heads/{name}"))
                };
                at(&chosen.target_branch)?.zip(at(&chosen.source_branch)?)
            } else {
                None
            };
            Ok((project, form, preview, ends))
        })
        .await?;
    let own = project.placed.project.id.0;
    let comparison = match ends {
        _ if !fields.has_branches() => Compared::Nothing,
        _ if fields.target_project.is_some_and(|target| target != own) => Compared::OtherProject,
        None => Compared::Missing,
        Some((from, to)) => {
            let options = DiffOptions::of(visit);
            let read = move || {
                let found = repository::compare(Some(&from), Some(&to))?.comparison;
                let diff = DiffView::of_comparison(&found, &options).to_html()?;
                Ok(Compared::Changes(found.commits.clone(), diff))
            };
            visit.run_long(|limiter| &limiter.comparisons, &viewer, read).await?
        }
    };
    Ok((viewer, Loaded { project, form, preview, comparison, current: None }))
}

async fn load_edit(visit: &Visit, iid: i64) -> PageResult<(Viewer, Loaded)> {
    let named = visit.project();
    let text = preview_text(visit);
    visit
        .run(move |app, viewer| {
            let actor = viewer.actor();
            let project = project_page::get(app, actor, &named)?;
            let form = page::edit_form(app, actor, &named, iid)?;
            let preview = preview(app, actor, &project, text.as_deref(), &named)?;
            let comparison = Compared::Nothing;
            Ok(Loaded { project, form, preview, comparison, current: None })
        })
        .await
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    loaded: Loaded,
    fields: Fields,
    faults: Option<Faults>,
) -> HttpResponse {
    let Loaded { project, form, preview, comparison, current } = loaded;
    let base = format!("/{}", project.path());
    let is_new = form.view.is_none();
    let (heading, action) = match &form.view {
        Some(view) => {
            let one = format!("{base}/merge_requests/{}/edit", view.request.iid);
            ("Edit merge request", one)
        }
        None => ("New merge request", format!("{base}/merge_requests")),
    };
    let section = frame_of(&project, "Merge requests");
    let frame = Frame::of_project(visit, viewer, heading, section);
    let status = match (&current, &faults) {
        (Some(_), _) => StatusCode::CONFLICT,
        (None, Some(_)) => StatusCode::UNPROCESSABLE_ENTITY,
        (None, None) => StatusCode::OK,
    };
    let target_project = fields.target_project;
    let is_target = |one: &&page::RequestTarget| Some(one.project.id.0) == target_project;
    let target = form.targets.iter().find(is_target).map(|one| &one.project);
    let default = target.unwrap_or(&project.placed.project).default_branch.as_ref();
    let target_branch = match (fields.target_branch.as_str(), default) {
        ("", Some(default)) => default.as_str(),
        (chosen, _) => chosen,
    };
    let project_choice = |target: &page::RequestTarget| {
        let id = target.project.id.0;
        Choice::new(id.to_string(), &target.path, Some(id) == target_project)
    };
    let projects: Vec<Choice> = form.targets.iter().map(project_choice).collect();
    let branches = is_new.then(|| Branches {
        source: Choice::branches(&form.source_branches, &fields.source_branch),
        target: Choice::branches(&form.target_branches, target_branch),
        projects: if projects.len() > 1 { projects } else { vec![] },
    });
    let own = form.view.as_ref().and_then(|view| view.milestone.as_ref());
    let mut diff = None;
    let (commits, compared) = match comparison {
        Compared::Nothing => (vec![], None),
        Compared::Missing => (vec![], Some("One of the branches does not exist.")),
        Compared::OtherProject => (vec![], Some("The changes are shown when it is created.")),
        Compared::Changes(commits, _) if commits.is_empty() => {
            (vec![], Some("There isn't anything to compare."))
        }
        Compared::Changes(commits, html) => {
            diff = Some(html);
            let shown = commits.iter().rev().take(MAX_COMMITS);
            (shown.map(|commit| CommitLine::new(commit, &frame)).collect(), None)
        }
    };
    let mut fields = fields;
    // The only commit tells what the request is about.
    if is_new
        && faults.is_none()
        && preview.is_none()
        && fields.title.is_empty()
        && let [commit] = &commits[..]
    {
        fields.title.clone_from(&commit.title);
    }
    let choices =
        FormChoices::new(&form.choices, fields.assignee, (fields.milestone, own), &fields.labels);
    let is_shown = !is_new || fields.has_branches();
    let page = FormPage {
        targets: Choice::branches(&form.target_branches, &fields.target_branch),
        frame,
        heading,
        base,
        branches,
        form: is_shown.then_some(fields),
        action,
        faults: faults.unwrap_or_default(),
        choices,
        may_administer: form.may_administer,
        is_new,
        preview,
        current,
        commits,
        compared,
        diff,
    };
    render::page_with(status, visit, viewer, &page)
}

pub(super) async fn new(visit: Visit) -> PageResult<HttpResponse> {
    require_sign_in(&visit).await?;
    let fields = Fields::of_query(&visit);
    let (viewer, loaded) = load_new(&visit, &fields).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.project) {
        return Ok(redirect);
    }
    Ok(show(&visit, &viewer, loaded, fields, None))
}

pub(super) async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let typed = Fields::of_form(&visit);
    let mut faults = None;
    if preview_text(&visit).is_none() {
        let new = NewRequestFields {
            source_branch: typed.source_branch.clone(),
            target_branch: typed.target_branch.clone(),
            target_project: typed.target_project,
            fields: read(&visit),
        };
        let named = visit.project();
        let (_, created) = visit
            .submit(move |app, signed_in| creation::create(app, signed_in.actor, &named, &new))
            .await?;
        match created {
            Ok(view) => {
                let address = format!("/{}/merge_requests/{}", view.project_path, view.request.iid);
                return Ok(render::see_other_with(&visit, &address, Notice::Created));
            }
            Err(found) => faults = Some(found),
        }
    }
    let (viewer, loaded) = load_new(&visit, &typed).await?;
    Ok(show(&visit, &viewer, loaded, typed, faults))
}

pub(super) async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let iid = number(&visit, "iid")?;
    let (viewer, loaded) = load_edit(&visit, iid).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.project) {
        return Ok(redirect);
    }
    let fields = match &loaded.form.view {
        Some(view) => Fields::of_request(view),
        None => {
            return Err(crate::error::PageError::of(
                Error::NotFound(Entity::Record),
                viewer,
                false,
            ));
        }
    };
    Ok(show(&visit, &viewer, loaded, fields, None))
}

pub(super) async fn update(visit: Visit) -> PageResult<HttpResponse> {
    let iid = number(&visit, "iid")?;
    let typed = Fields::of_form(&visit);
    let mut faults = None;
    if preview_text(&visit).is_none() {
        let target = Some(typed.target_branch.clone()).filter(|name| !name.is_empty());
        let fields = MergeRequestFields {
            target_branch: target.map(|name| RequestBranch::parse("target_branch", &name)),
            ..read(&visit)
        };
        let (named, seen) = (visit.project(), typed.seen.clone());
        let (_, changed) = visit
            .submit(move |app, signed_in| {
                let id = page::find_id(app, signed_in.actor, &named, iid)?;
                // A form that does not say what its editor saw replaces everything.
                let is_current = |view: &MergeRequestView| seen.is_empty() || version(view) == seen;
                change::update_if(app, signed_in.actor, &named, id, &fields, Some(&is_current))
            })
            .await?;
        match changed {
            Ok(None) => return conflict(&visit, iid, typed).await,
            Ok(Some(view)) => {
                let address = format!("/{}/merge_requests/{iid}", view.project_path);
                return Ok(render::see_other_with(&visit, &address, Notice::Saved));
            }
            Err(found) => faults = Some(found),
        }
    }
    let (viewer, loaded) = load_edit(&visit, iid).await?;
    Ok(show(&visit, &viewer, loaded, typed, faults))
}

/// Shows what was typed beside what somebody else stored meanwhile. Sending the form again replaces it.
async fn conflict(visit: &Visit, iid: i64, typed: Fields) -> PageResult<HttpResponse> {
    let (viewer, mut loaded) = load_edit(visit, iid).await?;
    let stored = loaded.form.view.as_ref().map(Fields::of_request).unwrap_or_default();
    loaded.current = Some((stored.title, stored.description));
    let faults = Faults::of_form(
        "somebody else changed this merge request while you edited it: compare both texts, and save again",
    );
    let fields = Fields { seen: stored.seen, ..typed };
    Ok(show(visit, &viewer, loaded, fields, Some(faults)))
}
