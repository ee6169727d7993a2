//! The home of a project, and what all its pages have in common.

use std::collections::HashMap;

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::project::star;
use hexforge_application::repository::{self, Readable, Revision, commits};
use hexforge_application::service::{self, ServiceLink};
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::policy::merge_request::RequestsAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::project::Archived;
use hexforge_domain::project::star::StarCommand;

use super::commit::format_name;
use super::explore::visibility_name;
use super::folder::{self, Entry, Folder, FolderContent, Readme};
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::frame::{Frame, ProjectFrame};
use crate::moment::count;
use crate::render;
use crate::visible;
use crate::visit::{Viewer, Visit};

/// The frame of the pages of a project: the items of the navigation are those that the visitor may use.
pub(super) fn frame_of(project: &ProjectPage, section: &'static str) -> ProjectFrame {
    let (path, home) = (project.path(), &project.placed.project);
    let base = format!("/{path}");
    let mut items = vec![("Overview", base.clone())];
    let reads_code = project.may(ProjectAbility::DownloadCode);
    if reads_code {
        // An empty repository has no branch. The home of the project says so, and how to push the first one.
        let branch = home.default_branch.as_ref().map(|branch| address::path(branch.as_str()));
        for (name, page) in [("Files", "tree"), ("Commits", "commits")] {
            let address = branch.as_ref().map(|branch| format!("{base}/{page}/{branch}"));
            items.push((name, address.unwrap_or_else(|| base.clone())));
        }
    }
    let reads_issues = project.may_track(TrackerAbility::ReadIssues);
    let others = [
        ("Branches", "branches", reads_code),
        ("Tags", "tags", reads_code),
        ("Issues", "issues", reads_issues),
        ("Boards", "boards", reads_issues),
        ("Merge requests", "merge_requests", project.may_request(RequestsAbility::List)),
        ("Pipelines", "pipelines", project.may_build(CiAbility::ReadPipelines)),
        ("Builds", "builds", project.may_build(CiAbility::ReadBuilds)),
        ("Members", "project_members", true),
        ("Settings", "edit", project.may(ProjectAbility::Administer)),
    ];
    let seen = others.into_iter().filter(|(_, _, is_seen)| *is_seen);
    items.extend(seen.map(|(name, page, _)| (name, format!("{base}/{page}"))));
    ProjectFrame { path, section, items }
}

/// Redirects to the stored spelling of the address of a project. Only those who may see it get here.
pub(super) fn other_spelling(visit: &Visit, project: &ProjectPage) -> Option<HttpResponse> {
    let given = format!("{}/{}", visit.param("namespace"), visit.param("project"));
    let stored = project.path();
    if given == stored {
        return None;
    }
    // The address begins with a slash, and its first two segments are those of the project.
    let address = visit.path_and_query();
    let end = address.match_indices(['/', '?']).map(|(at, _)| at).nth(2);
    let rest = end.map_or("", |end| &address[end..]);
    render::moved(&format!("/{stored}{rest}")).ok()
}

/// A commit as lists and headers show it.
pub(super) struct CommitLine {
    pub(super) id: String,
    pub(super) short: String,
    pub(super) title: String,
    pub(super) author: String,
    pub(super) at: crate::moment::Moment,
    /// The status of its pipelines, if the list shows it.
    pub(super) status: Option<&'static str>,
    /// The format of its signature, which was not checked.
    pub(super) signed: Option<&'static str>,
}

/// The statuses of the commits of a list.
pub(super) type Statuses = HashMap<ObjectId, Status>;

/// Reads the statuses of commits, if the visitor may see the pipelines of the project.
pub(super) fn statuses<'a>(
    app: &App,
    project: &ProjectPage,
    commits: impl IntoIterator<Item = &'a Commit>,
) -> Result<Statuses, Error> {
    let ids: Vec<ObjectId> = commits.into_iter().map(|commit| commit.id).collect();
    commits::statuses(app, project, &ids)
}

