//! Files of a repository.

use std::borrow::Cow;
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
use hexforge_domain::repository::path;
use hexforge_http_edge::conditional::ETag;

use super::conditions::{self, Conditions};
use super::folder::{Folder, LINK_MODE, MAX_README};
use super::project::{CommitLine, frame_of, missing, other_spelling};
use super::raw::{is_binary, picture_type};
use crate::address;
use crate::error::{MissingPlace, PageError, PageResult};
use crate::frame::Frame;
use crate::highlight::{self, CodeHtml};
use crate::kept::{self, Kept, Key, Rendered};
use crate::markdown;
use crate::moment::count;
use crate::render;
use crate::visible;
use crate::visit::{Viewer, Visit};

/// The part of a file that is shown, in bytes.
pub(super) const MAX_SHOWN: usize = 1024 * 1024;

/// Larger files are not shown at all.
pub(super) const MAX_FILE: u64 = 5 * 1024 * 1024;

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
        Self { named: visit.project(), client: visit.address(), rest: visit.path_param("rest") }
    }
}

/// Runs a use case for a page of a branch, tag or commit. If the place does not exist, the page says so to those who may
/// read the code.
pub(super) async fn run_at<T: Send + 'static>(
    visit: &Visit,
    use_case: impl Fn(&App, &Viewer) -> Result<T, Error> + Send + 'static,
) -> PageResult<(Viewer, T)> {
    match visit.run(use_case).await {
        Err(error) if error.is_not_found() => Err(explained(visit, error).await),
        outcome => outcome,
    }
}

