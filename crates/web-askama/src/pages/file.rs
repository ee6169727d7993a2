//! Folders and files of a repository.

use std::io::Write;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::repository::browse::{self, FolderCommits};
use hexforge_application::repository::ref_path::{self, Located};
use hexforge_application::repository::{self, Content, Revision};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::Depth;
use hexforge_domain::repository::{EntryKind, TreeEntry};
use hexforge_http_edge::conditional::ETag;
use hexforge_http_edge::stream;

use super::project::{CommitLine, frame_of, missing, other_spelling};
use crate::address;
use crate::error::{PageError, PageResult};
use crate::frame::Frame;
use crate::markdown::{self, CleanHtml};
use crate::render;
use crate::visit::{Viewer, Visit};

/// The entries of a folder that are shown. Longer folders have no last commits.
const MAX_ENTRIES: usize = 1_000;

/// The largest README that is rendered.
const MAX_README: usize = 512 * 1024;

/// The largest file that is shown, and the number of lines.
const MAX_SHOWN: usize = 1024 * 1024;
const MAX_LINES: usize = 5_000;

/// The longest line; the rest is cut.
const MAX_LINE: usize = 2_000;

/// A row of the table of a folder.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) address: Option<String>,
    pub(super) kind: &'static str,
    /// The last commit that changed it, if it is known.
    pub(super) last: Option<CommitLine>,
}

/// The entries of a folder, and their last commits.
pub(super) struct FolderContent {
    entries: Vec<TreeEntry>,
    last: FolderCommits,
    total: usize,
}

impl FolderContent {
    pub(super) fn read(at: &Revision, path: &str) -> Result<Self, Error> {
        let mut entries = repository::tree(at, path, Depth::Folder)?;
        let total = entries.len();
        let last = match total <= MAX_ENTRIES {
            true => browse::last_commits(at, path)?,
            false => FolderCommits::default(),
        };
        entries.truncate(MAX_ENTRIES);
        Ok(Self { entries, last, total })
    }

    /// The number of entries that are shown, if there are more.
    pub(super) fn shown_of_more(&self) -> Option<usize> {
        (self.total > self.entries.len()).then_some(self.entries.len())
    }

    pub(super) fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }
}

/// The rows of a folder, folders first.
pub(super) fn rows(
    base: &str,
    revision: &str,
    content: FolderContent,
    frame: &Frame,
) -> Vec<Entry> {
    let FolderContent { mut entries, last, .. } = content;
    entries.sort_by_key(|entry| entry.kind != EntryKind::Tree);
    let row = |entry: &TreeEntry| {
        let (page, kind) = match entry.kind {
            EntryKind::Tree => (Some("tree"), "Folder"),
            EntryKind::Blob => (Some("blob"), "File"),
            EntryKind::Commit => (None, "Submodule"),
        };
        let at = address::path(format!("{revision}/{}", entry.path));
        Entry {
            name: entry.name().to_owned(),
            address: page.map(|page| format!("{base}/{page}/{at}")),
            kind,
            last: last.by_path.get(&entry.path).map(|commit| CommitLine::new(commit, frame)),
        }
    };
    entries.iter().map(row).collect()
}

/// The README of a folder, rendered if it is markdown.
pub(super) struct Readme {
    pub(super) name: String,
    pub(super) html: Option<CleanHtml>,
    pub(super) text: String,
}

impl Readme {
    pub(super) fn new(name: String, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let html = if is_markdown(&name) { markdown::render(&text) } else { None };
        Self { name, html, text }
    }
}

fn is_markdown(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".md", ".markdown", ".mdown", ".mkd"].iter().any(|ending| name.ends_with(ending))
}

/// Reads the README among the entries of a folder: markdown comes before plain text.
pub(super) fn read_readme(at: Revision, entries: &[TreeEntry]) -> Result<Option<Readme>, Error> {
    let is_readme = |entry: &&TreeEntry| {
        let name = entry.name().to_ascii_lowercase();
        entry.kind == EntryKind::Blob && (name == "readme" || name.starts_with("readme."))
    };
    let found = entries.iter().filter(is_readme).min_by_key(|entry| !is_markdown(entry.name()));
    let Some(entry) = found else { return Ok(None) };
    match repository::file(at, &entry.path)?.content()? {
        Content::Small(bytes) if bytes.len() <= MAX_README => {
            Ok(Some(Readme::new(entry.name().to_owned(), &bytes)))
        }
        Content::Small(_) | Content::Large(..) => Ok(None),
    }
}

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
    named: hexforge_domain::project::ProjectRef,
    client: Option<std::net::IpAddr>,
    rest: String,
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

