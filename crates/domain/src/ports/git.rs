//! The ports to git repositories, one for each project.
//!
//! A repository is created by the first write; until then it is empty, and reads find nothing. These ports do not check
//! permissions: callers check them first.

use std::io::Write;
use std::sync::Arc;

use crate::branch::{Branch, BranchName};
use crate::commit::signing::SignedBytes;
use crate::commit::{Commit, ObjectId, Signature};
use crate::id::ProjectId;
use crate::limiter::Caller;
use crate::pack::{Pack, PackName};
use crate::paging::{Page, Paged};
use crate::ports::files::ProjectFiles;
pub use crate::ports::git_browsing::GitBrowsing;
pub use crate::ports::git_error::GitError;
use crate::ports::git_transport::GitTransport;
use crate::ports::git_writes::GitWrites;
use crate::push::ChangedPaths;
use crate::refs::Snapshot;
pub use crate::refs::ref_change::RefChange;
use crate::repository::{
    Archive, ChangedLine, CommitStats, Comparison, Contributors, FileDiff, LineSide, LogQuery,
    TreeEntry,
};
use crate::tag::{Tag, TagName};

/// All repositories.
pub trait GitStore: ProjectFiles {
    /// Opens the repository of a project with its refs and packs at one version. Long-running work is charged to
    /// `caller`.
    fn open(
        &self,
        project: ProjectId,
        refs: Arc<Snapshot>,
        caller: Caller,
    ) -> Result<Box<dyn Repository>, GitError>;

    /// Writes HEAD and refs into the repository folder, so that people can inspect it with git. Nothing reads them
    /// back.
    fn export_refs(&self, project: ProjectId, refs: &Snapshot) -> Result<(), GitError>;

    /// Merges the small packs of a repository into one pack, stores it and syncs it to disk. `None` when there are too
    /// few small packs.
    fn merge_packs(
        &self,
        project: ProjectId,
        packs: &[Pack],
    ) -> Result<Option<MergedPacks>, GitError>;

    /// Copies a commit of one repository with all objects that another repository lacks, and syncs them to disk. Both
    /// repositories are given with their refs. The commit must be reachable from a ref of the source. Returns the packs
    /// with the objects; they belong to the target when rows name them. Empty when the target has the commit.
    /// # Errors
    /// [`GitError::TooLarge`] when the target would be larger than its limit; [`GitError::Failed`] when the objects
    /// would be refused in a push.
    fn copy_commit(
        &self,
        commit: ObjectId,
        source: (ProjectId, Arc<Snapshot>),
        target: (ProjectId, Arc<Snapshot>),
        caller: Caller,
    ) -> Result<Vec<Pack>, GitError>;
}

/// A pack that contains all objects of several other packs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedPacks {
    /// The new pack.
    pub pack: Pack,
    /// The packs whose objects the new pack contains.
    pub replaced: Vec<PackName>,
}

/// One repository.
pub trait Repository:
    GitRefs + GitObjects + GitHistory + GitBrowsing + GitWrites + GitTransport + Send
{
}

impl<T> Repository for T where
    T: GitRefs + GitObjects + GitHistory + GitBrowsing + GitWrites + GitTransport + Send
{
}

/// Branches, tags and HEAD.
pub trait GitRefs {
    /// All refs and HEAD at the version with which the repository was opened.
    fn refs(&self) -> &Arc<Snapshot>;

    /// The branches, sorted by the bytes of their names.
    fn branches(&self, page: Page) -> Result<Paged<Branch>, GitError>;

    /// The branch with exactly this name.
    fn branch(&self, name: &BranchName) -> Result<Option<Branch>, GitError>;

    /// The tags that point to commits, in reverse order of the bytes of their names.
    fn tags(&self, page: Page) -> Result<Paged<Tag>, GitError>;

    /// The tag with exactly this name.
    fn tag(&self, name: &TagName) -> Result<Option<Tag>, GitError>;

