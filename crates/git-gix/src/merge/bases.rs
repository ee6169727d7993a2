//! The base of a merge. Several merge bases are merged into one tree first, as git does.

use gix::ObjectId;
use gix::bstr::BString;
use gix::object::Kind;
use gix::objs::{Write, WriteTo};
use hexforge_domain::ports::git::GitError;

use super::merge_trees;
use crate::content::tree::entries::tree_of;
use crate::error::{failed, io_failed};
use crate::history::compare::{Effort, best_merge_bases};

/// More merge bases, and deeper nested merges of merge bases, are refused. Real histories have two or three.
const MOST_BASES: usize = 64;
const DEEPEST: usize = 16;

/// Returns the tree that is the base of a merge; `None` when the commits have no common ancestor.
pub(super) fn merged_base_tree(
    repo: &gix::Repository,
    ours: ObjectId,
    theirs: ObjectId,
    effort: &Effort,
) -> Result<Option<ObjectId>, GitError> {
    let base = merged_base(repo, ours, theirs, 0, effort)?;
    base.map(|base| tree_of(repo, base)).transpose()
}

/// Returns the merge base of two commits. Several are merged into a virtual commit, which exists in memory only.
fn merged_base(
    repo: &gix::Repository,
    ours: ObjectId,
    theirs: ObjectId,
    depth: usize,
    effort: &Effort,
) -> Result<Option<ObjectId>, GitError> {
    let (mut bases, are_all) = best_merge_bases(repo, ours, theirs, MOST_BASES)?;
    if !are_all || depth > DEEPEST || !effort.has_time() {
        return Err(GitError::TooLarge);
    }
    // git merges the oldest ones first.
    bases.reverse();
    let mut bases = bases.into_iter();
    let Some(mut merged) = bases.next() else { return Ok(None) };
    for next in bases {
        let base = merged_base(repo, merged, next, depth + 1, effort)?;
        let base = base.map(|base| tree_of(repo, base)).transpose()?;
        let trees = [base, Some(tree_of(repo, merged)?), Some(tree_of(repo, next)?)];
        let tree = merge_trees(repo, trees, depth + 1, effort)?.ok_or(GitError::TooLarge)?;
        for (_, kind, data) in tree.objects.into_iter() {
            repo.objects.write_buf(kind, &data).map_err(failed)?;
        }
        merged = virtual_commit(repo, tree.tree, [merged, next])?;
    }
    Ok(Some(merged))
}

fn virtual_commit(
    repo: &gix::Repository,
    tree: ObjectId,
    parents: [ObjectId; 2],
) -> Result<ObjectId, GitError> {
    let nobody = gix::actor::Signature {
        name: BString::default(),
        email: BString::default(),
        time: gix::date::Time::default(),
    };
    let commit = gix::objs::Commit {
        tree,
        parents: parents.into_iter().collect(),
        author: nobody.clone(),
        committer: nobody,
        encoding: None,
        message: "merged tree".into(),
        extra_headers: Vec::new(),
    };
    let mut data = Vec::new();
    commit.write_to(&mut data).map_err(io_failed)?;
    repo.objects.write_buf(Kind::Commit, &data).map_err(failed)
}
