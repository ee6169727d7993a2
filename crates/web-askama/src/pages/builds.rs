//! Builds, their logs and artifacts.

use std::io::{ErrorKind, Read, Write};

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION};
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::build::{self, LogTail, LoggedBuild};
use hexforge_application::error::Error;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::view::build::BuildView;
use hexforge_domain::ci::status::Status;
use hexforge_domain::ci::when::When;
use hexforge_domain::commit::title_of;
use hexforge_domain::id::BuildId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::uploads::StoredFile;
use hexforge_domain::project::ProjectRef;
use hexforge_http_edge::stream;
use serde_json::json;

use super::project::{frame_of, other_spelling};
use super::settings::{after_button, base_of};
use crate::assets;
use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::frame::{Frame, Pager};
use crate::log::{self, LogHtml, Rendered, Sections, Style};
use crate::moment::{Moment, count};
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/builds", list);
    pages.get("/{namespace}/{project}/builds/{id}", show);
    pages.get("/{namespace}/{project}/builds/{id}/raw", raw);
    pages.get("/{namespace}/{project}/builds/{id}/trace.json", follow);
    pages.get("/{namespace}/{project}/builds/{id}/artifacts/download", download);
    pages.post("/{namespace}/{project}/builds/{id}/cancel", cancel);
    pages.post("/{namespace}/{project}/builds/{id}/retry", retry);
    pages.post("/{namespace}/{project}/builds/{id}/play", play);
    pages.post("/{namespace}/{project}/builds/{id}/erase", erase);
    pages.post("/{namespace}/{project}/builds/{id}/artifacts/keep", keep);
}

/// The length of work in words: `2 minutes 5 seconds`.
pub(super) fn duration(seconds: i64) -> String {
    let seconds = seconds.max(0).unsigned_abs();
    let parts = [(seconds / 3600, "hour"), (seconds / 60 % 60, "minute"), (seconds % 60, "second")];
    let shown = parts.into_iter().filter(|(number, _)| *number > 0);
    let shown: Vec<String> = shown.map(|(number, unit)| count(number, unit)).collect();
    if shown.is_empty() { "0 seconds".to_owned() } else { shown.join(" ") }
}

/// A build in a table.
pub(super) struct Row {
    id: i64,
    status: &'static str,
    name: String,
    stage: String,
    reference: String,
    commit: String,
    title: String,
    pipeline: i64,
    duration: String,
    is_finished: bool,
    /// The time when it finished, or else that when it was created.
    at: Moment,
}

impl Row {
    fn new(view: &BuildView, frame: &Frame) -> Self {
        let build = &view.build;
        let taken = build.started_at.zip(build.finished_at);
        Self {
            id: build.id.0,
            status: build.status.as_str(),
            name: build.name.clone(),
            stage: build.stage.clone(),
            reference: view.pipeline.reference.clone(),
            commit: view.pipeline.sha.to_string(),
            title: title_of(&view.commit.message),
            pipeline: view.pipeline.id.0,
            duration: taken
                .map(|(start, end)| duration((end - start).num_seconds()))
                .unwrap_or_default(),
            is_finished: build.finished_at.is_some(),
            at: frame.moment(build.finished_at.unwrap_or(build.created_at)),
        }
    }
}

