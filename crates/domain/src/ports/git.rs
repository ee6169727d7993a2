//! The ports to git repositories, one for each project.
//!
//! A repository comes into being with the first thing that is put into it: until then it is empty, and
//! reading it finds nothing. Nothing here knows who asks: permission is decided before.

use std::io::Write;
use std::sync::Arc;

use crate::branch::{Branch, BranchName};
use crate::commit::{Commit, ObjectId, Signature};
use crate::id::ProjectId;
use crate::limiter::Caller;
use crate::pack::{Pack, PackName};
use crate::paging::{Page, Paged};
use crate::ports::files::ProjectFiles;
use crate::ports::git_transport::GitTransport;
use crate::push::ChangedPaths;
use crate::refs::Snapshot;
use crate::repository::{Archive, Comparison, Contributors, TreeEntry};
use crate::tag::{Tag, TagName};

/// All repositories.
pub trait GitStore: ProjectFiles {
    /// The repository of a project with its refs and packs of one version. Long work counts for the caller.
    fn open(
        &self,
        project: ProjectId,
        refs: Arc<Snapshot>,
        caller: Caller,
    ) -> Result<Box<dyn Repository>, GitError>;

    /// Writes HEAD and refs into the folder of a repository, for people who look at it with git. Nothing reads them
    /// back.
    fn show_refs(&self, project: ProjectId, refs: &Snapshot) -> Result<(), GitError>;

    /// Stores one pack, synced, with all objects of small packs of a repository. `None` when there are too few small
    /// packs.
    fn merge_packs(
        &self,
        project: ProjectId,
        packs: &[Pack],
    ) -> Result<Option<MergedPacks>, GitError>;
}

/// A pack that has all objects of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedPacks {
    /// The new pack.
    pub pack: Pack,
    /// The packs whose objects the new pack has.
    pub replaced: Vec<PackName>,
}

/// One repository.
pub trait Repository: GitRefs + GitObjects + GitHistory + GitTransport + Send {}

impl<T: GitRefs + GitObjects + GitHistory + GitTransport + Send> Repository for T {}

/// Branches, tags and HEAD.
pub trait GitRefs {
    /// All refs and HEAD, of the version that the repository was opened with.
    fn refs(&self) -> &Arc<Snapshot>;

    /// Branches by name, in the order of its bytes.
    fn branches(&self, page: Page) -> Result<Paged<Branch>, GitError>;

    /// The branch of exactly this name.
    fn branch(&self, name: &BranchName) -> Result<Option<Branch>, GitError>;

    /// Tags that lead to commits by name, in the reverse order of its bytes.
    fn tags(&self, page: Page) -> Result<Paged<Tag>, GitError>;

    /// The tag of exactly this name.
    fn tag(&self, name: &TagName) -> Result<Option<Tag>, GitError>;

    /// Branches whose tips are ancestors of `tip` and not `tip` itself.
    fn merged_into(&self, tip: ObjectId) -> Result<Vec<(BranchName, ObjectId)>, GitError>;

    /// The first branch by name, in the order of its bytes, that a commit led to or that it is the tip of.
    /// # Errors
    /// [`GitError::Missing`] when there is no such commit; [`GitError::TooLarge`] when there is too much to look at.
    fn first_with(&self, commit: ObjectId) -> Result<Option<BranchName>, GitError>;

    /// Stores an annotated tag object, synced, in a pack of its own.
    fn write_tag(
        &self,
        name: &TagName,
        commit: ObjectId,
        tagger: &Signature,
        message: &str,
    ) -> Result<(ObjectId, Pack), GitError>;
}

/// The commit that a revision names, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The commit.
    pub commit: ObjectId,
    /// Whether the revision begins with the name of a ref, so that the commit is reachable. A commit that was named by
    /// its id may be unreachable.
    pub through_ref: bool,
}

/// Files and commits.
pub trait GitObjects {
    /// The commit that a revision names: a branch, a tag, a name or the start of one, `master~1`.
    fn resolve(&self, revision: &str) -> Result<Option<Resolved>, GitError>;

    /// Returns whether an object is reachable from a ref or from one of the `kept` commits.
    /// # Errors
    /// [`GitError::Unfinished`] when the search takes longer than one call may. The next call continues the search.
    fn is_reachable(&self, id: ObjectId, kept: &[ObjectId]) -> Result<bool, GitError>;

