//! Folders of a repository, and their README files.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::project::page::ProjectPage;
use hexforge_application::repository::browse::{self, FolderCommits};
use hexforge_application::repository::ref_path::Located;
use hexforge_application::repository::{self, Content, Revision};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::Depth;
use hexforge_domain::repository::{EntryKind, TreeEntry};
use hexforge_http_edge::conditional::ETag;
use serde_json::json;

use super::conditions::{self, Conditions};
use super::file::{self, Address, Crumb, crumbs, find_place, is_markdown, joined};
use super::project::{CommitLine, frame_of, missing, other_spelling};
use super::submodules::Submodules;
use crate::address;
use crate::error::{PageError, PageResult};
use crate::frame::{Frame, Pager};
use crate::kept::{self, Kept, Key, Prose, Rendered};
use crate::markdown::{self, Place};
use crate::render;
use crate::visible;
use crate::visit::{Viewer, Visit};

/// The entries of a folder on one page. Longer folders have no last commits.
const MAX_ENTRIES: usize = 1_000;

/// The largest README that is rendered.
pub(super) const MAX_README: usize = 512 * 1024;

/// The symbolic links of a folder whose targets are shown, and the longest target in bytes.
const MAX_LINKS: usize = 100;
const MAX_TARGET: usize = 1_000;

/// The mode of symbolic links.
pub(super) const LINK_MODE: u32 = 0o120_000;

/// A row of the table of a folder.
pub(super) struct Entry {
    pub(super) name: String,
    /// The name as scripts find it.
    pub(super) key: String,
    pub(super) address: Option<String>,
    /// Whether the address is on another host.
    pub(super) is_foreign: bool,
    pub(super) kind: &'static str,
    /// The target of a symbolic link.
    pub(super) target: Option<String>,
    /// The last commit that changed it, if it is known.
    pub(super) last: Option<CommitLine>,
}

/// The entries of a folder, and their last commits.
pub(super) struct FolderContent {
    entries: Vec<TreeEntry>,
    last: FolderCommits,
    targets: HashMap<String, String>,
    submodules: Submodules,
    total: usize,
    /// The number of entries before the page.
    first: usize,
    /// The commit and the folder, for the script that asks for last commits.
    place: String,
}

impl FolderContent {
    /// Reads a page of a folder; the first one has the number 0.
    pub(super) fn read(at: &Revision, path: &str, page: usize) -> Result<Self, Error> {
        let mut entries = repository::tree(at, path, Depth::Folder)?;
        let total = entries.len();
        let last = match total <= MAX_ENTRIES {
            true => browse::last_commits(at, path)?,
            false => FolderCommits { is_complete: true, ..FolderCommits::default() },
        };
        let first = page.saturating_mul(MAX_ENTRIES).min(total);
        entries.drain(..first);
        entries.truncate(MAX_ENTRIES);
        let mut targets = HashMap::new();
        let links = entries.iter().filter(|entry| entry.mode == LINK_MODE);
        for entry in links.take(MAX_LINKS) {
            let target = repository::head_at(at, &entry.path, MAX_TARGET)?.unwrap_or_default();
            targets.insert(entry.path.clone(), String::from_utf8_lossy(&target).into_owned());
        }
        let submodules = match entries.iter().any(|entry| entry.kind == EntryKind::Commit) {
            true => Submodules::read(at)?,
            false => Submodules::default(),
        };
        let place = match path {
            "" => format!("{}/logs_tree", at.commit()),
            path => format!("{}/logs_tree/{}", at.commit(), address::path(path)),
        };
        Ok(Self { entries, last, targets, submodules, total, first, place })
    }

    /// The number of entries before the page, and after it, if there are any.
    pub(super) fn others(&self) -> Option<(usize, usize)> {
        let after = self.total - self.first - self.entries.len();
        (self.total > self.entries.len()).then_some((self.first, after))
    }

    pub(super) fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    /// The address with the last commits, if some of them are not known yet.
    pub(super) fn unknown_commits(&self, base: &str) -> Option<String> {
        (!self.last.is_complete).then(|| format!("{base}/refs/{}", self.place))
    }
}

/// The rows of a folder, folders first. `host` is that of this service.
pub(super) fn rows(
    base: &str,
    revision: &str,
    content: FolderContent,
    frame: &Frame,
    host: &str,
) -> Vec<Entry> {
    let FolderContent { mut entries, last, mut targets, submodules, .. } = content;
    entries.sort_by_key(|entry| entry.kind != EntryKind::Tree);
    let mut row = |entry: &TreeEntry| {
        let (page, kind) = match entry.kind {
            EntryKind::Tree => (Some("tree"), "Folder"),
            EntryKind::Blob if entry.mode == LINK_MODE => (Some("blob"), "Link"),
            EntryKind::Blob => (Some("blob"), "File"),
            EntryKind::Commit => (None, "Submodule"),
        };
        let at = address::path(format!("{revision}/{}", entry.path));
        let module = submodules.link(&entry.path, entry.id, base, host);
        let is_foreign = module.as_ref().is_some_and(|link| link.is_foreign);
        let module = module.filter(|_| entry.kind == EntryKind::Commit).map(|link| link.address);
        Entry {
            name: visible::name(entry.name()),
            key: entry.name().to_owned(),
            address: page.map(|page| format!("{base}/{page}/{at}")).or(module),
            is_foreign,
            kind,
            target: targets.remove(&entry.path).map(|target| visible::line(&target)),
            last: last.by_path.get(&entry.path).map(|commit| CommitLine::new(commit, frame)),
        }
    };
    entries.iter().map(&mut row).collect()
}

