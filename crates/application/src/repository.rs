//! Reads the contents of repositories: trees, blobs, archives, comparisons and contributors.

pub mod browse;
pub mod commits;
pub mod files;
pub(crate) mod hidden;
pub(crate) mod open;
pub mod packs;
pub mod ref_path;
pub(crate) mod refs;
pub(crate) mod sight;
pub mod task;
pub mod turns;

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::Arc;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{Blob, Depth, GitError, Repository};
use hexforge_domain::project::{ProjectHeader, ProjectRef};
use hexforge_domain::repository::{Archive, ArchiveFormat, Comparison, Contributors, TreeEntry};

use crate::app::App;
use crate::error::{Entity, Error, Refusal};
pub use open::{
    open, open_for, open_for_build, open_for_client, open_with_refs, refs, unless_removed,
};

/// The minimum length of an abbreviated blob id. Shorter ones would let callers enumerate all blobs.
const MIN_ABBREVIATION: usize = 7;

/// A commit as a request names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitRef<'a> {
    /// The project.
    pub project: &'a ProjectRef,
    /// A commit id, branch or tag in the project.
    pub revision: &'a str,
}

/// A project whose code the caller may read.
pub struct Readable {
    project: ProjectHeader,
    actor: Actor,
    /// The caller to whom long work is charged.
    caller: Caller,
}

impl Readable {
    /// The caller.
    pub fn actor(&self) -> Actor {
        self.actor
    }

    /// The project.
    pub fn project_id(&self) -> ProjectId {
        self.project.id
    }
}

/// Returns the project if the actor may read its code. Calls check this before they validate the request.
pub fn authorize(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectHeader, Error> {
    let ability = ProjectAbility::DownloadCode;
    app.store.read_autocommit(|tx| app.requester(actor).project_header(tx, ability, named))
}

/// Like [`authorize`], for reading the code. Long work is charged to the actor and the client address.
pub fn readable(
    app: &App,
    actor: Actor,
    address: Option<IpAddr>,
    named: &ProjectRef,
) -> Result<Readable, Error> {
    let project = authorize(app, actor, named)?;
    Ok(Readable { project, actor, caller: Caller::new(actor, address) })
}

/// A revision resolved to a commit. Later pushes do not change what is read through it.
pub struct Revision {
    repository: Box<dyn Repository>,
    name: String,
    commit: ObjectId,
}

impl Revision {
    /// The commit. It determines everything that can be read through the revision.
    pub fn commit(&self) -> ObjectId {
        self.commit
    }

    /// The repository.
    pub(crate) fn repository(&self) -> &dyn Repository {
        self.repository.as_ref()
    }
}

/// Resolves a revision by name. Returns `None` when it does not exist or the actor may not see the commit.
pub fn revision(
    app: &App,
    Readable { project, actor, caller }: &Readable,
    name: &str,
) -> Result<Option<Revision>, Error> {
    let repository = open::open_by_header(app, project, *caller)?;
    let commit = sight::resolve(app, *actor, project.id, repository.as_ref(), name)?;
    Ok(commit.map(|commit| Revision { repository, name: name.to_owned(), commit }))
}

/// Like [`revision`], with the default branch when no name is given.
pub fn revision_or_default(
    app: &App,
    readable: &Readable,
    name: Option<&str>,
) -> Result<Option<Revision>, Error> {
    if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
        return revision(app, readable, name);
    }
    let repository = open::open_by_header(app, &readable.project, readable.caller)?;
    // Uses the tip directly, so that a tag with the same name is not resolved instead.
    let tip = repository.refs().default_tip();
    Ok(tip.map(|(branch, commit)| Revision {
        repository,
        name: branch.as_str().to_owned(),
        commit,
    }))
}

/// Lists the entries of a folder.
pub fn tree(at: &Revision, path: &str, depth: Depth) -> Result<Vec<TreeEntry>, Error> {
    at.repository.tree(at.commit, path, depth).map_err(|error| match error {
        GitError::TooLarge => Error::Refused(Refusal::TooManyEntries),
        error => error.into(),
    })
}

/// Reads the start of the file or link at a path, at most this number of bytes. Returns `None` if there is none.
pub fn head_at(at: &Revision, path: &str, length: usize) -> Result<Option<Vec<u8>>, Error> {
    let Some(blob) = at.repository.blob_at(at.commit, path)? else { return Ok(None) };
    read_head(at.repository.as_ref(), blob.id, length).map(Some)
}

pub(crate) fn read_head(
    repository: &dyn Repository,
    id: ObjectId,
    length: usize,
) -> Result<Vec<u8>, Error> {
    let mut head = Head { bytes: Vec::new(), length };
    match repository.write_blob(id, &mut head) {
        Ok(()) => Ok(head.bytes),
        // The writer accepts no more.
        Err(_) if head.bytes.len() == length => Ok(head.bytes),
        Err(error) => Err(error.into()),
    }
}

/// The content of a file.
pub enum Content {
    /// The whole content.
    Small(Vec<u8>),
    /// The blob, and the repository to stream it from.
    Large(Blob, Box<dyn Repository>),
}