    /// A commit by its name.
    fn commit(&self, id: ObjectId) -> Result<Option<Commit>, GitError>;

    /// What is in a folder of a commit: folders first, then files, then submodules, each in git's order.
    /// A path that names no folder has nothing in it.
    /// # Errors
    /// [`GitError::TooLarge`] when there is more than anybody reads.
    fn tree(&self, commit: ObjectId, path: &str, depth: Depth) -> Result<Vec<TreeEntry>, GitError>;

    /// The file or link at a path of a commit.
    fn blob_at(&self, commit: ObjectId, path: &str) -> Result<Option<Blob>, GitError>;

    /// The blob of this name, or of which this is an unambiguous start of the name.
    fn find_blob(&self, name: &str) -> Result<Option<Blob>, GitError>;

    /// Writes the content of a blob, however large, without holding all of it.
    fn write_blob(&self, id: ObjectId, to: &mut dyn Write) -> Result<(), GitError>;
}

/// What takes more than a look.
pub trait GitHistory {
    /// What `to` has that `from` has not; the diffs are against what both had in common. Of what is too much
    /// for one answer a part is there, and [`overflow`](Comparison::overflow) is set.
    fn compare(&self, from: ObjectId, to: ObjectId) -> Result<Arc<Comparison>, GitError>;

    /// How many commits are reachable from `to` and from none of `hidden`, and the newest `limit` of them,
    /// oldest first, fewer if these are more than anybody reads, each with as much of its texts as is
    /// [told](crate::push::told_text).
    /// # Errors
    /// [`GitError::TooLarge`] when there are too many to be counted in time.
    fn commits_between(
        &self,
        hidden: &[ObjectId],
        to: ObjectId,
        limit: usize,
    ) -> Result<(u64, Vec<Commit>), GitError>;

    /// What a commit did to files, the first [`TOLD_PATHS`](crate::push::TOLD_PATHS) of each kind. Of a huge
    /// commit less is told, and moved files may be told as new ones and removed ones.
    fn changed_paths(&self, commit: ObjectId) -> Result<ChangedPaths, GitError>;

    /// Whether everything that `ancestor` has is in `descendant`.
    fn is_ancestor(&self, ancestor: ObjectId, descendant: ObjectId) -> Result<bool, GitError>;

    /// Writes the files of a commit. The same archive is always the same bytes.
    fn write_archive(&self, archive: &Archive, to: &mut dyn Write) -> Result<(), GitError>;

    /// Who wrote what led to a commit. Counts in the background what is not counted yet; a caller waits for
    /// that for some seconds at most.
    fn contributors(&self, tip: ObjectId) -> Result<Contributors, GitError>;
}

/// How deep a tree is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// One folder.
    Folder,
    /// All folders below too.
    Recursive,
}

/// A file's content that can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob {
    /// By which to ask for it.
    pub id: ObjectId,
    /// Its length in bytes.
    pub size: u64,
}

/// One ref that is to be something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChange {
    /// With `refs/`.
    pub name: String,
    /// What it has to be now; `None` when it must not exist.
    pub old: Option<ObjectId>,
    /// What it is to be; `None` when it is to go.
    pub new: Option<ObjectId>,
}

/// Why git did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// What was named does not exist.
    #[error("the object does not exist")]
    Missing,
    /// A ref is not what was expected; its full name.
    #[error("the ref `{0}` is in the way or was changed by others")]
    Conflict(String),
    /// There is more of it than can be held at once.
    #[error("there is too much of it")]
    TooLarge,
    /// Too many ask for the same at once; later it may succeed.
    #[error("too much is being asked for")]
    Busy,
    /// The work takes longer than one call may. The same call continues it.
    #[error("it is not finished yet")]
    Unfinished,
    /// The other side said what no git client says.
    #[error("the protocol is not kept: {0}")]
    Protocol(String),
    /// Whoever was to get the data went away.
    #[error("the reader is gone")]
    ReaderGone(#[source] std::io::Error),
    /// There is no room to write to; it works again as soon as there is.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The pack store does not answer; later it may.
    #[error("{0}")]
    Away(String),
    /// The repository is damaged.
    #[error("the repository is damaged: {0}")]
    Corrupt(String),
    /// Anything else.
    #[error("git failed: {0}")]
    Failed(String),
}