impl CommitLine {
    pub(super) fn new(commit: &Commit, frame: &Frame) -> Self {
        let id = commit.id.to_string();
        let title = commit.title();
        Self {
            short: id.chars().take(8).collect(),
            title: match title.trim() {
                "" => "(no message)".to_owned(),
                _ => visible::line(&title),
            },
            author: visible::name(&commit.author.name),
            at: frame.moment(commit.author.at),
            status: None,
            signed: commit.signed.map(format_name),
            id,
        }
    }

    /// Like [`new`](Self::new), with the status of the pipelines of the commit.
    pub(super) fn with_status(commit: &Commit, frame: &Frame, statuses: &Statuses) -> Self {
        let status = statuses.get(&commit.id).map(|status| status.as_str());
        Self { status, ..Self::new(commit, frame) }
    }
}

#[derive(Template)]
#[template(path = "project.html")]
struct Home {
    frame: Frame,
    base: String,
    name: String,
    description: String,
    visibility: &'static str,
    is_archived: bool,
    starred: bool,
    may_star: bool,
    may_fork: bool,
    /// The progress of an import, if the repository is still empty.
    importing: Option<String>,
    stars: String,
    clone_http: String,
    clone_ssh: String,
    may_push: bool,
    may_read_code: bool,
    default_branch: String,
    /// The project from which this one was forked.
    source: Option<String>,
    may_create_issue: bool,
    has_snippets: bool,
    /// The external issue tracker and wiki.
    links: Vec<ServiceLink>,
    /// The name and the address of the visitor, for the settings of git.
    user: Option<(String, String)>,
    path: String,
    content: Option<Root>,
}

/// The root folder of the default branch.
struct Root {
    branch: String,
    branches: Vec<String>,
    latest: Option<CommitLine>,
    /// The state of the pipelines of the latest commit.
    status: Option<&'static str>,
    /// The number of entries that are not shown.
    more_entries: Option<usize>,
    entries: Vec<Entry>,
    logs: Option<String>,
    has_hidden: bool,
    readme: Option<Readme>,
    /// The branch, encoded for addresses.
    at: String,
}

/// What the home of a project reads.
struct Contents {
    project: ProjectPage,
    tip: Option<Tip>,
    source: Option<String>,
    links: Vec<ServiceLink>,
}

struct Tip {
    branch: String,
    branches: Vec<String>,
    commit: Option<Commit>,
    status: Option<Status>,
    content: FolderContent,
    readme: Option<Readme>,
}

pub(super) async fn home(visit: Visit) -> PageResult<HttpResponse> {
    let (named, client) = (visit.project(), visit.address());
    let (viewer, contents) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let tip = if project.may(ProjectAbility::DownloadCode) {
                let readable = repository::readable(app, viewer.actor(), client, &named)?;
                let at = repository::revision_or_default(app, &readable, None)?;
                at.map(|at| read_tip(app, &readable, &project, at)).transpose()?
            } else {
                None
            };
            let source = project_page::fork_source(app, &project)?;
            let links = service::links(app, &project)?;
            Ok(Contents { project, tip, source, links })
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &contents.project) {
        return Ok(redirect);
    }
    show(&visit, &viewer, contents)
}

fn read_tip(
    app: &App,
    readable: &Readable,
    project: &ProjectPage,
    at: Revision,
) -> Result<Tip, Error> {
    let branch = project.placed.project.default_branch.as_ref();
    let branch = branch.map_or_else(String::new, |name| name.as_str().to_owned());
    let content = FolderContent::read(&at, "", 0)?;
    let status = match project.may_build(CiAbility::ReadPipelines) {
        true => repository::commits::status(app, readable, &at)?,
        false => None,
    };
    let commit = repository::commits::list(
        &at,
        repository::commits::CommitFilter { limit: 1, ..Default::default() },
    )?;
    let branches = repository::ref_names(&at, &branch);
    let base = format!("/{}", project.path());
    let remote_images = app.settings.remote_images;
    let root = Folder { base: &base, revision: &branch, path: "", remote_images };
    let readme = folder::read_readme(at, content.entries(), &root)?;
    Ok(Tip { commit: commit.into_iter().next(), branch, branches, status, content, readme })
}