/// Adds to an error what does not exist.
async fn explained(visit: &Visit, error: PageError) -> PageError {
    let place = Address::of(visit);
    let rest = place.rest.clone();
    let found = visit.run(move |app, viewer| {
        let project = project_page::get(app, viewer.actor(), &place.named)?;
        let readable = repository::readable(app, viewer.actor(), place.client, &place.named)?;
        let located = ref_path::locate(app, &readable, &place.rest)?;
        let default = repository::revision_or_default(app, &readable, None)?;
        let default = default.and(project.placed.project.default_branch.clone());
        Ok((project, located.map(|Located { name, path, .. }| (name, path)), default))
    });
    let Ok((viewer, (project, located, default))) = found.await else { return error };
    let text = match located {
        Some((name, path)) => {
            format!("There is no “{}” in “{}”.", visible::name(&path), visible::name(&name))
        }
        None => {
            let (name, path) = rest.split_once('/').unwrap_or((&rest, ""));
            let name = visible::name(name);
            match path {
                "" => format!("There is no branch, tag or commit “{name}”."),
                path => format!(
                    "There is no branch, tag or commit “{name}”, and so no “{}” in it.",
                    visible::name(path)
                ),
            }
        }
    };
    let base = format!("/{}", project.path());
    let nearest = match default {
        Some(branch) => {
            let branch = branch.as_str();
            (visible::name(branch), format!("{base}/tree/{}", address::path(branch)))
        }
        None => (project.path(), base),
    };
    let project = frame_of(&project, "Files");
    PageError::no_place(viewer, MissingPlace { project, text, nearest })
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
            name: visible::name(shown),
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
    find_file: String,
    permalink: String,
    /// The address of the other form of a markdown file, and its name.
    other_form: Option<(String, &'static str)>,
    /// Whether long lines are wrapped, and the address of the same page without or with it. Only code has it.
    wraps: bool,
    other_wrapping: Option<String>,
    edit: Option<String>,
    delete: Option<Delete>,
    last: Option<CommitLine>,
    shown: Shown,
    is_lfs_pointer: bool,
    /// Whether the name or the code has characters that change the direction of text.
    has_hidden: bool,
    /// The size, the number of lines, and the mode.
    facts: Vec<String>,
}

/// The form that deletes the file.
struct Delete {
    action: String,
    branch: String,
    based_on: String,
}

/// What is shown of a file.
enum Shown {
    Rendered { file: Arc<Kept>, cut_at: Option<usize> },
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
    mode: Option<u32>,
    /// The start of the file; empty if the file is too large or rendered already, unless it may be a pointer.
    head: Vec<u8>,
    /// How it is kept once it is rendered.
    key: Key,
    rendered: Option<Arc<Kept>>,
    is_branch: bool,
    last: Option<Arc<Commit>>,
    tag: Option<ETag>,
}

/// What is read for a page of a file.
enum Found {
    File(Box<FileContent>),
    Unchanged(Option<ETag>),
}

impl FileContent {
    fn read(
        app: &App,
        Place { project, located }: Place,
        tag: Option<ETag>,
        is_source: bool,
    ) -> Result<Self, Error> {
        let Located { at, name, path } = located;
        let commit = at.commit().to_string();
        let is_branch = repository::has_branch(&at, &name);
        let Siblings { mode, last } = Siblings::read(&at, &path)?;
        let file = repository::file(at, &path)?;
        let (id, size) = (file.id(), file.size());
        let base = format!("/{}", project.path());
        let folder = Folder {
            base: &base,
            revision: &name,
            path: path.rsplit_once('/').map_or("", |(folder, _)| folder),
            remote_images: app.settings.remote_images,
        };
        let is_prose = is_markdown(&path) && !is_source && mode != Some(LINK_MODE);
        let prose = is_prose.then(|| folder.prose());
        let key = Key { id, name: name_of(&path).to_owned(), prose };
        let rendered = kept::find(&key);
        let head = match (&rendered, size > MAX_FILE) {
            (None, false) => file.head(MAX_SHOWN)?,
            (Some(_), _) if size <= MAX_POINTER => file.head(LFS_POINTER.len())?,
            (Some(_), _) | (None, true) => Vec::new(),
        };
        Ok(Self {
            project,
            name,
            path,
            commit,
            id,
            size,
            mode,
            head,
            key,
            rendered,
            is_branch,
            last,
            tag,
        })
    }
}

/// What the folder of a file tells of it.
struct Siblings {
    mode: Option<u32>,
    /// The last commit that changed the file, if it is found in a short time.
    last: Option<Arc<Commit>>,
}

impl Siblings {
    fn read(at: &Revision, path: &str) -> Result<Self, Error> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let siblings = repository::tree(at, folder, hexforge_domain::ports::git::Depth::Folder)?;
        let mode = siblings.iter().find(|entry| entry.path == path).map(|entry| entry.mode);
        let last = match siblings.len() > MAX_SIBLINGS {
            true => None,
            false => browse::last_commits(at, folder)?.by_path.remove(path),
        };
        Ok(Self { mode, last })
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) async fn blob(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let is_plain = visit.query("plain").is_some();
    let conditions = Conditions::of(&visit);
    let read = move |app: &App, viewer: &Viewer| {
        let place = find_place(app, viewer.actor(), &place)?;
        let Located { at, name, .. } = &place.located;
        let tag = conditions.tag(app, viewer, &place.project, name, at.commit());
        if conditions.has(tag.as_ref()) {
            return Ok(Found::Unchanged(tag));
        }
        Ok(Found::File(Box::new(FileContent::read(app, place, tag, is_plain)?)))
    };
    let (viewer, mut file) = match run_at(&visit, read).await? {
        (viewer, Found::File(file)) => (viewer, *file),
        (_, Found::Unchanged(tag)) => return Ok(conditions::unchanged(tag)),
    };
    if let Some(redirect) = other_spelling(&visit, &file.project) {
        return Ok(redirect);
    }
    let head = std::mem::take(&mut file.head);
    let is_lfs_pointer = head.starts_with(LFS_POINTER);
    let shown = match &file.rendered {
        Some(kept) => Shown::of(Arc::clone(kept), file.size),
        None if file.size > MAX_FILE => Shown::TooLarge,
        None if picture_type(&head).is_some() => Shown::Picture,
        None if is_binary(&head) => Shown::Binary,
        None => Shown::of(render_text(&visit, &viewer, &file, head).await?, file.size),
    };
    show_file(&visit, &viewer, file, shown, is_lfs_pointer)
}

impl Shown {
    fn of(file: Arc<Kept>, size: u64) -> Self {
        let cut_at = match &file.html {
            Rendered::Code(code) if code.shown < code.lines || size > MAX_SHOWN as u64 => {
                Some(code.shown)
            }
            Rendered::Code(_) | Rendered::Markdown(_) => None,
        };
        Self::Rendered { file, cut_at }
    }
}

/// Renders a text on a thread for long work, and caches the outcome.
async fn render_text(
    visit: &Visit,
    viewer: &Viewer,
    file: &FileContent,
    head: Vec<u8>,
) -> PageResult<Arc<Kept>> {
    let (key, size) = (file.key.clone(), file.size);
    let place = highlight::place().await;
    let work = move || {
        let text = String::from_utf8_lossy(&head);
        let is_utf8 = matches!(text, Cow::Borrowed(_));
        if let Some(prose) = &key.prose
            && size <= MAX_README as u64
            && let Some(html) = markdown::render_file(&text, &prose.place, prose.remote_images)
        {
            return Ok(kept::keep(key, Kept { html: Rendered::Markdown(html), is_utf8 }));
        }
        let is_final = place.is_some();
        let whole = match size > MAX_SHOWN as u64 {
            // The last line may be incomplete.
            true => text.rfind('\n').map_or(&*text, |end| &text[..=end]),
            false => &text,
        };
        let code = highlight::rows(&key.name, whole, place);
        // Without a place the code is plain, and the next visitor may see it highlighted.
        let is_final = is_final && !code.is_unfinished;
        let file = Kept { html: Rendered::Code(code), is_utf8 };
        Ok(if is_final { kept::keep(key, file) } else { Arc::new(file) })
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
    let FileContent { project, name, path, commit, id, size, mode, is_branch, last, tag, .. } =
        file;
    let base = format!("/{}", project.path());
    let place = address::path(joined(&name, &path));
    let here = format!("{base}/blob/{place}");
    let other_form = is_markdown(&path).then(|| match visit.query("plain").is_some() {
        true => (here.clone(), "Rendered"),
        false => (format!("{here}?plain=1"), "Source"),
    });
    let wraps = visit.query("wrap") == Some("1");
    let other_wrapping = || {
        let plain = visit.query("plain").map(|_| ("plain", "1"));
        let wrap = (!wraps).then_some(("wrap", "1"));
        let query = address::query(plain.into_iter().chain(wrap));
        if query.is_empty() { here.clone() } else { format!("{here}?{query}") }
    };
    // Forms can write files whose names are text.
    let is_named = matches!(path::shown(&path), Cow::Borrowed(_));
    let may_write = is_branch && is_named && project.may(ProjectAbility::PushCode);
    let is_text = matches!(&shown, Shown::Rendered { file, .. } if file.is_utf8)
        && size <= MAX_SHOWN as u64
        && mode != Some(LINK_MODE);
    let code = match &shown {
        Shown::Rendered { file, .. } => file.html.code(),
        Shown::Picture | Shown::Binary | Shown::TooLarge => None,
    };
    let delete = || Delete { action: here.clone(), branch: name.clone(), based_on: id.to_string() };
    let frame =
        Frame::of_project(visit, viewer, &visible::name(&path), frame_of(&project, "Files"));
    let page = BlobPage {
        crumbs: crumbs(&base, project.placed.project.name.as_str(), &name, &path),
        raw: format!("{base}/raw/{place}"),
        blame: format!("{base}/blame/{place}"),
        history: format!("{base}/commits/{place}"),
        find_file: format!("{base}/find_file/{}", address::path(&name)),
        permalink: format!("{base}/blob/{}", address::path(joined(&commit, &path))),
        other_form,
        other_wrapping: code.map(|_| other_wrapping()),
        wraps,
        edit: (may_write && is_text).then(|| format!("{base}/edit/{place}")),
        delete: may_write.then(delete),
        last: last.map(|commit| CommitLine::new(&commit, &frame)),
        is_lfs_pointer,
        has_hidden: visible::has_hidden(&path) || code.is_some_and(|code| code.has_hidden),
        facts: facts(size, code, mode),
        heading: visible::name(name_of(&path)),
        shown,
        base,
        frame,
    };
    Ok(conditions::tagged(render::page(visit, viewer, &page)?, tag))
}

/// What is said of a file: its size, its lines, and its mode if it is not that of most files.
fn facts(size: u64, code: Option<&CodeHtml>, mode: Option<u32>) -> Vec<String> {
    let is_whole = size <= MAX_SHOWN as u64;
    let lines = code.filter(|_| is_whole).map(|code| count(code.lines as u64, "line"));
    let mode = match mode {
        Some(0o100_755) => Some("executable".to_owned()),
        Some(LINK_MODE) => Some("symbolic link".to_owned()),
        _ => None,
    };
    [Some(size_in_words(size)), lines, mode].into_iter().flatten().collect()
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