    /// The branches whose tips are ancestors of `tip`, except those at `tip` itself.
    fn branches_merged_into(&self, tip: ObjectId) -> Result<Vec<(BranchName, ObjectId)>, GitError>;

    /// The first branch, by the bytes of its name, that contains `commit`.
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist; [`GitError::TooLarge`] when the history is too large to
    /// search.
    fn first_branch_containing(&self, commit: ObjectId) -> Result<Option<BranchName>, GitError>;

    /// Stores an annotated tag object in a pack of its own and syncs the pack to disk.
    fn write_tag(
        &self,
        name: &TagName,
        commit: ObjectId,
        tagger: &Signature,
        message: &str,
    ) -> Result<(ObjectId, Pack), GitError>;
}

/// The commit to which a revision resolves, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The commit.
    pub commit: ObjectId,
    /// Whether the revision begins with the name of a ref, so that the commit is reachable. A commit found by its id
    /// may be unreachable.
    pub through_ref: bool,
}

/// Blobs, trees and commits.
pub trait GitObjects {
    /// Resolves a revision to a commit: a branch, a tag, a full or abbreviated object id, or an expression like
    /// `master~1`.
    fn resolve(&self, revision: &str) -> Result<Option<Resolved>, GitError>;

    /// Returns whether an object is reachable from a ref, hidden or not, or from one of the `kept` commits, which are
    /// commits of pipelines: they stay visible when no ref contains them.
    /// # Errors
    /// [`GitError::Unfinished`] when the search takes longer than one call may. The next call continues the search.
    fn is_reachable(&self, id: ObjectId, kept: &[ObjectId]) -> Result<bool, GitError>;

    /// The commit with this id.
    fn commit(&self, id: ObjectId) -> Result<Option<Commit>, GitError>;

    /// The signature of the commit with this id, and the bytes that it signs.
    fn signed_bytes(&self, id: ObjectId) -> Result<Option<SignedBytes>, GitError>;

    /// The entries of a folder of a commit: folders first, then files, then submodules, each in git's order. Empty when
    /// the path is not a folder.
    /// # Errors
    /// [`GitError::TooLarge`] when the tree has too many entries.
    fn tree(&self, commit: ObjectId, path: &str, depth: Depth) -> Result<Vec<TreeEntry>, GitError>;

    /// The file or symbolic link at a path of a commit.
    fn blob_at(&self, commit: ObjectId, path: &str) -> Result<Option<Blob>, GitError>;

    /// The blob whose id is `name`, or the only blob whose id begins with `name`.
    fn find_blob(&self, name: &str) -> Result<Option<Blob>, GitError>;

    /// Writes the content of a blob as a stream, so that large blobs are never in memory as a whole.
    fn write_blob(&self, id: ObjectId, to: &mut dyn Write) -> Result<(), GitError>;
}

/// Operations that walk the history or read many objects.
pub trait GitHistory {
    /// The commits of `to` that are not in `from`, and the diffs against the merge base. A comparison that is too large
    /// for one response is incomplete and has [`overflow`](Comparison::overflow) set.
    fn compare(&self, from: ObjectId, to: ObjectId) -> Result<Arc<Comparison>, GitError>;

    /// The number of commits reachable from `to` and from none of `hidden`, and the newest `limit` of them, oldest
    /// first. Fewer commits are returned when their messages take too much memory. Texts are truncated by
    /// [`truncated_for_event`](crate::push::truncated_for_event).
    /// # Errors
    /// [`GitError::TooLarge`] when there are too many commits to count in time.
    fn commits_between(
        &self,
        hidden: &[ObjectId],
        to: ObjectId,
        limit: usize,
    ) -> Result<(u64, Vec<Commit>), GitError>;