fn show(visit: &Visit, viewer: &Viewer, contents: Contents) -> PageResult<HttpResponse> {
    let Contents { project, tip, source, links } = contents;
    let (row, path) = (&project.placed.project, project.path());
    let mut frame = Frame::of_project(visit, viewer, &path, frame_of(&project, "Overview"));
    let base = format!("/{path}");
    // Activity is shown to signed-in visitors, as by the API.
    frame.feed = viewer.signed_in().map(|_| format!("{base}.atom"));
    let host = visit.host();
    let content = tip.map(|tip| Root {
        latest: tip.commit.as_ref().map(|commit| CommitLine::new(commit, &frame)),
        status: tip.status.map(Status::as_str),
        more_entries: tip.content.others().map(|(_, after)| after),
        logs: tip.content.unknown_commits(&base),
        has_hidden: tip.content.entries().iter().any(|one| visible::has_hidden(&one.path)),
        entries: folder::rows(&base, &tip.branch, tip.content, &frame, &host),
        readme: tip.readme,
        at: address::path(&tip.branch),
        branch: tip.branch,
        branches: tip.branches,
    });
    let page = Home {
        name: row.name.as_str().to_owned(),
        description: row.description.as_ref().map_or("", |text| text.as_str()).to_owned(),
        visibility: visibility_name(row.visibility),
        is_archived: row.archived == Archived::Yes,
        starred: project.starred,
        may_star: project.may(ProjectAbility::Star),
        may_fork: project.may_fork(),
        importing: row
            .import_url
            .as_ref()
            .filter(|_| content.is_none())
            .map(|_| format!("{base}/import")),
        stars: count(row.star_count.into(), "star"),
        clone_http: visit.links().http_to_repo(&path),
        clone_ssh: visit.links().ssh_to_repo(&path),
        may_push: project.may(ProjectAbility::PushCode),
        may_read_code: project.may(ProjectAbility::DownloadCode),
        default_branch: row
            .default_branch
            .as_ref()
            .map_or_else(|| "master".to_owned(), |name| name.as_str().to_owned()),
        source,
        may_create_issue: project.may_track(TrackerAbility::CreateIssues),
        links,
        has_snippets: row.features.snippets && viewer.signed_in().is_some(),
        user: viewer.signed_in().map(|signed_in| {
            let user = &signed_in.user;
            (user.name.as_str().to_owned(), user.email.as_str().to_owned())
        }),
        path: row.path.as_str().to_owned(),
        content,
        base,
        frame,
    };
    render::page(visit, viewer, &page)
}

/// A browser at the address of a clone.
pub(super) async fn of_repository(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (_, project) =
        visit.run(move |app, viewer| project_page::get(app, viewer.actor(), &named)).await?;
    render::moved(&format!("/{}", project.path()))
}

pub(super) async fn star(visit: Visit) -> PageResult<HttpResponse> {
    change_star(visit, StarCommand::Star).await
}

pub(super) async fn unstar(visit: Visit) -> PageResult<HttpResponse> {
    change_star(visit, StarCommand::Unstar).await
}

async fn change_star(visit: Visit, command: StarCommand) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (_, path) = visit
        .run_signed_in(move |app, signed_in| {
            star::apply(app, signed_in.actor, &named, command)?;
            Ok(project_page::get(app, signed_in.actor, &named)?.path())
        })
        .await?;
    Ok(render::see_other_with(&visit, &format!("/{path}"), Notice::Saved))
}

/// The error of a ref or path that does not exist.
pub(super) fn missing() -> Error {
    Error::NotFound(Entity::Tree)
}
