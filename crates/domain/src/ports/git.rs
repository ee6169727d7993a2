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
use crate::paging::{Page, Paged};
use crate::ports::files::ProjectFiles;
use crate::ports::git_transport::GitTransport;
use crate::push::ChangedPaths;
use crate::repository::{Archive, Comparison, Contributors, TreeEntry};
use crate::tag::{Tag, TagName};

/// All repositories.
pub trait GitStore: ProjectFiles {
    /// The repository of a project, for one request: what others change is seen by the next call.
    fn open(&self, project: ProjectId) -> Result<Box<dyn Repository>, GitError>;

    /// The same for a caller, with whom others share what long work needs.
    fn open_for(
        &self,
        project: ProjectId,
        caller: Caller,
    ) -> Result<Box<dyn Repository>, GitError> {
        let _ = caller;
        self.open(project)
    }

    /// Gives `target`, which is empty, everything that `source` has. May be done again after it failed.
    fn copy(&self, source: ProjectId, target: ProjectId) -> Result<(), GitError>;

    /// What processes that are gone changed in repositories, or in that of one project, and did not settle;
    /// oldest first. Each is handed out once, until it is [left](Self::leave). Of all repositories those that
    /// cannot be read are passed over.
    fn unsettled(&self, project: Option<ProjectId>) -> Result<Vec<Unsettled>, GitError>;

    /// Forgets a change that is recorded.
    fn settle(&self, change: &ChangeKey) -> Result<(), GitError>;

    /// Puts a change that could not be recorded back among the unsettled.
    fn leave(&self, change: &ChangeKey);
}

/// One repository.
pub trait Repository: GitRefs + GitObjects + GitHistory + GitTransport + Send {}

impl<T: GitRefs + GitObjects + GitHistory + GitTransport + Send> Repository for T {}

/// Branches, tags and HEAD.
pub trait GitRefs {
    /// The branch shown when none is asked for, see [`default_branch`](crate::branch::default_branch), and the
    /// commit it is at.
    fn default_tip(&self) -> Result<Option<(BranchName, ObjectId)>, GitError>;

    /// The name of that branch.
    fn default_branch(&self) -> Result<Option<BranchName>, GitError> {
        Ok(self.default_tip()?.map(|(branch, _)| branch))
    }

    /// Whether there is any branch.
    fn has_branches(&self) -> Result<bool, GitError>;

    /// Branches by name, in the order of its bytes.
    fn branches(&self, page: Page) -> Result<Paged<Branch>, GitError>;

    /// The branch of exactly this name.
    fn branch(&self, name: &BranchName) -> Result<Option<Branch>, GitError>;

    /// Tags that lead to commits by name, in the reverse order of its bytes.
    fn tags(&self, page: Page) -> Result<Paged<Tag>, GitError>;

    /// The tag of exactly this name.
    fn tag(&self, name: &TagName) -> Result<Option<Tag>, GitError>;

    /// What a ref of this full name holds itself: the tag object of an annotated tag.
    fn ref_target(&self, full_name: &str) -> Result<Option<ObjectId>, GitError>;

    /// Branches whose tips are ancestors of `tip` and not `tip` itself.
    fn merged_into(&self, tip: ObjectId) -> Result<Vec<(BranchName, ObjectId)>, GitError>;

    /// The first branch by name, in the order of its bytes, that a commit led to or that it is the tip of.
    /// # Errors
    /// [`GitError::Missing`] when there is no such commit; [`GitError::TooLarge`] when there is too much to look at.
    fn first_with(&self, commit: ObjectId) -> Result<Option<BranchName>, GitError>;

    /// Points HEAD to a branch.
    fn set_head(&self, branch: &BranchName) -> Result<(), GitError>;

    /// Stores an annotated tag object; a ref to it is made by [`update`](Self::update).
    fn write_tag(
        &self,
        name: &TagName,
        commit: ObjectId,
        tagger: &Signature,
        message: &str,
    ) -> Result<ObjectId, GitError>;

    /// Makes all of these changes or none. When it returns, they are on disk, together with `note`, which
    /// stays among the [`unsettled`](GitStore::unsettled) until it is [settled](GitStore::settle).
    /// # Errors
    /// [`GitError::Conflict`] when a ref is not what it was expected to be, and when a name collides with
    /// another as a folder; [`GitError::Missing`] when a new value is no object that such a ref may hold.
    fn update(&self, changes: &[RefChange], note: &str) -> Result<ChangeKey, GitError>;
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
    /// oldest first, fewer if these are more than anybody reads, each with as much of its texts as is [told](crate::push::told_text).
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

/// By which a change of a repository is settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeKey(pub String);

/// A change of a repository that nobody has recorded elsewhere yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// By which it is settled.
    pub key: ChangeKey,
    /// Where it happened.
    pub project: ProjectId,
    /// What the changing call had to say about it.
    pub note: String,
    /// The refs as they were changed; empty when the change did not happen.
    pub changes: Vec<RefChange>,
    /// How often it was handed out before, also to processes that did not survive it.
    pub tries: u32,
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
    /// The repository is damaged.
    #[error("the repository is damaged: {0}")]
    Corrupt(String),
    /// Anything else.
    #[error("git failed: {0}")]
    Failed(String),
}
