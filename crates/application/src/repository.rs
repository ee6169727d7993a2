//! What is in repositories.

pub(crate) mod open;
pub mod packs;
pub(crate) mod sight;
pub mod task;

use std::net::IpAddr;
use std::sync::Arc;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{Blob, Depth, GitError, Repository};
use hexforge_domain::project::{ProjectGate, ProjectRef};
use hexforge_domain::repository::{Archive, ArchiveFormat, Comparison, Contributors, TreeEntry};

use crate::app::App;
use crate::error::{Error, Refusal, Thing};
pub use open::{open, open_for, refs};

/// Shorter beginnings of object ids name no blob: all blobs could be found by trying them.
const SHORTEST_NAME: usize = 7;

/// A project whose code the caller may read.
pub struct Readable {
    project: ProjectGate,
    actor: Actor,
    /// For whom it is read, with whom others share what long work needs.
    caller: Caller,
}

/// The project, if the actor may read its code. Calls tell so before they look at what else was asked.
pub fn authorize(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectGate, Error> {
    let ability = ProjectAbility::DownloadCode;
    app.store.glance(|tx| app.requester(actor).gate(tx, ability, named))
}

/// The same, for reading its code. Long work counts for the actor and for the address from which it asks.
pub fn readable(
    app: &App,
    actor: Actor,
    address: Option<IpAddr>,
    named: &ProjectRef,
) -> Result<Readable, Error> {
    let project = authorize(app, actor, named)?;
    Ok(Readable { project, actor, caller: Caller::new(actor, address) })
}

/// What a revision names at this moment. What is read of it stays the same, whatever is pushed meanwhile.
pub struct Revision {
    repository: Box<dyn Repository>,
    name: String,
    commit: ObjectId,
}

impl Revision {
    /// The commit, which decides everything that can be read of it.
    pub fn commit(&self) -> ObjectId {
        self.commit
    }
}

/// A revision by its name.
pub fn revision(
    app: &App,
    Readable { project, actor, caller }: &Readable,
    name: &str,
) -> Result<Option<Revision>, Error> {
    let repository = open::open_gate(app, project, *caller)?;
    let commit = sight::resolve(app, *actor, project.id, repository.as_ref(), name)?;
    Ok(commit.map(|commit| Revision { repository, name: name.to_owned(), commit }))
}

/// The same; the default branch when none is named.
pub fn revision_or_default(
    app: &App,
    readable: &Readable,
    name: Option<&str>,
) -> Result<Option<Revision>, Error> {
    if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
        return revision(app, readable, name);
    }
    let repository = open::open_gate(app, &readable.project, readable.caller)?;
    // A branch is not mistaken for a tag of the same name.
    let tip = repository.refs().default_tip();
    Ok(tip.map(|(branch, commit)| Revision {
        repository,
        name: branch.as_str().to_owned(),
        commit,
    }))
}

/// What is in a folder.
pub fn tree(at: &Revision, path: &str, depth: Depth) -> Result<Vec<TreeEntry>, Error> {
    at.repository.tree(at.commit, path, depth).map_err(|error| match error {
        GitError::TooLarge => Error::Refused(Refusal::TooManyEntries),
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

/// A file that is there.
pub struct FoundFile {
    blob: Blob,
    repository: Box<dyn Repository>,
}

impl FoundFile {
    /// The name of its content.
    pub fn id(&self) -> ObjectId {
        self.blob.id
    }

    /// Its content.
    pub fn content(self) -> Result<Content, Error> {
        let Self { blob, repository } = self;
        if blob.size > SMALL {
            return Ok(Content::Large(blob, repository));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(blob.size).unwrap_or_default());
        repository.write_blob(blob.id, &mut bytes)?;
        Ok(Content::Small(bytes))
    }
}

/// The file at a path.
pub fn file(at: Revision, path: &str) -> Result<FoundFile, Error> {
    let Revision { repository, commit, .. } = at;
    let path = path.trim_start_matches('/');
    let blob = repository.blob_at(commit, path)?.ok_or(Error::NotFound(Thing::File))?;
    Ok(FoundFile { blob, repository })
}

/// The content of that name.
pub fn blob(
    app: &App,
    Readable { project, actor, caller }: &Readable,
    name: &str,
) -> Result<FoundFile, Error> {
    let repository = open::open_gate(app, project, *caller)?;
    let blob = if name.len() < SHORTEST_NAME { None } else { repository.find_blob(name)? };
    let blob = blob.ok_or(Error::NotFound(Thing::Blob))?;
    if !sight::sees(app, *actor, project.id, repository.as_ref(), blob.id)? {
        return Err(Error::NotFound(Thing::Blob));
    }
    Ok(FoundFile { blob, repository })
}

/// An archive that can be had.
pub struct ArchiveContent {
    /// Which.
    pub archive: Archive,
    /// From where.
    pub repository: Box<dyn Repository>,
}

/// The files of a commit.
pub fn archive(
    Readable { project, .. }: &Readable,
    Revision { repository, name, commit }: Revision,
    format: ArchiveFormat,
) -> ArchiveContent {
    // A slash would make a folder in a folder, and a file name that ends early.
    let folder =
        format!("{}-{name}-{commit}", project.path.as_str()).replace(['/', '"', '\\'], "-");
    ArchiveContent { archive: Archive { commit, format, folder }, repository }
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
pub fn compare(from: Option<&Revision>, to: Option<&Revision>) -> Result<ComparisonView, Error> {
    let (Some(from), Some(to)) = (from, to) else { return Ok(ComparisonView::default()) };
    if from.commit == to.commit {
        return Ok(ComparisonView { same: true, ..ComparisonView::default() });
    }
    let comparison = to.repository.compare(from.commit, to.commit)?;
    Ok(ComparisonView { comparison, same: false })
}

/// Who wrote what led to a revision.
pub fn contributors(tip: &Revision) -> Result<Contributors, Error> {
    Ok(tip.repository.contributors(tip.commit)?)
}