/// The README of a folder, rendered if it is markdown.
pub(super) struct Readme {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) html: Option<Arc<Kept>>,
    pub(super) text: String,
    pub(super) is_too_large: bool,
}

/// A folder of a project, as links in its README see it.
pub(super) struct Folder<'a> {
    pub(super) base: &'a str,
    pub(super) revision: &'a str,
    pub(super) path: &'a str,
    pub(super) remote_images: bool,
}

impl Folder<'_> {
    /// How markdown of a file in this folder is rendered.
    pub(super) fn prose(&self) -> Prose {
        let place = Place {
            base: self.base.to_owned(),
            revision: address::path(self.revision),
            folder: address::path(self.path),
        };
        Prose { place, remote_images: self.remote_images }
    }
}

/// Reads the README among the entries of a folder: markdown comes before plain text.
pub(super) fn read_readme(
    at: Revision,
    entries: &[TreeEntry],
    folder: &Folder<'_>,
) -> Result<Option<Readme>, Error> {
    let is_readme = |entry: &&TreeEntry| {
        let name = entry.name().to_ascii_lowercase();
        let is_file = entry.kind == EntryKind::Blob && entry.mode != LINK_MODE;
        is_file && (name == "readme" || name.starts_with("readme."))
    };
    let found = entries.iter().filter(is_readme).min_by_key(|entry| !is_markdown(entry.name()));
    let Some(entry) = found else { return Ok(None) };
    let name = visible::name(entry.name());
    let address = address::path(joined(folder.revision, &entry.path));
    let address = format!("{}/blob/{address}", folder.base);
    let readme = Readme { name, address, html: None, text: String::new(), is_too_large: false };
    let key = Key { id: entry.id, name: entry.name().to_owned(), prose: Some(folder.prose()) };
    if let Some(known) = kept::find(&key) {
        return Ok(Some(Readme { html: Some(known), ..readme }));
    }
    let bytes = match repository::file(at, &entry.path)?.content()? {
        Content::Small(bytes) => bytes,
        Content::Large(blob, repository) if blob.size <= MAX_README as u64 => {
            let mut bytes = Vec::new();
            repository.write_blob(blob.id, &mut bytes)?;
            bytes
        }
        Content::Large(..) => return Ok(Some(Readme { is_too_large: true, ..readme })),
    };
    let text = String::from_utf8_lossy(&bytes);
    let is_utf8 = matches!(text, Cow::Borrowed(_));
    let html = match is_markdown(entry.name()) {
        true => markdown::render_file(&text, &folder.prose().place, folder.remote_images),
        false => None,
    };
    let html = html.map(|html| kept::keep(key, Kept { html: Rendered::Markdown(html), is_utf8 }));
    let text = if html.is_some() { String::new() } else { visible::reveal(&text) };
    Ok(Some(Readme { html, text, ..readme }))
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
    /// The form for a new file, for those who may push.
    new_file: Option<String>,
    /// The target of the form for a new folder.
    new_folder: Option<String>,
    find_file: String,
    entries: Vec<Entry>,
    /// The address with the last commits that are not known yet.
    logs: Option<String>,
    /// The numbers of entries before and after the page.
    others: Option<(usize, usize)>,
    pager: Pager,
    readme: Option<Readme>,
    has_hidden: bool,
}

/// What a page of a folder reads.
enum Found {
    Folder(Box<Contents>),
    /// The address is that of a file.
    File(Box<ProjectPage>),
    Unchanged(Option<ETag>),
}

struct Contents {
    project: ProjectPage,
    name: String,
    path: String,
    tag: Option<ETag>,
    branches: Vec<String>,
    is_branch: bool,
    content: FolderContent,
    readme: Option<Readme>,
}

fn read(
    app: &App,
    viewer: &Viewer,
    place: &Address,
    conditions: &Conditions,
    page: usize,
) -> Result<Found, Error> {
    let file::Place { project, located } = find_place(app, viewer.actor(), place)?;
    let Located { at, name, path } = located;
    let tag = conditions.tag(app, viewer, &project, &name, at.commit());
    if conditions.has(tag.as_ref()) {
        return Ok(Found::Unchanged(tag));
    }
    let content = FolderContent::read(&at, &path, page)?;
    if content.total == 0 && !path.is_empty() {
        return match repository::file(at, &path) {
            Ok(_) => Ok(Found::File(Box::new(project))),
            Err(_) => Err(missing()),
        };
    }
    let branches = repository::ref_names(&at, &name);
    let is_branch = repository::has_branch(&at, &name);
    let base = format!("/{}", project.path());
    let folder = Folder {
        base: &base,
        revision: &name,
        path: &path,
        remote_images: app.settings.remote_images,
    };
    let readme = read_readme(at, content.entries(), &folder)?;
    let contents = Contents { project, name, path, tag, branches, is_branch, content, readme };
    Ok(Found::Folder(Box::new(contents)))
}