#[derive(Template)]
#[template(path = "tree.html")]
struct Tree {
    frame: Frame,
    base: String,
    heading: String,
    revision: String,
    branches: Vec<String>,
    path: String,
    crumbs: Vec<Crumb>,
    history: String,
    entries: Vec<Entry>,
    shown_of_more: Option<usize>,
    readme: Option<Readme>,
}

pub(super) async fn tree(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let (viewer, (project, name, path, branches, content, readme)) = visit
        .run(move |app, viewer| {
            let Place { project, located } = find_place(app, viewer.actor(), &place)?;
            let Located { at, name, path } = located;
            let content = FolderContent::read(&at, &path)?;
            if content.entries().is_empty() && !path.is_empty() {
                return Err(missing());
            }
            let branches = repository::branch_names(&at);
            let readme = read_readme(at, content.entries())?;
            Ok((project, name, path, branches, content, readme))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let project_name = project.placed.project.name.as_str();
    let heading = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(project_name);
    let what = if path.is_empty() { name.clone() } else { path.clone() };
    let frame = Frame::of_project(&visit, &viewer, &what, frame_of(&project, "Files"));
    let page = Tree {
        heading: heading.to_owned(),
        crumbs: if path.is_empty() { vec![] } else { crumbs(&base, project_name, &name, &path) },
        history: format!("{base}/commits/{}", address::path(joined(&name, &path))),
        shown_of_more: content.shown_of_more(),
        entries: rows(&base, &name, content, &frame),
        readme,
        revision: name,
        branches,
        path,
        base,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

pub(super) fn joined(name: &str, path: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{name}/{path}") }
}

#[derive(Template)]
#[template(path = "blob.html")]
struct BlobPage {
    frame: Frame,
    heading: String,
    crumbs: Vec<Crumb>,
    raw: String,
    blame: String,
    history: String,
    permalink: String,
    /// The address of the other form of a markdown file, and its name.
    other_form: Option<(String, &'static str)>,
    shown: Shown,
    size: String,
}

/// What is shown of a file.
enum Shown {
    Text { lines: Vec<String>, is_cut: bool },
    Markdown(CleanHtml),
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
    content: Option<Vec<u8>>,
    size: u64,
}

pub(super) async fn blob(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let (viewer, file) = visit
        .run(move |app, viewer| {
            let Place { project, located } = find_place(app, viewer.actor(), &place)?;
            let Located { at, name, path } = located;
            let commit = at.commit().to_string();
            let (content, size) = read_shown(at, &path)?;
            Ok(FileContent { project, name, path, commit, content, size })
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &file.project) {
        return Ok(redirect);
    }
    show_file(&visit, &viewer, file)
}

/// Reads a file, and its size. The content is missing if it is too large to be shown.
pub(super) fn read_shown(at: Revision, path: &str) -> Result<(Option<Vec<u8>>, u64), Error> {
    match repository::file(at, path)?.content()? {
        Content::Small(bytes) => {
            let size = bytes.len() as u64;
            Ok((Some(bytes), size))
        }
        Content::Large(blob, repository) if blob.size <= MAX_SHOWN as u64 => {
            let mut bytes = Vec::with_capacity(usize::try_from(blob.size).unwrap_or_default());
            repository.write_blob(blob.id, &mut bytes)?;
            Ok((Some(bytes), blob.size))
        }
        Content::Large(blob, _) => Ok((None, blob.size)),
    }
}

fn show_file(visit: &Visit, viewer: &Viewer, file: FileContent) -> PageResult<HttpResponse> {
    let FileContent { project, name, path, commit, content, size } = file;
    let base = format!("/{}", project.path());
    let place = address::path(joined(&name, &path));
    let heading = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let is_plain = visit.query("plain").is_some();
    let shown = match content {
        None => Shown::TooLarge,
        Some(bytes) => shown(&heading, &bytes, is_plain),
    };
    let here = format!("{base}/blob/{place}");
    let other_form = is_markdown(&heading).then(|| match is_plain {
        true => (here.clone(), "Rendered"),
        false => (format!("{here}?plain=1"), "Source"),
    });
    let page = BlobPage {
        frame: Frame::of_project(visit, viewer, &path, frame_of(&project, "Files")),
        crumbs: crumbs(&base, project.placed.project.name.as_str(), &name, &path),
        raw: format!("{base}/raw/{place}"),
        blame: format!("{base}/blame/{place}"),
        history: format!("{base}/commits/{place}"),
        permalink: format!("{base}/blob/{}", address::path(joined(&commit, &path))),
        other_form,
        shown,
        size: size_in_words(size),
        heading,
    };
    render::page(visit, viewer, &page)
}

fn shown(name: &str, bytes: &[u8], is_plain: bool) -> Shown {
    if picture_type(bytes).is_some() {
        return Shown::Picture;
    }
    if bytes.iter().take(8_000).any(|byte| *byte == 0) {
        return Shown::Binary;
    }
    let text = String::from_utf8_lossy(bytes);
    if is_markdown(name)
        && !is_plain
        && bytes.len() <= MAX_README
        && let Some(html) = markdown::render(&text)
    {
        return Shown::Markdown(html);
    }
    let mut lines = text.lines();
    let shown: Vec<String> = lines.by_ref().take(MAX_LINES).map(visible).collect();
    Shown::Text { lines: shown, is_cut: lines.next().is_some() }
}

/// A line as it is shown: not longer than the limit, and with the characters that change its direction visible.
pub(crate) fn visible(line: &str) -> String {
    let cut = line.char_indices().nth(MAX_LINE).map_or(line, |(at, _)| &line[..at]);
    let mut shown = String::with_capacity(cut.len());
    for c in cut.chars() {
        match c {
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.push_str(&format!("[U+{:04X}]", u32::from(c)));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// The media type of a picture, by its bytes.
fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f' | b's', ..] => {
            Some("image/avif")
        }
        _ => None,
    }
}

fn size_in_words(size: u64) -> String {
    match size {
        0..1024 => crate::moment::count(size, "byte"),
        1024..1_048_576 => format!("{:.1} KiB", size as f64 / 1024.0),
        _ => format!("{:.1} MiB", size as f64 / 1_048_576.0),
    }
}

/// Sends the bytes of a file. Nothing of them runs in a browser: text of any kind is plain text, pictures are what their
/// bytes say, and everything else is a download.
pub(super) async fn raw(visit: Visit) -> PageResult<HttpResponse> {
    let (place, known) = (Address::of(&visit), visit.if_none_match());
    let (viewer, found) = visit
        .run(move |app, viewer| {
            let Place { located, .. } = find_place(app, viewer.actor(), &place)?;
            let file = repository::file(located.at, &located.path)?;
            let tag = ETag::strong(&[file.id().to_string().as_bytes()]);
            let content = if known.has(&tag) { None } else { Some(file.content()?) };
            Ok((tag, content))
        })
        .await?;
    let (tag, content) = found;
    let Some(content) = content else {
        let mut response = HttpResponse::NotModified();
        tag.put_on(&mut response);
        return Ok(response.finish());
    };
    let (bytes, large) = match content {
        Content::Small(bytes) => (bytes, None),
        Content::Large(blob, repository) => (Vec::new(), Some((blob, repository))),
    };
    let media_type = match (&large, picture_type(&bytes)) {
        (None, Some(picture)) => picture,
        (None, None) if !bytes.contains(&0) => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    };
    let mut response = render::foreign_bytes(media_type);
    tag.put_on(&mut response);
    if media_type == "application/octet-stream" {
        response.insert_header((CONTENT_DISPOSITION, "attachment"));
    }
    let Some((blob, repository)) = large else { return Ok(response.body(bytes)) };
    let permit = visit.permit(|limiter| &limiter.blobs, &viewer).await?;
    let write = move |to: &mut dyn Write| repository.write_blob(blob.id, to);
    let body = stream::start(visit.limiter(), permit, write).await;
    let body = body.map_err(|error| PageError::of(error, viewer, false))?;
    Ok(body.of_size(blob.size, &mut response))
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
        _ => "tree",
    };
    let place = address::path(joined(name, visit.query("path").unwrap_or_default()));
    Ok(render::see_other(&format!("/{}/{page}/{place}", project.path())).finish())
}