/// The maximum size of a file that is read into memory.
const MAX_IN_MEMORY: u64 = 256 * 1024;

/// A file that exists.
pub struct FoundFile {
    blob: Blob,
    repository: Box<dyn Repository>,
}

impl FoundFile {
    /// The object id of the content.
    pub fn id(&self) -> ObjectId {
        self.blob.id
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.blob.size
    }

    /// Reads the start of the content, at most this number of bytes.
    pub fn head(&self, length: usize) -> Result<Vec<u8>, Error> {
        read_head(self.repository.as_ref(), self.blob.id, length)
    }

    /// Reads the content, or returns the blob to stream when it is large.
    pub fn content(self) -> Result<Content, Error> {
        let Self { blob, repository } = self;
        if blob.size > MAX_IN_MEMORY {
            return Ok(Content::Large(blob, repository));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(blob.size).unwrap_or_default());
        repository.write_blob(blob.id, &mut bytes)?;
        Ok(Content::Small(bytes))
    }
}

/// A writer that keeps the first bytes and then accepts no more.
struct Head {
    bytes: Vec<u8>,
    length: usize,
}

impl Write for Head {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let taken = data.len().min(self.length - self.bytes.len());
        if taken == 0 && !data.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(&data[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the file at a path.
pub fn file(at: Revision, path: &str) -> Result<FoundFile, Error> {
    let Revision { repository, commit, .. } = at;
    let path = path.trim_start_matches('/');
    let blob = repository.blob_at(commit, path)?.ok_or(Error::NotFound(Entity::File))?;
    Ok(FoundFile { blob, repository })
}

/// Returns the blob with this object id, which may be abbreviated.
pub fn blob(
    app: &App,
    Readable { project, actor, caller }: &Readable,
    name: &str,
) -> Result<FoundFile, Error> {
    let repository = open::open_by_header(app, project, *caller)?;
    let blob = if name.len() < MIN_ABBREVIATION { None } else { repository.find_blob(name)? };
    let blob = blob.ok_or(Error::NotFound(Entity::Blob))?;
    if !sight::may_see(app, *actor, project.id, repository.as_ref(), blob.id)? {
        return Err(Error::NotFound(Entity::Blob));
    }
    Ok(FoundFile { blob, repository })
}

/// An archive that is ready to be written.
pub struct ArchiveContent {
    /// The description of the archive.
    pub archive: Archive,
    /// The repository to read from.
    pub repository: Box<dyn Repository>,
}

/// Prepares an archive of the files of a commit.
pub fn archive(
    Readable { project, .. }: &Readable,
    Revision { repository, name, commit }: Revision,
    format: ArchiveFormat,
) -> ArchiveContent {
    // Slashes would create nested folders, and quotes would end the file name early in the response header.
    let folder =
        format!("{}-{name}-{commit}", project.path.as_str()).replace(['/', '"', '\\'], "-");
    ArchiveContent { archive: Archive { commit, format, folder }, repository }
}

/// The comparison of two revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparisonView {
    /// The commits and diffs between the revisions.
    pub comparison: Arc<Comparison>,
    /// Whether both revisions are the same commit.
    pub same: bool,
}

/// Compares two revisions. The result is empty when one of them does not exist.
pub fn compare(from: Option<&Revision>, to: Option<&Revision>) -> Result<ComparisonView, Error> {
    let (Some(from), Some(to)) = (from, to) else { return Ok(ComparisonView::default()) };
    if from.commit == to.commit {
        return Ok(ComparisonView { same: true, ..ComparisonView::default() });
    }
    let comparison = to.repository.compare(from.commit, to.commit)?;
    Ok(ComparisonView { comparison, same: false })
}

/// Counts the contributors to the history of a revision.
pub fn contributors(tip: &Revision) -> Result<Contributors, Error> {
    Ok(tip.repository.contributors(tip.commit)?)
}

/// Returns whether there is a branch with this name.
pub fn has_branch(at: &Revision, name: &str) -> bool {
    at.repository.refs().find(&format!("refs/heads/{name}")).is_some()
}

/// The maximum number of branches, and of tags, that a switcher between refs offers.
const MAX_SWITCHER_REFS: usize = 200;

/// Returns the names of branches and tags for a switcher between refs: first `shown`, if it is not among the others,
/// then branches, then tags.
pub fn ref_names(at: &Revision, shown: &str) -> Vec<String> {
    let refs = at.repository.refs();
    let of_kind = |kind: &'static str| {
        let names = refs.range(refs.folder(kind)).take(MAX_SWITCHER_REFS);
        names.filter_map(move |one| one.name.strip_prefix(kind))
    };
    let names = of_kind("refs/heads/").chain(of_kind("refs/tags/"));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    // Commit ids and refs after the maximum are not among the names. Without the shown one, a browser would select the
    // first name.
    if !shown.is_empty() && !names.iter().any(|name| name == shown) {
        names.insert(0, shown.to_owned());
    }
    names
}

/// Returns the names of the branches that a form offers.
pub fn branch_names(at: &Revision) -> Vec<String> {
    self::refs::branch_names(at.repository.refs())
}
