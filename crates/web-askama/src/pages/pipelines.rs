//! Pipelines: the builds for a commit, stage by stage.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::pipeline::{self, PipelineDetail, PipelineSummary};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_domain::build::{Build, BuildKind, StageSummary};
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::title_of;
use hexforge_domain::id::PipelineId;
use hexforge_domain::pipeline::PipelineScope;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::ProjectRef;

use super::builds::duration;
use super::project::{frame_of, other_spelling};
use super::settings::{administered, after_button, base_of};
use crate::address;
use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/pipelines", list);
    pages.get("/{namespace}/{project}/pipelines/new", form);
    pages.post("/{namespace}/{project}/pipelines/new", create);
    pages.get("/{namespace}/{project}/pipelines/settings", settings);
    pages.get("/{namespace}/{project}/pipelines/{id}", show);
    pages.get("/{namespace}/{project}/pipelines/{id}/builds", show);
    pages.post("/{namespace}/{project}/pipelines/{id}/retry", retry);
    pages.post("/{namespace}/{project}/pipelines/{id}/cancel", cancel);
}

/// The project, for those who may read its pipelines.
fn project_of(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectPage, Error> {
    let project = project_page::get(app, actor, named)?;
    match project.may_build(CiAbility::ReadPipelines) {
        true => Ok(project),
        false => Err(Error::Forbidden(None)),
    }
}

/// A pipeline in the table.
struct Row {
    id: i64,
    status: &'static str,
    reference: String,
    commit: String,
    title: String,
    user: Option<String>,
    stages: Vec<(String, &'static str)>,
    duration: String,
    at: Moment,
}

#[derive(Template)]
#[template(path = "pipelines.html")]
struct PipelinesPage {
    frame: Frame,
    base: String,
    scope: &'static str,
    may_run: bool,
    may_administer: bool,
    /// The form for a file `.gitlab-ci.yml`, for those who may push.
    new_file: Option<String>,
    may_read_environments: bool,
    rows: Vec<Row>,
    total: u64,
    pager: Pager,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (visit.project(), visit.page());
    let (word, scope) = match visit.query("scope") {
        Some("running") => ("running", PipelineScope::Active),
        Some("branches") => ("branches", PipelineScope::Branches),
        Some("tags") => ("tags", PipelineScope::Tags),
        _ => ("all", PipelineScope::All),
    };
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = project_of(app, viewer.actor(), &named)?;
            let found = pipeline::list_summaries(app, viewer.actor(), &named, scope, page)?;
            Ok((project, found))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let frame = Frame::of_project(&visit, &viewer, "Pipelines", frame_of(&project, "Pipelines"));
    let row = |summary: &PipelineSummary| {
        let pipeline = &summary.view.pipeline;
        Row {
            id: pipeline.id.0,
            status: pipeline.status.as_str(),
            reference: pipeline.reference.clone(),
            commit: pipeline.sha.to_string(),
            title: title_of(&summary.commit.message),
            user: summary.view.user.as_ref().map(|user| user.name.as_str().to_owned()),
            stages: stages(&summary.stages),
            duration: pipeline.duration.map(duration).unwrap_or_default(),
            at: frame.moment(pipeline.created_at),
        }
    };
    let page = PipelinesPage {
        base: format!("/{}", project.path()),
        scope: word,
        may_run: project.may_build(CiAbility::Run),
        may_administer: project.may(ProjectAbility::Administer),
        new_file: new_file(&project),
        may_read_environments: project.may_build(CiAbility::ReadEnvironments),
        rows: found.items.iter().map(row).collect(),
        total: found.total,
        pager: Pager::new(&visit, found.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// The `.gitlab-ci.yml` of a project that has none.
const EXAMPLE: &str = "test:\n  script:\n    - echo \"Run the tests here\"\n";

/// The form for a file `.gitlab-ci.yml` in the default branch, if the visitor may push.
fn new_file(project: &ProjectPage) -> Option<String> {
    let branch = project.placed.project.default_branch.as_ref();
    let branch = address::path(branch.map_or("master", |name| name.as_str()));
    let fields = address::query([("file_name", ".gitlab-ci.yml"), ("content", EXAMPLE)]);
    let form = format!("/{}/new/{branch}?{fields}", project.path());
    project.may(ProjectAbility::PushCode).then_some(form)
}

/// The stages in order, each with one status: the one that a reader has to know first.
fn stages(rows: &[StageSummary]) -> Vec<(String, &'static str)> {
    let mut stages: Vec<(i32, String, Status)> = Vec::new();
    for row in rows {
        // A failure that is allowed does not fail the stage.
        let status = match (row.status, row.allow_failure) {
            (Status::Failed, true) => Status::Success,
            (status, _) => status,
        };
        match stages.last_mut() {
            Some((index, name, known)) if *index == row.index && *name == row.name => {
                if urgency(status) > urgency(*known) {
                    *known = status;
                }
            }
            _ => stages.push((row.index, row.name.clone(), status)),
        }
    }
    stages.into_iter().map(|(_, name, status)| (name, status.as_str())).collect()
}

fn urgency(status: Status) -> u8 {
    match status {
        Status::Failed => 6,
        Status::Running => 5,
        Status::Pending => 4,
        Status::Created => 3,
        Status::Canceled => 2,
        Status::Success => 1,
        // Builds that wait for a click are skipped while the others succeed.
        Status::Skipped => 0,
    }
}

/// A build of a stage.
struct BuildLink {
    name: String,
    status: &'static str,
    /// The page of the build, or the address that an external system gave.
    address: Option<String>,
    is_foreign: bool,
}

/// A stage of a pipeline.
struct Stage {
    name: String,
    builds: Vec<BuildLink>,
}

/// A box of the graph.
struct Node {
    x: usize,
    y: usize,
    label: String,
    status: &'static str,
}

/// The graph of the stages.
struct Graph {
    width: usize,
    height: usize,
    /// The names of the stages, with their horizontal positions.
    heads: Vec<(usize, String)>,
    nodes: Vec<Node>,
    /// Lines from stage to stage: their beginnings and ends.
    lines: Vec<(usize, usize)>,
}

/// The size of a column and a row of the graph, in pixels.
const COLUMN: usize = 180;
const LINE: usize = 34;

/// The maximum number of builds of a stage, and of stages, in the graph. The list below it has all.
const GRAPH_ROWS: usize = 12;
const GRAPH_COLUMNS: usize = 30;

impl Graph {
    fn new(stages: &[Stage]) -> Self {
        let short = |text: &str| {
            let cut: String = text.chars().take(18).collect();
            if cut.len() < text.len() { format!("{cut}…") } else { cut }
        };
        let shown = || stages.iter().take(GRAPH_COLUMNS).enumerate();
        let tallest = shown().map(|(_, stage)| stage.builds.len().min(GRAPH_ROWS)).max();
        let nodes = shown().flat_map(|(column, stage)| {
            let rows = stage.builds.iter().take(GRAPH_ROWS).enumerate();
            rows.map(move |(row, build)| Node {
                x: column * COLUMN,
                y: 24 + row * LINE,
                label: short(&build.name),
                status: build.status,
            })
        });
        Self {
            width: stages.len().min(GRAPH_COLUMNS) * COLUMN,
            height: 24 + tallest.unwrap_or(0) * LINE,
            heads: shown().map(|(column, stage)| (column * COLUMN, short(&stage.name))).collect(),
            nodes: nodes.collect(),
            lines: shown()
                .skip(1)
                .map(|(column, _)| (column * COLUMN - 30, column * COLUMN))
                .collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "pipeline.html")]
struct PipelinePage {
    frame: Frame,
    base: String,
    id: i64,
    status: &'static str,
    reference: String,
    commit: String,
    title: String,
    user: Option<String>,
    duration: String,
    created: Moment,
    errors: Option<String>,
    may_retry: bool,
    may_cancel: bool,
    graph: Graph,
    stages: Vec<Stage>,
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), PipelineId(visit.id("id")));
    let (viewer, (project, detail)) = visit
        .run(move |app, viewer| {
            let project = project_of(app, viewer.actor(), &named)?;
            Ok((project, pipeline::detail(app, viewer.actor(), &named, id)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let what = format!("Pipeline #{id}");
    let frame = Frame::of_project(&visit, &viewer, &what, frame_of(&project, "Pipelines"));
    let base = format!("/{}", project.path());
    let may_run = project.may_build(CiAbility::Run);
    let stages = grouped(&detail, &base, project.may_build(CiAbility::ReadBuilds));
    let has = |statuses: &[Status]| detail.builds.iter().any(|one| statuses.contains(&one.status));
    let may_retry = may_run && has(&[Status::Failed]);
    let may_cancel = may_run && has(&[Status::Pending, Status::Running]);
    let PipelineDetail { view, commit, .. } = detail;
    let page = PipelinePage {
        id: id.0,
        status: view.pipeline.status.as_str(),
        reference: view.pipeline.reference,
        commit: view.pipeline.sha.to_string(),
        title: title_of(&commit.message),
        user: view.user.map(|user| user.name.as_str().to_owned()),
        duration: view.pipeline.duration.map(duration).unwrap_or_default(),
        created: frame.moment(view.pipeline.created_at),
        errors: view.pipeline.yaml_errors,
        may_retry,
        may_cancel,
        graph: Graph::new(&stages),
        stages,
        base,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// The builds by stage. Builds are sorted by stage already.
fn grouped(detail: &PipelineDetail, base: &str, may_read_builds: bool) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for build in &detail.builds {
        let link = build_link(build, base, may_read_builds);
        match stages.last_mut() {
            Some(stage) if stage.name == build.stage => stage.builds.push(link),
            _ => stages.push(Stage { name: build.stage.clone(), builds: vec![link] }),
        }
    }
    stages
}

fn build_link(build: &Build, base: &str, may_read_builds: bool) -> BuildLink {
    let (address, is_foreign) = match &build.kind {
        BuildKind::Job(_) => {
            (may_read_builds.then(|| format!("{base}/builds/{}", build.id)), false)
        }
        BuildKind::External { target_url, .. } => {
            let is_http = |url: &&String| url.starts_with("http://") || url.starts_with("https://");
            (target_url.as_ref().filter(is_http).cloned(), true)
        }
    };
    BuildLink { name: build.name.clone(), status: build.status.as_str(), address, is_foreign }
}

#[derive(Template)]
#[template(path = "new_pipeline.html")]
struct NewPipelinePage {
    frame: Frame,
    base: String,
    reference: String,
    faults: Faults,
}

/// The project, for those who may run pipelines. Strangers who see the project are sent to the sign-in.
async fn runnable(visit: &Visit) -> PageResult<(Viewer, ProjectPage)> {
    let named = visit.project();
    let (viewer, project) =
        visit.run(move |app, viewer| project_page::get(app, viewer.actor(), &named)).await?;
    if viewer.signed_in().is_none() {
        return Err(PageError::sign_in());
    }
    match project.may_build(CiAbility::Run) {
        true => Ok((viewer, project)),
        false => Err(PageError::not_found(viewer)),
    }
}

async fn form(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, project) = runnable(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    Ok(show_form(&visit, &viewer, StatusCode::OK, &project, Faults::default()))
}

fn show_form(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    project: &ProjectPage,
    faults: Faults,
) -> HttpResponse {
    let default = project.placed.project.default_branch.as_ref().map_or("", |name| name.as_str());
    let page = NewPipelinePage {
        frame: Frame::of_project(visit, viewer, "Run pipeline", frame_of(project, "Pipelines")),
        base: format!("/{}", project.path()),
        reference: visit.form().given("ref").unwrap_or(default).to_owned(),
        faults,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let (named, reference) = (visit.project(), visit.form().text("ref").to_owned());
    let (_, made) = visit
        .submit(move |app, signed_in| {
            let made = pipeline::create(app, signed_in.actor, &named, &reference)?;
            Ok(made.pipeline.id)
        })
        .await?;
    match made {
        Ok(id) => {
            let address = format!("{}/pipelines/{id}", base_of(&visit));
            Ok(render::see_other_with(&visit, &address, Notice::Created))
        }
        Err(faults) => {
            let (viewer, project) = runnable(&visit).await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            let faults = faults.on_only_field("ref");
            Ok(show_form(&visit, &viewer, status, &project, faults))
        }
    }
}

#[derive(Template)]
#[template(path = "pipeline_settings.html")]
struct SettingsPage {
    frame: Frame,
    base: String,
    /// The pictures of the default branch: their names, addresses, and the Markdown that shows them.
    badges: Vec<(&'static str, String, String)>,
    is_enabled: bool,
}

/// What other sites show of the pipelines. The settings themselves are on their own pages.
async fn settings(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (viewer, project) =
        visit.run(move |app, viewer| administered(app, viewer.actor(), &named)).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let (base, home) = (format!("/{}", project.path()), &project.placed.project);
    let branch = home.default_branch.as_ref().map_or("master", |name| name.as_str());
    let branch = address::path(branch);
    let badge = |(name, file): (&'static str, &str)| {
        let picture = format!("{base}/badges/{branch}/{file}.svg");
        let (from, to) = (visit.external(&picture), visit.external(&base));
        (name, picture, format!("[![{file} status]({from})]({to}/commits/{branch})"))
    };
    let page = SettingsPage {
        badges: [("Build", "build"), ("Coverage", "coverage")].map(badge).to_vec(),
        is_enabled: home.features.builds,
        frame: super::settings::frame(&visit, &viewer, &project, "Pipeline settings"),
        base,
    };
    render::page(&visit, &viewer, &page)
}

async fn retry(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), PipelineId(visit.id("id")));
    let (_, done) = visit
        .submit(move |app, signed_in| pipeline::retry(app, signed_in.actor, &named, id).map(drop))
        .await?;
    after_button(&visit, &format!("pipelines/{id}"), done, Notice::Saved)
}

async fn cancel(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), PipelineId(visit.id("id")));
    let (_, done) = visit
        .submit(move |app, signed_in| pipeline::cancel(app, signed_in.actor, &named, id).map(drop))
        .await?;
    after_button(&visit, &format!("pipelines/{id}"), done, Notice::Saved)
}
