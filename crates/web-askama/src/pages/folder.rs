//! Folders of a repository, and their README files.

use std::sync::Arc;

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::error::Error;
use hexforge_application::repository::browse::{self, FolderCommits};
use hexforge_application::repository::ref_path::Located;
use hexforge_application::repository::{self, Content, Revision};
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::Depth;
use hexforge_domain::repository::{EntryKind, TreeEntry};

use super::file::{Address, Crumb, Place, crumbs, find_place, is_markdown, joined};
use super::project::{CommitLine, frame_of, missing, other_spelling};
use crate::address;
use crate::error::PageResult;
use crate::frame::Frame;
use crate::kept::{self, Rendered};
use crate::markdown;
use crate::render;
use crate::visit::Visit;

/// The entries of a folder that are shown. Longer folders have no last commits.
const MAX_ENTRIES: usize = 1_000;

/// The largest README that is rendered.
pub(super) const MAX_README: usize = 512 * 1024;

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
    pub(super) html: Option<Arc<Rendered>>,
    pub(super) text: String,
}

/// Reads the README among the entries of a folder: markdown comes before plain text.
pub(super) fn read_readme(at: Revision, entries: &[TreeEntry]) -> Result<Option<Readme>, Error> {
    let is_readme = |entry: &&TreeEntry| {
        let name = entry.name().to_ascii_lowercase();
        entry.kind == EntryKind::Blob && (name == "readme" || name.starts_with("readme."))
    };
    let found = entries.iter().filter(is_readme).min_by_key(|entry| !is_markdown(entry.name()));
    let Some(entry) = found else { return Ok(None) };
    let name = entry.name().to_owned();
    if let Some(known) = kept::find(entry.id, &name, false) {
        return Ok(Some(Readme { name, html: Some(known), text: String::new() }));
    }
    let bytes = match repository::file(at, &entry.path)?.content()? {
        Content::Small(bytes) => bytes,
        Content::Large(blob, repository) if blob.size <= MAX_README as u64 => {
            let mut bytes = Vec::new();
            repository.write_blob(blob.id, &mut bytes)?;
            bytes
        }
        Content::Large(..) => return Ok(None),
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let html = if is_markdown(&name) { markdown::render(&text) } else { None };
    let html = html.map(|html| kept::keep(entry.id, &name, false, Rendered::Markdown(html)));
    Ok(Some(Readme { name, html, text }))
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
    shown_of_more: Option<usize>,
    readme: Option<Readme>,
}

pub(super) async fn tree(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let (viewer, (project, name, path, branches, is_branch, content, readme)) = visit
        .run(move |app, viewer| {
            let Place { project, located } = find_place(app, viewer.actor(), &place)?;
            let Located { at, name, path } = located;
            let content = FolderContent::read(&at, &path)?;
            if content.entries().is_empty() && !path.is_empty() {
                return Err(missing());
            }
            let branches = repository::branch_names(&at);
            let is_branch = repository::has_branch(&at, &name);
            let readme = read_readme(at, content.entries())?;
            Ok((project, name, path, branches, is_branch, content, readme))
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
    let here = address::path(joined(&name, &path));
    let may_write = is_branch && project.may(ProjectAbility::PushCode);
    let page = Tree {
        heading: heading.to_owned(),
        crumbs: if path.is_empty() { vec![] } else { crumbs(&base, project_name, &name, &path) },
        history: format!("{base}/commits/{here}"),
        new_file: may_write.then(|| format!("{base}/new/{here}")),
        new_folder: may_write.then(|| format!("{base}/create_dir/{here}")),
        find_file: format!("{base}/find_file/{}", address::path(&name)),
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