#[derive(Template)]
#[template(path = "builds.html")]
struct BuildsPage {
    frame: Frame,
    base: String,
    scope: &'static str,
    rows: Vec<Row>,
    total: u64,
    pager: Pager,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (visit.project(), visit.page());
    let (scope, statuses) = match visit.query("scope") {
        Some("pending") => ("pending", Some(vec![Status::Created, Status::Pending])),
        Some("running") => ("running", Some(vec![Status::Running])),
        Some("finished") => {
            ("finished", Some(vec![Status::Success, Status::Failed, Status::Canceled]))
        }
        _ => ("all", None),
    };
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = project_of(app, viewer.actor(), &named)?;
            Ok((project, build::list(app, viewer.actor(), &named, statuses.clone(), page)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let frame = Frame::of_project(&visit, &viewer, "Builds", frame_of(&project, "Builds"));
    let page = BuildsPage {
        base: format!("/{}", project.path()),
        scope,
        rows: found.items.iter().map(|view| Row::new(view, &frame)).collect(),
        total: found.total,
        pager: Pager::new(&visit, found.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// The project, for those who may read its builds.
fn project_of(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectPage, Error> {
    let project = project_page::get(app, actor, named)?;
    match project.may_build(CiAbility::ReadBuilds) {
        true => Ok(project),
        false => Err(Error::Forbidden(None)),
    }
}

#[derive(Template)]
#[template(path = "build.html")]
struct BuildPage {
    frame: Frame,
    base: String,
    row: Row,
    runner: Option<String>,
    coverage: Option<String>,
    tags: String,
    allow_failure: bool,
    is_waiting: bool,
    /// Whether the visitor can register a runner.
    may_administer: bool,
    is_running: bool,
    is_erased: Option<Moment>,
    may_cancel: bool,
    may_retry: bool,
    may_play: bool,
    may_erase: bool,
    artifacts: Option<ArtifactsShown>,
    log: Log,
    script: &'static str,
}

/// The artifacts of a build.
struct ArtifactsShown {
    name: String,
    size: u64,
    expires: Option<Moment>,
    may_keep: bool,
}

/// The log as the page shows it.
struct Log {
    lines: LogHtml,
    rest: LogHtml,
    offset: u64,
    next_line: u64,
    style: String,
    is_empty: bool,
    /// The number of KiB that are shown, if not all are.
    cut: Option<u64>,
}

impl Log {
    fn new(tail: &LogTail, sections: Sections) -> Self {
        let Rendered { lines, rest, next_line, complete, style, skipped } =
            log::render(&tail.bytes, 1, Style::default(), sections);
        let start = tail.start + skipped as u64;
        Self {
            lines,
            rest,
            offset: tail.start + complete as u64,
            next_line,
            style: style.word(),
            is_empty: tail.bytes.is_empty(),
            cut: (start > 0).then(|| (tail.end() - start).div_ceil(1024)),
        }
    }
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), BuildId(visit.id("id")));
    // The log is rendered here, on a thread that serves no connections.
    let (viewer, (project, view, log)) = visit
        .run(move |app, viewer| {
            let project = project_of(app, viewer.actor(), &named)?;
            let LoggedBuild { view, log } = build::with_log(app, viewer.actor(), &named, id, 0)?;
            // The script adds lines to a log that grows, and loads the page again when the build ends.
            let is_complete = view.build.status.is_complete();
            let sections = if is_complete { Sections::Folded } else { Sections::Flat };
            Ok((project, view, Log::new(&log, sections)))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let what = format!("Build #{id}");
    let frame = Frame::of_project(&visit, &viewer, &what, frame_of(&project, "Builds"));
    let (build, now) = (&view.build, visit.app().clock.now());
    let may_run = project.may_build(CiAbility::Run);
    let is_complete = build.status.is_complete();
    let is_active = matches!(build.status, Status::Created | Status::Pending | Status::Running);
    let is_playable = build.status == Status::Skipped && build.when == When::Manual;
    let artifacts = build.artifacts_at(now);
    let page = BuildPage {
        base: format!("/{}", project.path()),
        row: Row::new(&view, &frame),
        runner: view.runner.as_ref().map(|runner| format!("#{} {}", runner.id, runner.description)),
        coverage: build.coverage.map(|coverage| format!("{coverage}%")),
        tags: build.tags.iter().collect::<Vec<_>>().join(", "),
        allow_failure: build.allow_failure,
        is_waiting: matches!(build.status, Status::Created | Status::Pending),
        may_administer: project.may(ProjectAbility::Administer),
        is_running: is_active,
        is_erased: build.erased_at.map(|at| frame.moment(at)),
        may_cancel: may_run && is_active,
        may_retry: may_run && is_complete,
        may_play: may_run && is_playable,
        may_erase: may_run && is_complete && (artifacts.is_some() || !log.is_empty),
        artifacts: artifacts.map(|artifacts| ArtifactsShown {
            name: artifacts.file_name.clone(),
            size: artifacts.size.div_ceil(1024),
            expires: artifacts.expire_at.map(|at| frame.moment(at)),
            may_keep: may_run && artifacts.expire_at.is_some(),
        }),
        log,
        script: assets::log_script().address(),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// What was added to a log, for the script that follows it.
async fn follow(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), BuildId(visit.id("id")));
    let number = |name: &str, least: u64| {
        visit.query(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(least)
    };
    // The number of a line is only shown, but it must not overflow.
    let (from, line) = (number("from", 0), number("line", 1).min(u64::from(u32::MAX)));
    let style = Style::parse(visit.query("style").unwrap_or_default());
    let (_, body) = visit
        .run(move |app, viewer| {
            let LoggedBuild { view, log } = build::with_log(app, viewer.actor(), &named, id, from)?;
            // After a gap, the style before it is not known.
            let style = if log.start == from { style } else { Style::default() };
            let rendered = log::render(&log.bytes, line, style, Sections::Flat);
            let status = view.build.status;
            let body = json!({
                "offset": (log.start + rendered.complete as u64).to_string(),
                "line": rendered.next_line.to_string(),
                "style": rendered.style.word(),
                "html": rendered.lines.as_str(),
                "rest": rendered.rest.as_str(),
                "status": status.as_str(),
                "is_complete": status.is_complete(),
            });
            Ok(body.to_string())
        })
        .await?;
    let mut response = render::foreign_bytes("application/json");
    Ok(response.insert_header((CACHE_CONTROL, "private, no-store")).body(body))
}

/// Sends the whole log as text.
async fn raw(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), BuildId(visit.id("id")));
    let (viewer, trace) =
        visit.run(move |app, viewer| build::trace(app, viewer.actor(), &named, id)).await?;
    send(&visit, viewer, trace.content, "text/plain; charset=utf-8", None).await
}

async fn download(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), BuildId(visit.id("id")));
    let (viewer, file) =
        visit.run(move |app, viewer| build::artifacts(app, viewer.actor(), &named, id)).await?;
    let name = Some(file.name.as_str());
    send(&visit, viewer, file.content, "application/octet-stream", name).await
}

/// Streams a stored file. Its name cannot end the header early.
async fn send(
    visit: &Visit,
    viewer: Viewer,
    StoredFile { size, content }: StoredFile,
    media_type: &str,
    name: Option<&str>,
) -> PageResult<HttpResponse> {
    let mut response = render::foreign_bytes(media_type);
    response.insert_header((CACHE_CONTROL, "private, no-cache"));
    if let Some(name) = name {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        response.insert_header((CONTENT_DISPOSITION, format!("attachment; filename={name}")));
    }
    let permit = visit.permit(|limiter| &limiter.downloads, &viewer).await?;
    let write = move |to: &mut dyn Write| copy(&mut content.take(size), to);
    let body = stream::start(visit.limiter(), permit, write).await;
    let body = body.map_err(|error| PageError::of(error, viewer, false))?;
    Ok(body.of_size(size, &mut response))
}

fn copy(from: &mut dyn Read, to: &mut dyn Write) -> Result<(), Error> {
    let mut block = vec![0; 64 << 10];
    loop {
        let length = match from.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                let text = "a stored file cannot be read".to_owned();
                return Err(FilesError(text, error.into()).into());
            }
        };
        to.write_all(&block[..length]).map_err(GitError::ReaderGone)?;
    }
}

/// A change of a build.
type Command = fn(&App, Actor, &ProjectRef, BuildId) -> Result<BuildView, Error>;

/// Runs a command and shows the build that it returns.
async fn change(visit: Visit, command: Command) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), BuildId(visit.id("id")));
    let (_, done) = visit
        .submit(move |app, signed_in| {
            // Those who may not see the build learn nothing of it.
            build::get(app, signed_in.actor, &named, id)?;
            command(app, signed_in.actor, &named, id)
        })
        .await?;
    match done {
        Ok(view) => {
            let address = format!("{}/builds/{}", base_of(&visit), view.build.id);
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => {
            let refused: Result<(), _> = Err(faults);
            after_button(&visit, &format!("builds/{id}"), refused, Notice::Saved)
        }
    }
}

async fn cancel(visit: Visit) -> PageResult<HttpResponse> {
    change(visit, build::cancel).await
}

async fn retry(visit: Visit) -> PageResult<HttpResponse> {
    change(visit, build::retry).await
}

async fn play(visit: Visit) -> PageResult<HttpResponse> {
    change(visit, build::play).await
}

async fn erase(visit: Visit) -> PageResult<HttpResponse> {
    change(visit, build::erase).await
}

async fn keep(visit: Visit) -> PageResult<HttpResponse> {
    change(visit, build::keep_artifacts).await
}
