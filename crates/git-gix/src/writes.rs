//! Writes commits: file changes, merges and cherry-picks.

mod commit;
mod editor;
mod new_objects;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_writes::GitWrites;
use hexforge_domain::repository::{
    CommitOutcome, CommitText, FileChange, MergeOutcome, PathEntry, PickOutcome,
};

use crate::content::commit::to_gix;
use crate::error::failed;
use crate::merge::{self, MergedTree};
use crate::storage::repository::{GixRepository, RepositoryHandle};

pub(crate) use editor::TreeEditor;
pub(crate) use new_objects::NewObjects;

impl GitWrites for GixRepository {
    fn path_entry(&self, commit: ObjectId, path: &str) -> Result<PathEntry, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let mut editor = TreeEditor::new(Some(repo), Some(self.root_id(repo, commit)?));
        editor.path_entry(path.as_bytes())
    }

    fn write_commit(
        &self,
        parent: Option<ObjectId>,
        changes: &[FileChange],
        text: &CommitText,
    ) -> Result<CommitOutcome, GitError> {
        let repo = self.handle().map(RepositoryHandle::repo);
        let root = match (repo, parent) {
            (Some(repo), Some(parent)) => Some(self.root_id(repo, parent)?),
            (None, Some(_)) => return Err(GitError::Missing),
            (_, None) => None,
        };
        let editor = TreeEditor::new(repo, root);
        commit::write_changes(self.shared(), editor, parent.map(to_gix), changes, text)
    }

    fn can_merge(&self, ours: ObjectId, theirs: ObjectId) -> Result<bool, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        Ok(merge::merge_commits(repo, to_gix(ours), to_gix(theirs))?.is_some())
    }

    fn merge(
        &self,
        ours: ObjectId,
        theirs: ObjectId,
        text: &CommitText,
    ) -> Result<MergeOutcome, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        commit::check_text(text)?;
        let (ours, theirs) = (to_gix(ours), to_gix(theirs));
        let Some(merged) = merge::merge_commits(repo, ours, theirs)? else {
            return Ok(MergeOutcome::Conflict);
        };
        let MergedTree { tree, objects } = merged;
        let written = commit::write(self.shared(), objects, tree, &[ours, theirs], text)?;
        Ok(MergeOutcome::Merged(written))
    }

    fn cherry_pick(
        &self,
        picked: ObjectId,
        onto: ObjectId,
        text: &CommitText,
    ) -> Result<PickOutcome, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        commit::check_text(text)?;
        let Some(merged) = merge::cherry_pick(repo, to_gix(picked), to_gix(onto))? else {
            return Ok(PickOutcome::Conflict);
        };
        let MergedTree { tree, objects } = merged;
        if tree == self.root_id(repo, onto)? {
            return Ok(PickOutcome::Unchanged);
        }
        let written = commit::write(self.shared(), objects, tree, &[to_gix(onto)], text)?;
        Ok(PickOutcome::Picked(written))
    }
}

impl GixRepository {
    /// The id of the root tree of a commit.
    /// # Errors
    /// [`GitError::Missing`] when there is no such commit.
    fn root_id(&self, repo: &gix::Repository, commit: ObjectId) -> Result<gix::ObjectId, GitError> {
        match repo.try_find_header(to_gix(commit)).map_err(failed)? {
            Some(header) if header.kind() == gix::object::Kind::Commit => {
                self.shared().root_tree(self.project(), repo, to_gix(commit))
            }
            Some(_) | None => Err(GitError::Missing),
        }
    }
}
