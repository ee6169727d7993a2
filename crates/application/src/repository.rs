//! What is in repositories.

pub mod task;

use std::sync::Arc;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{Blob, Depth, GitError, Repository};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::repository::{Archive, ArchiveFormat, Comparison, Contributors, TreeEntry};

use crate::access;
use crate::app::App;
use crate::error::{Error, Thing};

/// A project whose code the caller may read.
pub struct Readable(Project);

/// The project, if the actor may read its code. Calls tell so before they look at what else was asked.
pub fn authorize(app: &App, actor: Actor, named: &ProjectRef) -> Result<Readable, Error> {
    let ability = ProjectAbility::DownloadCode;
    app.store.read(|tx| access::project(tx, actor, ability, named, app.today())).map(Readable)
}

/// What is in a folder; of the default branch when no revision is named.
pub fn tree(
    app: &App,
    Readable(project): &Readable,
    revision: Option<&str>,
    path: &str,
    depth: Depth,
) -> Result<Vec<TreeEntry>, Error> {
    let repository = app.git.open(project.id)?;
    let (_, commit) =
        revision_or_default(repository.as_ref(), revision)?.ok_or(Error::NotFound(Thing::Tree))?;
    repository.tree(commit, path, depth).map_err(|error| match error {
        GitError::TooLarge => Error::Refused("There are too many entries to list them".into()),
        error => error.into(),
    })
}

/// The content of a file.
pub enum Content {
    /// All of it.
    Small(Vec<u8>),
    /// What it is, and where to get it.
    Large(Blob, Box<dyn Repository>),
}

/// Up to this size a file is read at once.
const SMALL: u64 = 256 * 1024;

impl Content {
    fn of(blob: Blob, repository: Box<dyn Repository>) -> Result<Self, Error> {
        if blob.size > SMALL {
            return Ok(Content::Large(blob, repository));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(blob.size).unwrap_or_default());
        repository.write_blob(blob.id, &mut bytes)?;
        Ok(Content::Small(bytes))
    }
}

/// The content of the file at a path.
pub fn file(
    app: &App,
    Readable(project): &Readable,
    revision: &str,
    path: &str,
) -> Result<Content, Error> {
    let repository = app.git.open(project.id)?;
    let commit = repository.resolve(revision)?.ok_or(Error::NotFound(Thing::Commit))?;
    let path = path.trim_start_matches('/');
    let blob = repository.blob_at(commit, path)?.ok_or(Error::NotFound(Thing::File))?;
    Content::of(blob, repository)
}

/// The content of that name.
pub fn blob(app: &App, Readable(project): &Readable, name: &str) -> Result<Content, Error> {
    let repository = app.git.open(project.id)?;
    let blob = repository.find_blob(name)?.ok_or(Error::NotFound(Thing::Blob))?;
    Content::of(blob, repository)
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
    Readable(project): &Readable,
    revision: Option<&str>,
    format: ArchiveFormat,
) -> Result<ArchiveContent, Error> {
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
    Readable(project): &Readable,
    from: &str,
    to: &str,
) -> Result<ComparisonView, Error> {
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
pub fn contributors(app: &App, Readable(project): &Readable) -> Result<Contributors, Error> {
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
                let tip = repository.ref_target(&branch.full())?;
                return Ok(tip.map(|tip| (branch.as_str().to_owned(), tip)));
            }
            None => return Ok(None),
        },
    };
    Ok(repository.resolve(&name)?.map(|commit| (name, commit)))
}
