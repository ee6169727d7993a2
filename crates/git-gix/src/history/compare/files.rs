//! Lists the changed files of two commits, with their diffs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use gix::diff::tree::recorder::Change;
use gix::diff::tree::{Recorder, Visit, visit};
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind, EntryMode};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::push::{ChangedPaths, EVENT_PATHS};
use hexforge_domain::repository::FileDiff;

use super::content::Entry;
use super::effort::Effort;
use super::{renames, unified};
use crate::error::failed;
use crate::text;

/// The old and the new version of an entry.
struct Pair {
    old: Option<Entry>,
    new: Option<Entry>,
}

/// Returns the diffs between two commits, sorted by path. Without a base, all files are new.
pub(super) fn file_diffs(
    repo: &gix::Repository,
    base: Option<ObjectId>,
    to: ObjectId,
    effort: &Effort,
) -> Result<Vec<FileDiff>, GitError> {
    let pairs = with_renames(repo, changed_entries(repo, base, to, effort)?, effort)?;
    let mut diffs = Vec::with_capacity(pairs.len());
    for Pair { old, new } in pairs {
        match (&old, &new) {
            // As in git, a change of type (file, link, submodule) is shown as a deletion and an addition.
            (Some(before), Some(after)) if !before.is_same_type(after) => {
                diffs.push(file_diff(repo, old.as_ref(), None, effort)?);
                diffs.push(file_diff(repo, None, new.as_ref(), effort)?);
            }
            _ => diffs.push(file_diff(repo, old.as_ref(), new.as_ref(), effort)?),
        }
    }
    Ok(diffs)
}

/// Returns the paths that a commit added, modified and removed compared with its first parent, at most [`EVENT_PATHS`]
/// of each.
pub(crate) fn changed_paths(
    repo: &gix::Repository,
    commit: ObjectId,
    effort: &Effort,
) -> Result<ChangedPaths, GitError> {
    let parent = repo.find_commit(commit).map_err(failed)?.parent_ids().next();
    let pairs = changed_entries(repo, parent.map(gix::Id::detach), commit, effort)?;
    let mut paths = ChangedPaths::default();
    for Pair { old, new } in with_renames(repo, pairs, effort)? {
        let (list, entry) = match (&old, &new) {
            (None, Some(new)) => (&mut paths.added, new),
            // A renamed file counts as added at its new path.
            (Some(old), Some(new)) if old.path != new.path => (&mut paths.added, new),
            (Some(_), Some(new)) => (&mut paths.modified, new),
            (Some(old), None) => (&mut paths.removed, old),
            (None, None) => continue,
        };
        if list.len() < EVENT_PATHS && effort.may_show(entry.path.len()) {
            list.push(text::path(&entry.path));
        }
    }
    Ok(paths)
}

fn file_diff(
    repo: &gix::Repository,
    old: Option<&Entry>,
    new: Option<&Entry>,
    effort: &Effort,
) -> Result<FileDiff, GitError> {
    let shown = |text: Vec<u8>| if effort.may_show(text.len()) { text } else { Vec::new() };
    let text = if effort.has_time() { shown(unified::text(repo, old, new)?) } else { Vec::new() };
    let path = |entry: Option<&Entry>| entry.map(|entry| text::path(&entry.path));
    Ok(FileDiff {
        old_path: path(old.or(new)).unwrap_or_default(),
        new_path: path(new.or(old)).unwrap_or_default(),
        old_mode: old.map(Entry::mode),
        new_mode: new.map(Entry::mode),
        renamed: matches!((old, new), (Some(old), Some(new)) if old.path != new.path),
        text: text::decode(&text),
    })
}

/// Returns the entries that differ between two trees, sorted by path.
fn changed_entries(
    repo: &gix::Repository,
    base: Option<ObjectId>,
    to: ObjectId,
    effort: &Effort,
) -> Result<Vec<Pair>, GitError> {
    let tree = |commit: ObjectId| -> Result<Vec<u8>, GitError> {
        let commit = repo.find_commit(commit).map_err(failed)?;
        Ok(commit.tree().map_err(failed)?.detach().data)
    };
    let old = base.map(tree).transpose()?.unwrap_or_default();
    let new = tree(to)?;
    let mut limited = LimitedRecorder { recorder: Recorder::default(), effort };
    let ended = gix::diff::tree(
        TreeRefIter::from_bytes(&old, repo.object_hash()),
        TreeRefIter::from_bytes(&new, repo.object_hash()),
        gix::diff::tree::State::default(),
        &repo.objects,
        &mut limited,
    );
    match ended {
        // The changes recorded before a limit was reached are kept.
        Ok(()) | Err(gix::diff::tree::Error::Cancelled) => (),
        Err(error) => return Err(failed(gix::Error::from_error(error))),
    }

    let mut pairs: BTreeMap<BString, Pair> = BTreeMap::new();
    let mut record = |path: &BString, mode: EntryMode, id: ObjectId, is_new: bool| {
        // Trees are skipped: a tree changes only when its entries do.
        if mode.kind() == EntryKind::Tree {
            return;
        }
        let entry = Some(Entry { path: path.clone(), kind: mode.kind(), id });
        let pair = pairs.entry(path.clone()).or_insert(Pair { old: None, new: None });
        *if is_new { &mut pair.new } else { &mut pair.old } = entry;
    };
    for change in &limited.recorder.records {
        match change {
            Change::Addition { entry_mode, oid, path, .. } => record(path, *entry_mode, *oid, true),
            Change::Deletion { entry_mode, oid, path, .. } => {
                record(path, *entry_mode, *oid, false);
            }
            Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
                record(path, *previous_entry_mode, *previous_oid, false);
                record(path, *entry_mode, *oid, true);
            }
        }
    }
    // Modes that old programs wrote may differ although they mean the same.
    Ok(pairs.into_values().filter(|pair| pair.old != pair.new).collect())
}

/// Records changes until a limit is reached.
struct LimitedRecorder<'a> {
    recorder: Recorder,
    effort: &'a Effort,
}

impl Visit for LimitedRecorder<'_> {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.recorder.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.recorder.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.recorder.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.recorder.pop_path_component();
    }

    fn visit(&mut self, change: visit::Change) -> visit::Action {
        if !self.effort.may_list(self.recorder.records.len()) || !self.effort.has_time() {
            return ControlFlow::Break(());
        }
        self.recorder.visit(change)
    }
}

/// Joins deletions and additions into renames.
fn with_renames(
    repo: &gix::Repository,
    mut pairs: Vec<Pair>,
    effort: &Effort,
) -> Result<Vec<Pair>, GitError> {
    let is_deleted = |pair: &Pair| pair.new.is_none();
    let is_added = |pair: &Pair| pair.old.is_none();
    let deleted: Vec<usize> = (0..pairs.len()).filter(|&at| is_deleted(&pairs[at])).collect();
    let added: Vec<usize> = (0..pairs.len()).filter(|&at| is_added(&pairs[at])).collect();
    let found = {
        let old: Vec<&Entry> = deleted.iter().filter_map(|&at| pairs[at].old.as_ref()).collect();
        let new: Vec<&Entry> = added.iter().filter_map(|&at| pairs[at].new.as_ref()).collect();
        renames::find(repo, &old, &new, effort)?
    };
    for (target, source) in added.into_iter().zip(found) {
        if let Some(source) = source {
            pairs[target].old = pairs[deleted[source]].old.take();
        }
    }
    pairs.retain(|pair| pair.old.is_some() || pair.new.is_some());
    Ok(pairs)
}
