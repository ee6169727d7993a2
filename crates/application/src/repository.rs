//! What is in repositories.

pub mod task;

use std::sync::Arc;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{Blob, Depth, Repository};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::repository::{Archive, ArchiveFormat, Comparison, Contributors, TreeEntry};

use crate::access;
use crate::app::App;
use crate::error::{Error, Thing};

/// The project, if the actor may read its code; for calls that tell so before they look at what else was
/// asked.
pub fn authorize(app: &App, actor: Actor, named: &ProjectRef) -> Result<Project, Error> {
    app.store
        .read(|tx| access::project(tx, actor, ProjectAbility::DownloadCode, named, app.today()))
}

/// What is in a folder; of the default branch when no revision is named.
pub fn tree(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    revision: Option<&str>,
    path: &str,
    depth: Depth,
) -> Result<Vec<TreeEntry>, Error> {
    let project = authorize(app, actor, named)?;
    let repository = app.git.open(project.id)?;
    let (_, commit) =
        revision_or_default(repository.as_ref(), revision)?.ok_or(Error::NotFound(Thing::Tree))?;
    Ok(repository.tree(commit, path, depth)?)
}

/// A file's content, and how to get it.
pub struct Content {
    /// What it is.
    pub blob: Blob,
    /// Where it is.
    pub repository: Box<dyn Repository>,
}

/// The content of the file at a path.
pub fn file(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    revision: &str,
    path: &str,
) -> Result<Content, Error> {
    let project = authorize(app, actor, named)?;
    let repository = app.git.open(project.id)?;
    let commit = repository.resolve(revision)?.ok_or(Error::NotFound(Thing::Commit))?;
    let path = path.trim_start_matches('/');
    let blob = repository.blob_at(commit, path)?.ok_or(Error::NotFound(Thing::File))?;
    Ok(Content { blob, repository })
}

/// The content of that name.
pub fn blob(app: &App, actor: Actor, named: &ProjectRef, name: &str) -> Result<Content, Error> {
    let project = authorize(app, actor, named)?;
    let repository = app.git.open(project.id)?;
    let blob = repository.find_blob(name)?.ok_or(Error::NotFound(Thing::Blob))?;
    Ok(Content { blob, repository })
}

/// An archive that can be had.
pub struct ArchiveContent {
    /// Which.
    pub archive: Archive,
    /// From where.
    pub repository: Box<dyn Repository>,
}

/// The files of a commit; of the default branch when no revision is named.
pub fn archive(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    revision: Option<&str>,
    format: ArchiveFormat,
) -> Result<ArchiveContent, Error> {
    let project = authorize(app, actor, named)?;
    let repository = app.git.open(project.id)?;
    let (name, commit) =
        revision_or_default(repository.as_ref(), revision)?.ok_or(Error::NotFound(Thing::File))?;
    // A slash would make a folder in a folder, and a file name that ends early.
    let folder =
        format!("{}-{name}-{commit}", project.path.as_str()).replace(['/', '"', '\\'], "-");
    Ok(ArchiveContent { archive: Archive { commit, format, folder }, repository })
}

/// What lies between two revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparisonView {
    /// What does.
    pub comparison: Arc<Comparison>,
    /// Whether both are the same commit.
    pub same: bool,
}

/// Compares two revisions. One that does not exist has nothing in common with anything.
pub fn compare(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    from: &str,
    to: &str,
) -> Result<ComparisonView, Error> {
    let project = authorize(app, actor, named)?;
    let repository = app.git.open(project.id)?;
    let (from, to) = (repository.resolve(from.trim())?, repository.resolve(to.trim())?);
    let (Some(from), Some(to)) = (from, to) else { return Ok(ComparisonView::default()) };
    if from == to {
        return Ok(ComparisonView { same: true, ..ComparisonView::default() });
    }
    let comparison = repository.compare(from, to)?;
    Ok(ComparisonView { comparison, same: false })
}

/// Who wrote what is in the default branch.
pub fn contributors(app: &App, actor: Actor, named: &ProjectRef) -> Result<Contributors, Error> {
    let project = authorize(app, actor, named)?;
    let repository = app.git.open(project.id)?;
    let (_, tip) =
        revision_or_default(repository.as_ref(), None)?.ok_or(Error::NotFound(Thing::Nameless))?;
    Ok(repository.contributors(tip)?)
}

/// A revision by its name, with the commit it names; the default branch when none is given.
fn revision_or_default(
    repository: &dyn Repository,
    revision: Option<&str>,
) -> Result<Option<(String, ObjectId)>, Error> {
    let name = match revision.map(str::trim).filter(|revision| !revision.is_empty()) {
        Some(revision) => revision.to_owned(),
        None => match repository.default_branch()? {
            // A branch is not mistaken for a tag of the same name.
            Some(branch) => {
                let tip = repository.branch(&branch)?.map(|branch| branch.commit.id);
                return Ok(tip.map(|tip| (branch.as_str().to_owned(), tip)));
            }
            None => return Ok(None),
        },
    };
    Ok(repository.resolve(&name)?.map(|commit| (name, commit)))
}
