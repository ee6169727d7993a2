//! Merges two commits as `git merge` does with default options (the strategy `ort`): with renamed files, and with
//! several merge bases merged into one first.
//!
//! The rules are those of git's `merge-ort.c` and `diffcore-rename.c`. gix can merge trees too, but it estimates the
//! similarity of files and treats renamed folders differently, so its merges would differ from git's. The differences
//! from git that are left:
//!
//! - Attributes are ignored: a file with `merge=union`, `merge=ours`, `-merge` or a driver is merged as text.
//! - Files over 32 MiB are not read. If both sides changed such a file, that is a conflict, as for binary files.
//! - A submodule that both sides changed is a conflict, as in git when the submodule is not checked out.
//! - A renamed file whose content conflicts is a conflict at every new path, and so is a file that the rename of its
//!   folder would move. Where both sides had another file at the new path, git prints the conflict and forgets it: the
//!   result has conflict markers, or lacks the content of a side.
//! - When most files of a folder are known to have moved to another folder, git skips further files that it would need
//!   only to find out where the folder went. Here they are matched.

mod bases;
mod collect;
mod content;
mod histogram;
mod renames;
mod resolve;
#[cfg(test)]
mod tests;
mod text;

use std::time::Duration;

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;

use crate::content::tree::entries::tree_of;
use crate::error::failed;
use crate::history::compare::{Effort, Limits, require_commits, with_object_cache};
use crate::writes::{NewObjects, TreeEditor};
use content::Contents;

/// The index of our side, after the base.
const OURS: usize = 1;

/// The index of their side.
const THEIRS: usize = 2;

/// The limits of a merge. The reading is that of rename detection.
const MERGE_LIMITS: Limits =
    Limits { time: Duration::from_secs(20), reading: 512 << 20, showing: 0, changes: 100_000 };

/// The names of both sides in conflict markers.
#[derive(Clone, Copy)]
struct Labels([&'static str; 3]);

impl Labels {
    /// The names in merges of merge bases. Other conflicts are not written.
    const VIRTUAL: Self =
        Self(["merged common ancestors", "Temporary merge branch 1", "Temporary merge branch 2"]);

    fn of(self, side: usize) -> &'static str {
        self.0.get(side).copied().unwrap_or_default()
    }
}

/// A merge without conflict: its tree, and the objects in it that are new.
pub(crate) struct MergedTree {
    pub(crate) tree: ObjectId,
    pub(crate) objects: NewObjects,
}

/// Merges two commits. Returns `None` when they conflict.
/// # Errors
/// [`GitError::Missing`] when a commit does not exist; [`GitError::TooLarge`] when a limit is reached.
pub(crate) fn merge_commits(
    repo: &gix::Repository,
    ours: ObjectId,
    theirs: ObjectId,
) -> Result<Option<MergedTree>, GitError> {
    require_commits(repo, &[ours, theirs])?;
    let repo = &with_object_cache(repo).with_object_memory();
    let effort = Effort::new(MERGE_LIMITS);
    // As `git merge` does, commits without a common ancestor are not merged.
    let Some(base) = bases::merged_base_tree(repo, ours, theirs, &effort)? else { return Ok(None) };
    let trees = [Some(base), Some(tree_of(repo, ours)?), Some(tree_of(repo, theirs)?)];
    merge_trees(repo, trees, 0, &effort)
}

/// Applies the change of a commit against its first parent to another commit. Returns `None` when they conflict.
/// # Errors
/// Those of [`merge_commits`].
pub(crate) fn cherry_pick(
    repo: &gix::Repository,
    picked: ObjectId,
    onto: ObjectId,
) -> Result<Option<MergedTree>, GitError> {
    require_commits(repo, &[picked, onto])?;
    let repo = &with_object_cache(repo);
    let parent = repo.find_commit(picked).map_err(failed)?.parent_ids().next();
    let base = parent.map(|parent| tree_of(repo, parent.detach())).transpose()?;
    let trees = [base, Some(tree_of(repo, onto)?), Some(tree_of(repo, picked)?)];
    merge_trees(repo, trees, 0, &Effort::new(MERGE_LIMITS))
}

/// Merges the trees of base, ours and theirs. Conflicts end the merge at depth 0. In merges of merge bases, which have
/// a depth, they are written into the files.
fn merge_trees(
    repo: &gix::Repository,
    trees: [Option<ObjectId>; 3],
    depth: usize,
    effort: &Effort,
) -> Result<Option<MergedTree>, GitError> {
    let collected = collect::collect(repo, trees, effort)?;
    let renames = renames::find(repo, &collected, effort)?;
    // git does not look for renamed folders in merges of merge bases.
    if depth == 0 && renames.folder_conflict {
        return Ok(None);
    }
    let mut objects = NewObjects::default();
    let mut contents = Contents { repo, effort, objects: &mut objects, depth };
    let decided = resolve::resolve(collected, &renames.files, &mut contents)?;
    if effort.is_spent() {
        return Err(GitError::TooLarge);
    }
    let Some(decided) = decided else { return Ok(None) };
    let mut editor = TreeEditor::new(Some(repo), trees[OURS]);
    for (path, _) in decided.iter().filter(|(_, version)| version.is_none()) {
        editor.remove(path)?;
    }
    for (path, version) in &decided {
        if let Some(version) = version {
            editor.set(path, version.kind.into(), version.id)?;
        }
    }
    let tree = editor.write(&mut objects)?;
    Ok(Some(MergedTree { tree, objects }))
}
