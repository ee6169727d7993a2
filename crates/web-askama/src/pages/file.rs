//! Files of a repository.

use std::sync::Arc;

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::repository::ref_path::{self, Located};
use hexforge_application::repository::{self, Revision, browse};
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::ProjectRef;

use super::folder::MAX_README;
use super::project::{CommitLine, frame_of, missing, other_spelling};
use super::raw::{is_binary, picture_type};
use crate::address;
use crate::error::{PageError, PageResult};
use crate::frame::Frame;
use crate::highlight;
use crate::kept::{self, Rendered};
use crate::markdown;
use crate::render;
use crate::visit::{Viewer, Visit};

/// The part of a file that is shown, in bytes.
pub(super) const MAX_SHOWN: usize = 1024 * 1024;

/// Larger files are not shown at all.
const MAX_FILE: u64 = 5 * 1024 * 1024;

/// The longest folder whose last commits are searched for that of a file.
const MAX_SIBLINGS: usize = 1_000;

/// The largest pointer to a file that Git LFS stores elsewhere, in bytes.
const MAX_POINTER: u64 = 1024;

/// How such a pointer begins.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// A project and the place in its repository that an address names.
pub(super) struct Place {
    pub(super) project: ProjectPage,
    pub(super) located: Located,
}

/// Finds the project and the place in its repository.
pub(super) fn find_place(app: &App, actor: Actor, visit: &Address) -> Result<Place, Error> {
    let Address { named, client, rest } = visit;
    let project = project_page::get(app, actor, named)?;
    let readable = repository::readable(app, actor, *client, named)?;
    let located = ref_path::locate(app, &readable, rest)?.ok_or_else(missing)?;
    Ok(Place { project, located })
}

/// The parts of an address below a project.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) named: ProjectRef,
    pub(super) client: Option<std::net::IpAddr>,
    pub(super) rest: String,
}

impl Address {
    pub(super) fn of(visit: &Visit) -> Self {
        Self { named: visit.project(), client: visit.address(), rest: visit.param("rest") }
    }
}

/// A link of the navigation "Path".
pub(super) struct Crumb {
    pub(super) name: String,
    pub(super) address: String,
}

/// The folders above a path.
pub(super) fn crumbs(base: &str, project: &str, name: &str, path: &str) -> Vec<Crumb> {
    let mut crumbs = vec![Crumb {
        name: project.to_owned(),
        address: format!("{base}/tree/{}", address::path(name)),
    }];
    let parents = path.match_indices('/').map(|(at, _)| &path[..at]);
    for parent in parents {
        let shown = parent.rsplit('/').next().unwrap_or(parent);
        crumbs.push(Crumb {
            name: shown.to_owned(),
            address: format!("{base}/tree/{}", address::path(format!("{name}/{parent}"))),
        });
    }
    crumbs
}

pub(super) fn joined(name: &str, path: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{name}/{path}") }
}

pub(super) fn is_markdown(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".md", ".markdown", ".mdown", ".mkd"].iter().any(|ending| name.ends_with(ending))
}