pub(super) async fn tree(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let number = visit.page().offset() / crate::visit::PER_PAGE;
    let page = usize::try_from(number).unwrap_or(usize::MAX);
    let conditions = Conditions::of(&visit);
    let found =
        file::run_at(&visit, move |app, viewer| read(app, viewer, &place, &conditions, page));
    let found = found.await?;
    let (viewer, contents) = match found {
        (viewer, Found::Folder(contents)) => (viewer, *contents),
        (_, Found::File(project)) => {
            let place = address::path(visit.path_param("rest"));
            return Ok(render::see_other(&format!("/{}/blob/{place}", project.path())).finish());
        }
        (_, Found::Unchanged(tag)) => return Ok(conditions::unchanged(tag)),
    };
    if let Some(redirect) = other_spelling(&visit, &contents.project) {
        return Ok(redirect);
    }
    let Contents { project, name, path, tag, branches, is_branch, content, readme } = contents;
    let base = format!("/{}", project.path());
    let project_name = project.placed.project.name.as_str();
    let heading = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(project_name);
    let what = visible::name(if path.is_empty() { &name } else { &path });
    let frame = Frame::of_project(&visit, &viewer, &what, frame_of(&project, "Files"));
    let here = address::path(joined(&name, &path));
    let may_write = is_branch && project.may(ProjectAbility::PushCode);
    let host = visit.host();
    let size = MAX_ENTRIES as u64;
    let of_pages = Page::Numbered { number: number + 1, size };
    let page = Tree {
        heading: visible::name(heading),
        crumbs: if path.is_empty() { vec![] } else { crumbs(&base, project_name, &name, &path) },
        history: format!("{base}/commits/{here}"),
        new_file: may_write.then(|| format!("{base}/new/{here}")),
        new_folder: may_write.then(|| format!("{base}/create_dir/{here}")),
        find_file: format!("{base}/find_file/{}", address::path(&name)),
        logs: content.unknown_commits(&base),
        others: content.others(),
        pager: Pager::of_page(&visit, of_pages, content.total as u64),
        has_hidden: content.entries.iter().any(|entry| visible::has_hidden(&entry.path)),
        entries: rows(&base, &name, content, &frame, &host),
        readme,
        revision: name,
        branches,
        path,
        base,
        frame,
    };
    Ok(conditions::tagged(render::page(&visit, &viewer, &page)?, tag))
}

/// The last commits of the entries of a folder as JSON, for the script that adds those that were not found in time.
pub(super) async fn logs(visit: Visit) -> PageResult<HttpResponse> {
    let (place, rest) = (Address::of(&visit), visit.path_param("rest"));
    let (viewer, found) = visit
        .run(move |app, viewer| {
            // The ref may contain the word as well.
            for (at, word) in rest.match_indices(LOGS) {
                let (name, path) = (&rest[..at], &rest[at + word.len()..]);
                if name.is_empty() || !(path.is_empty() || path.starts_with('/')) {
                    continue;
                }
                let place = Address { rest: name.to_owned(), ..place.clone() };
                match find_place(app, viewer.actor(), &place) {
                    Ok(found) if found.located.path.is_empty() => {
                        return Ok((found, path.trim_start_matches('/').to_owned()));
                    }
                    Ok(_) | Err(Error::NotFound(_)) => (),
                    Err(error) => return Err(error),
                }
            }
            Err(missing())
        })
        .await?;
    let (file::Place { project, located }, path) = found;
    let frame = Frame::new(&visit, &viewer, "");
    let walk = move || {
        let entries = repository::tree(&located.at, &path, Depth::Folder)?;
        if entries.len() > MAX_ENTRIES {
            return Ok((FolderCommits { is_complete: true, ..FolderCommits::default() }, entries));
        }
        let found = browse::last_commits(&located.at, &path)?;
        Ok::<_, Error>((found, entries))
    };
    let (last, entries) = visit.run_shared(|limiter| &limiter.comparisons, &viewer, walk).await?;
    if entries.is_empty() {
        return Err(PageError::of(missing(), viewer, false));
    }
    let base = format!("/{}", project.path());
    let entry = |entry: &TreeEntry| {
        let line = CommitLine::new(last.by_path.get(&entry.path)?, &frame);
        Some(json!({
            "name": entry.name(),
            "address": format!("{base}/commit/{}", line.id),
            "id": line.id,
            "title": line.title,
            "author": line.author,
            "datetime": line.at.datetime,
            "exact": line.at.exact,
            "time": line.at.words,
        }))
    };
    let commits: Vec<_> = entries.iter().filter_map(entry).collect();
    let answer = json!({ "commits": commits, "is_complete": last.is_complete });
    let mut response = render::foreign_bytes("application/json");
    Ok(response.body(answer.to_string()))
}

/// The word between a ref and a path.
const LOGS: &str = "/logs_tree";