    /// The best common ancestor of two commits; the newest if there are several.
    /// # Errors
    /// [`GitError::Missing`] when a commit does not exist.
    fn merge_base(&self, one: ObjectId, two: ObjectId) -> Result<Option<ObjectId>, GitError>;

    /// The newest `limit` commits that are reachable from `head` and not from `start`, newest first, and never a commit
    /// before its children.
    /// # Errors
    /// [`GitError::Missing`] when a commit does not exist; [`GitError::TooLarge`] when the walk takes too long, or when
    /// the messages take too much memory.
    fn commits_not_in(
        &self,
        start: ObjectId,
        head: ObjectId,
        limit: usize,
    ) -> Result<Vec<Commit>, GitError>;

    /// Those of the `wanted` commits that are reachable from `new` and not from `old`, in their order. One walk serves
    /// all of them.
    /// # Errors
    /// [`GitError::Missing`] when `old` or `new` does not exist; [`GitError::TooLarge`] when the walk takes too long.
    fn commits_among(
        &self,
        wanted: &[ObjectId],
        old: ObjectId,
        new: ObjectId,
    ) -> Result<Vec<ObjectId>, GitError>;

    /// The diff of a commit against its first parent, ordered by path and cut as
    /// [`ShownDiffs`](crate::repository::ShownDiffs) says. All files of a root commit are new.
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist.
    fn commit_diff(&self, commit: ObjectId) -> Result<Vec<FileDiff>, GitError>;

    /// Finds a line in the diff of a commit against its first parent, which is not cut for this: in the file whose new
    /// path is `path`, the first line of this side whose [`new`](ChangedLine::new) number is `number`. Returns `None`
    /// when there is no such line, or when finding it would take too long.
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist.
    fn changed_line(
        &self,
        commit: ObjectId,
        path: &str,
        side: LineSide,
        number: u32,
    ) -> Result<Option<ChangedLine>, GitError>;

    /// The number of lines that a commit changed against its first parent. Renamed files are compared with their old
    /// version, and binary files do not count.
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist.
    fn commit_stats(&self, commit: ObjectId) -> Result<CommitStats, GitError>;

    /// Lists commits, always the waiting commit with the latest committer date next: a commit waits from when one of
    /// its children was listed or passed over. With a path, history is simplified as git does by default: when a merge
    /// equals one of its parents at the path, only that parent is followed and the merge is not listed.
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist; [`GitError::TooLarge`] when the walk takes too long.
    fn log(&self, query: &LogQuery) -> Result<Vec<Commit>, GitError>;

    /// The last commit up to `from` that changed the file or folder at a path.
    /// # Errors
    /// Those of [`log`](Self::log).
    fn last_commit(&self, from: ObjectId, path: &str) -> Result<Option<ObjectId>, GitError>;

    /// The paths that a commit added, changed or removed, at most [`EVENT_PATHS`](crate::push::EVENT_PATHS) of each
    /// kind. For a huge commit the lists may be shorter, and a renamed file may appear as one added and one removed
    /// path.
    fn changed_paths(&self, commit: ObjectId) -> Result<ChangedPaths, GitError>;

    /// Returns whether `ancestor` is reachable from `descendant`.
    fn is_ancestor(&self, ancestor: ObjectId, descendant: ObjectId) -> Result<bool, GitError>;

    /// Writes an archive of the files of a commit. The same archive always has the same bytes.
    fn write_archive(&self, archive: &Archive, to: &mut dyn Write) -> Result<(), GitError>;

    /// The authors of the commits reachable from `tip`. Commits that were not counted before are counted in the
    /// background; the call waits for some seconds at most.
    fn contributors(&self, tip: ObjectId) -> Result<Contributors, GitError>;
}

/// How deep a tree is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The entries of one folder.
    Folder,
    /// The entries of the folder and of all folders below it.
    Recursive,
}

/// The id and size of a blob whose content can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The id with which to read the content.
    pub id: ObjectId,
    /// The length in bytes.
    pub size: u64,
}