#[derive(Template)]
#[template(path = "blob.html")]
struct BlobPage {
    frame: Frame,
    base: String,
    heading: String,
    crumbs: Vec<Crumb>,
    raw: String,
    blame: String,
    history: String,
    permalink: String,
    /// The address of the other form of a markdown file, and its name.
    other_form: Option<(String, &'static str)>,
    edit: Option<String>,
    delete: Option<Delete>,
    last: Option<CommitLine>,
    shown: Shown,
    is_lfs_pointer: bool,
    size: String,
}

/// The form that deletes the file.
struct Delete {
    action: String,
    branch: String,
    based_on: String,
}

/// What is shown of a file.
enum Shown {
    Rendered { html: Arc<Rendered>, cut_at: Option<usize> },
    Picture,
    Binary,
    TooLarge,
}

/// What a page of a file reads.
struct FileContent {
    project: ProjectPage,
    name: String,
    path: String,
    commit: String,
    id: ObjectId,
    size: u64,
    /// The start of the file; empty if the file is too large or rendered already, unless it may be a pointer.
    head: Vec<u8>,
    rendered: Option<Arc<Rendered>>,
    is_branch: bool,
    last: Option<Arc<Commit>>,
}

impl FileContent {
    fn read(Place { project, located }: Place, is_source: bool) -> Result<Self, Error> {
        let Located { at, name, path } = located;
        let commit = at.commit().to_string();
        let is_branch = repository::has_branch(&at, &name);
        let last = last_commit(&at, &path)?;
        let file = repository::file(at, &path)?;
        let (id, size) = (file.id(), file.size());
        let rendered = kept::find(id, name_of(&path), is_source);
        let head = match (&rendered, size > MAX_FILE) {
            (None, false) => file.head(MAX_SHOWN)?,
            (Some(_), _) if size <= MAX_POINTER => file.head(LFS_POINTER.len())?,
            (Some(_), _) | (None, true) => Vec::new(),
        };
        Ok(Self { project, name, path, commit, id, size, head, rendered, is_branch, last })
    }
}

/// The last commit that changed a file, if it is found in a short time.
fn last_commit(at: &Revision, path: &str) -> Result<Option<Arc<Commit>>, Error> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let siblings = repository::tree(at, folder, hexforge_domain::ports::git::Depth::Folder)?;
    if siblings.len() > MAX_SIBLINGS {
        return Ok(None);
    }
    Ok(browse::last_commits(at, folder)?.by_path.remove(path))
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) async fn blob(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let is_plain = visit.query("plain").is_some();
    let (viewer, mut file) = visit
        .run(move |app, viewer| {
            FileContent::read(find_place(app, viewer.actor(), &place)?, is_plain)
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &file.project) {
        return Ok(redirect);
    }
    let head = std::mem::take(&mut file.head);
    let is_lfs_pointer = head.starts_with(LFS_POINTER);
    let shown = match &file.rendered {
        Some(html) => Shown::of(Arc::clone(html), file.size),
        None if file.size > MAX_FILE => Shown::TooLarge,
        None if picture_type(&head).is_some() => Shown::Picture,
        None if is_binary(&head) => Shown::Binary,
        None => Shown::of(render_text(&visit, &viewer, &file, head, is_plain).await?, file.size),
    };
    show_file(&visit, &viewer, file, shown, is_lfs_pointer)
}

impl Shown {
    fn of(html: Arc<Rendered>, size: u64) -> Self {
        let cut_at = match &*html {
            Rendered::Code(code) if code.shown < code.lines || size > MAX_SHOWN as u64 => {
                Some(code.shown)
            }
            Rendered::Code(_) | Rendered::Markdown(_) => None,
        };
        Self::Rendered { html, cut_at }
    }
}

/// Renders a text on a thread for long work, and caches the outcome.
async fn render_text(
    visit: &Visit,
    viewer: &Viewer,
    file: &FileContent,
    head: Vec<u8>,
    is_source: bool,
) -> PageResult<Arc<Rendered>> {
    let (id, name, size) = (file.id, name_of(&file.path).to_owned(), file.size);
    let place = highlight::place().await;
    let work = move || {
        let text = String::from_utf8_lossy(&head);
        if is_markdown(&name)
            && !is_source
            && size <= MAX_README as u64
            && let Some(html) = markdown::render(&text)
        {
            return Ok(kept::keep(id, &name, is_source, Rendered::Markdown(html)));
        }
        let is_final = place.is_some();
        let whole = match size > MAX_SHOWN as u64 {
            // The last line may be incomplete.
            true => text.rfind('\n').map_or(&*text, |end| &text[..=end]),
            false => &text,
        };
        let rendered = Rendered::Code(highlight::rows(&name, whole, place));
        // Without a place the code is plain, and the next visitor may see it highlighted.
        Ok(match is_final {
            true => kept::keep(id, &name, is_source, rendered),
            false => Arc::new(rendered),
        })
    };
    visit.run_long(|limiter| &limiter.blobs, viewer, work).await
}

fn show_file(
    visit: &Visit,
    viewer: &Viewer,
    file: FileContent,
    shown: Shown,
    is_lfs_pointer: bool,
) -> PageResult<HttpResponse> {
    let FileContent { project, name, path, commit, id, size, is_branch, last, .. } = file;
    let base = format!("/{}", project.path());
    let place = address::path(joined(&name, &path));
    let heading = name_of(&path).to_owned();
    let here = format!("{base}/blob/{place}");
    let other_form = is_markdown(&heading).then(|| match visit.query("plain").is_some() {
        true => (here.clone(), "Rendered"),
        false => (format!("{here}?plain=1"), "Source"),
    });
    let may_write = is_branch && project.may(ProjectAbility::PushCode);
    let is_text = matches!(shown, Shown::Rendered { .. }) && size <= MAX_SHOWN as u64;
    let delete = || Delete { action: here.clone(), branch: name.clone(), based_on: id.to_string() };
    let frame = Frame::of_project(visit, viewer, &path, frame_of(&project, "Files"));
    let page = BlobPage {
        crumbs: crumbs(&base, project.placed.project.name.as_str(), &name, &path),
        raw: format!("{base}/raw/{place}"),
        blame: format!("{base}/blame/{place}"),
        history: format!("{base}/commits/{place}"),
        permalink: format!("{base}/blob/{}", address::path(joined(&commit, &path))),
        other_form,
        edit: (may_write && is_text).then(|| format!("{base}/edit/{place}")),
        delete: may_write.then(delete),
        last: last.map(|commit| CommitLine::new(&commit, &frame)),
        shown,
        is_lfs_pointer,
        size: size_in_words(size),
        heading,
        base,
        frame,
    };
    render::page(visit, viewer, &page)
}

fn size_in_words(size: u64) -> String {
    match size {
        0..1024 => crate::moment::count(size, "byte"),
        1024..1_048_576 => format!("{:.1} KiB", size as f64 / 1024.0),
        _ => format!("{:.1} MiB", size as f64 / 1_048_576.0),
    }
}

/// Sends the browser to the same page of another branch or tag.
pub(super) async fn switch(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (viewer, project) =
        visit.run(move |app, viewer| project_page::get(app, viewer.actor(), &named)).await?;
    let Some(name) = visit.query("id") else {
        return Err(PageError::of(Error::NotFound(Entity::Tree), viewer, false));
    };
    let page = match visit.query("destination") {
        Some("blob") => "blob",
        Some("commits") => "commits",
        Some("graphs") => "graphs",
        Some("network") => "network",
        _ => "tree",
    };
    let place = address::path(joined(name, visit.query("path").unwrap_or_default()));
    Ok(render::see_other(&format!("/{}/{page}/{place}", project.path())).finish())
}
