//! Which files changed, and how.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::BString;
use gix::diff::tree::recorder::Change;
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind, EntryMode};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::FileDiff;

use super::content::Entry;
use super::{renames, unified};
use crate::error::failed;
use crate::text;

/// What became of an entry.
struct Pair {
    old: Option<Entry>,
    new: Option<Entry>,
}

/// What changed in files between two commits, or since there was nothing, by path.
pub(super) fn changes(
    repo: &gix::Repository,
    base: Option<ObjectId>,
    to: ObjectId,
) -> Result<Vec<FileDiff>, GitError> {
    let pairs = with_renames(repo, pairs(repo, base, to)?)?;
    let mut diffs = Vec::with_capacity(pairs.len());
    for Pair { old, new } in pairs {
        match (&old, &new) {
            // One kind of thing does not become another: the one goes and the other comes.
            (Some(before), Some(after)) if !before.is_same_type(after) => {
                diffs.push(diff(repo, old.as_ref(), None)?);
                diffs.push(diff(repo, None, new.as_ref())?);
            }
            _ => diffs.push(diff(repo, old.as_ref(), new.as_ref())?),
        }
    }
    Ok(diffs)
}

fn diff(
    repo: &gix::Repository,
    old: Option<&Entry>,
    new: Option<&Entry>,
) -> Result<FileDiff, GitError> {
    let path = |entry: Option<&Entry>| entry.map(|entry| text::path(&entry.path));
    Ok(FileDiff {
        old_path: path(old.or(new)).unwrap_or_default(),
        new_path: path(new.or(old)).unwrap_or_default(),
        old_mode: old.map(Entry::mode),
        new_mode: new.map(Entry::mode),
        renamed: matches!((old, new), (Some(old), Some(new)) if old.path != new.path),
        text: text::decode(&unified::text(repo, old, new)?),
    })
}

/// What is different in both trees, by path.
fn pairs(
    repo: &gix::Repository,
    base: Option<ObjectId>,
    to: ObjectId,
) -> Result<Vec<Pair>, GitError> {
    let tree = |commit: ObjectId| -> Result<Vec<u8>, GitError> {
        let commit = repo.find_commit(commit).map_err(failed)?;
        Ok(commit.tree().map_err(failed)?.detach().data)
    };
    let old = base.map(tree).transpose()?.unwrap_or_default();
    let new = tree(to)?;
    let mut recorder = gix::diff::tree::Recorder::default();
    gix::diff::tree(
        TreeRefIter::from_bytes(&old, repo.object_hash()),
        TreeRefIter::from_bytes(&new, repo.object_hash()),
        gix::diff::tree::State::default(),
        &repo.objects,
        &mut recorder,
    )
    .map_err(|error| failed(gix::Error::from_error(error)))?;

    let mut pairs: BTreeMap<BString, Pair> = BTreeMap::new();
    let mut put = |path: &BString, mode: EntryMode, id: ObjectId, is_new: bool| {
        // Folders change with what is in them.
        if mode.kind() == EntryKind::Tree {
            return;
        }
        let entry = Some(Entry { path: path.clone(), kind: mode.kind(), id });
        let pair = pairs.entry(path.clone()).or_insert(Pair { old: None, new: None });
        *if is_new { &mut pair.new } else { &mut pair.old } = entry;
    };
    for change in &recorder.records {
        match change {
            Change::Addition { entry_mode, oid, path, .. } => put(path, *entry_mode, *oid, true),
            Change::Deletion { entry_mode, oid, path, .. } => put(path, *entry_mode, *oid, false),
            Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
                put(path, *previous_entry_mode, *previous_oid, false);
                put(path, *entry_mode, *oid, true);
            }
        }
    }
    // Old programs wrote modes that mean the same as those of today.
    Ok(pairs.into_values().filter(|pair| pair.old != pair.new).collect())
}

/// Joins what was deleted with what it became.
fn with_renames(repo: &gix::Repository, mut pairs: Vec<Pair>) -> Result<Vec<Pair>, GitError> {
    let is_deleted = |pair: &Pair| pair.new.is_none();
    let is_added = |pair: &Pair| pair.old.is_none();
    let deleted: Vec<usize> = (0..pairs.len()).filter(|&at| is_deleted(&pairs[at])).collect();
    let added: Vec<usize> = (0..pairs.len()).filter(|&at| is_added(&pairs[at])).collect();
    let found = {
        let old: Vec<&Entry> = deleted.iter().filter_map(|&at| pairs[at].old.as_ref()).collect();
        let new: Vec<&Entry> = added.iter().filter_map(|&at| pairs[at].new.as_ref()).collect();
        renames::find(repo, &old, &new)?
    };
    for (target, source) in added.into_iter().zip(found) {
        if let Some(source) = source {
            pairs[target].old = pairs[deleted[source]].old.take();
        }
    }
    pairs.retain(|pair| pair.old.is_some() || pair.new.is_some());
    Ok(pairs)
}
