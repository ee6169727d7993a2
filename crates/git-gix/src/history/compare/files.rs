//! Lists the changed files of two commits, with their diffs.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::diff::tree::{Visit, visit};
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind, EntryMode};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::push::{ChangedPaths, EVENT_PATHS};
use hexforge_domain::repository::{ChangedLine, CommitStats, FileDiff, LineSide, ShownDiffs};

use super::content::{self, Content, Entry};
use super::effort::Effort;
use super::unified::DiffText;
use super::{renames, unified};
use crate::error::failed;
use crate::history::contributors::lines;
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
    let mut diffs = Vec::new();
    each_file_diff(repo, base, to, effort, |diff| {
        diffs.push(diff);
        true
    })?;
    Ok(diffs)
}

/// Calls `each` with the diffs between two commits, sorted by path, until it returns `false`.
fn each_file_diff(
    repo: &gix::Repository,
    base: Option<ObjectId>,
    to: ObjectId,
    effort: &Effort,
    mut each: impl FnMut(FileDiff) -> bool,
) -> Result<(), GitError> {
    for pair in changed_pairs(repo, base, to, effort)? {
        if !each(file_diff(repo, pair.old.as_ref(), pair.new.as_ref(), effort)?) {
            break;
        }
    }
    Ok(())
}

/// Returns the changed entries of two commits with renames, sorted by path. As in git, a change of type (file, link,
/// submodule) is a deletion and an addition.
fn changed_pairs(
    repo: &gix::Repository,
    base: Option<ObjectId>,
    to: ObjectId,
    effort: &Effort,
) -> Result<Vec<Pair>, GitError> {
    let found = with_renames(repo, changed_entries(repo, base, to, effort)?, effort)?;
    let mut pairs = Vec::with_capacity(found.len());
    for Pair { old, new } in found {
        match (&old, &new) {
            (Some(before), Some(after)) if !before.is_same_type(after) => {
                pairs.extend([Pair { old, new: None }, Pair { old: None, new }]);
            }
            _ => pairs.push(Pair { old, new }),
        }
    }
    Ok(pairs)
}

/// Returns the diff of a commit against its first parent, as far as it is shown.
pub(crate) fn commit_diff(
    repo: &gix::Repository,
    commit: ObjectId,
    effort: &Effort,
) -> Result<Vec<FileDiff>, GitError> {
    let parent = first_parent(repo, commit)?;
    let mut shown = ShownDiffs::default();
    each_file_diff(repo, parent, commit, effort, |diff| shown.push(diff))?;
    Ok(shown.into_diffs())
}

/// Finds a changed line of a commit by the new path of its file, its side, and its number in the new file.
pub(crate) fn changed_line(
    repo: &gix::Repository,
    commit: ObjectId,
    path: &str,
    (side, number): (LineSide, u32),
    effort: &Effort,
) -> Result<Option<ChangedLine>, GitError> {
    for Pair { old, new } in changed_pairs(repo, first_parent(repo, commit)?, commit, effort)? {
        let entry = new.as_ref().or(old.as_ref());
        if entry.is_none_or(|entry| text::path(&entry.path) != path) {
            continue;
        }
        if let Some((old_number, new_number)) =
            unified::find_line(repo, (old.as_ref(), new.as_ref()), side, number)?
        {
            let diff = file_diff(repo, old.as_ref(), new.as_ref(), effort)?;
            return Ok(Some(ChangedLine { old: old_number, new: new_number, diff }));
        }
    }
    Ok(None)
}

/// Counts the lines that a commit changed against its first parent, until a limit is reached.
pub(crate) fn commit_stats(
    repo: &gix::Repository,
    commit: ObjectId,
    effort: &Effort,
) -> Result<CommitStats, GitError> {
    let mut stats = CommitStats::default();
    for Pair { old, new } in changed_pairs(repo, first_parent(repo, commit)?, commit, effort)? {
        if !effort.has_time() {
            break;
        }
        if old.as_ref().map(|entry| entry.id) == new.as_ref().map(|entry| entry.id) {
            continue;
        }
        let read = |entry: Option<Entry>| match entry {
            Some(entry) => content::read(repo, &entry),
            None => Ok(Content::Text(Vec::new())),
        };
        if let (Content::Text(before), Content::Text(after)) = (read(old)?, read(new)?) {
            let lines = lines::compare(&before, &after);
            stats.additions += lines.added;
            stats.deletions += lines.removed;
        }
    }
    stats.complete = !effort.is_spent();
    Ok(stats)
}

fn first_parent(repo: &gix::Repository, commit: ObjectId) -> Result<Option<ObjectId>, GitError> {
    let commit = repo.find_commit(commit).map_err(failed)?;
    Ok(commit.parent_ids().next().map(gix::Id::detach))
}

/// Returns the paths that a commit added, modified and removed compared with its first parent, at most [`EVENT_PATHS`]
/// of each.
pub(crate) fn changed_paths(
    repo: &gix::Repository,
    commit: ObjectId,
    effort: &Effort,
) -> Result<ChangedPaths, GitError> {
    let pairs = changed_entries(repo, first_parent(repo, commit)?, commit, effort)?;
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
    let text = match effort.has_time() {
        true => unified::text(repo, old, new)?,
        false => DiffText::TooLarge,
    };
    let text = match text {
        DiffText::Text(text) if effort.may_show(text.len()) => Some(text),
        DiffText::Text(_) | DiffText::TooLarge => None,
    };
    let path = |entry: Option<&Entry>| entry.map(|entry| text::path(&entry.path));
    Ok(FileDiff {
        old_path: path(old.or(new)).unwrap_or_default(),
        new_path: path(new.or(old)).unwrap_or_default(),
        old_mode: old.map(Entry::mode),
        new_mode: new.map(Entry::mode),
        renamed: matches!((old, new), (Some(old), Some(new)) if old.path != new.path),
        too_large: text.is_none(),
        text: text::decode(&text.unwrap_or_default()),
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
    let mut recorder = Recorder::new(effort);
    let ended = gix::diff::tree(
        TreeRefIter::from_bytes(&old, repo.object_hash()),
        TreeRefIter::from_bytes(&new, repo.object_hash()),
        gix::diff::tree::State::default(),
        &repo.objects,
        &mut recorder,
    );
    match ended {
        // The changes recorded before a limit was reached are kept.
        Ok(()) | Err(gix::diff::tree::Error::Cancelled) => (),
        Err(error) => return Err(failed(gix::Error::from_error(error))),
    }
    // Modes that old programs wrote may differ although they mean the same.
    Ok(recorder.pairs.into_values().filter(|pair| pair.old != pair.new).collect())
}

/// Records the changes of files, links and submodules with their paths, until a limit is reached. Folders are skipped: a
/// folder changes only when its entries do.
struct Recorder<'a> {
    effort: &'a Effort,
    pairs: BTreeMap<BString, Pair>,
    /// The path of the current entry.
    path: BString,
    /// The paths of the folders that are to be walked.
    waiting: VecDeque<BString>,
    is_full: bool,
}

impl<'a> Recorder<'a> {
    fn new(effort: &'a Effort) -> Self {
        let (pairs, path, waiting) = (BTreeMap::new(), BString::default(), VecDeque::new());
        Self { effort, pairs, path, waiting, is_full: false }
    }

    fn record(&mut self, mode: EntryMode, id: ObjectId, is_new: bool) {
        if mode.kind() == EntryKind::Tree || self.is_full {
            return;
        }
        self.is_full =
            !self.effort.may_list(self.pairs.len()) || !self.effort.may_keep_path(self.path.len());
        if self.is_full {
            return;
        }
        let entry = Some(Entry { path: self.path.clone(), kind: mode.kind(), id });
        let pair = self.pairs.entry(self.path.clone()).or_insert(Pair { old: None, new: None });
        *if is_new { &mut pair.new } else { &mut pair.old } = entry;
    }
}

impl Visit for Recorder<'_> {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.path = self.waiting.pop_front().unwrap_or_default();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.push_path_component(component);
        // A walk that is full ends before it needs the path.
        self.is_full |= !self.effort.may_keep_path(self.path.len());
        if !self.is_full {
            self.waiting.push_back(self.path.clone());
        }
    }

    fn push_path_component(&mut self, component: &BStr) {
        if component.is_empty() {
            return;
        }
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(component);
    }

    fn pop_path_component(&mut self) {
        let parent = self.path.rfind_byte(b'/').unwrap_or_default();
        self.path.truncate(parent);
    }

    fn visit(&mut self, change: visit::Change) -> visit::Action {
        if self.is_full || !self.effort.has_time() {
            return ControlFlow::Break(());
        }
        match change {
            visit::Change::Addition { entry_mode, oid, .. } => self.record(entry_mode, oid, true),
            visit::Change::Deletion { entry_mode, oid, .. } => self.record(entry_mode, oid, false),
            visit::Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid } => {
                self.record(previous_entry_mode, previous_oid, false);
                self.record(entry_mode, oid, true);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns the file of a parent that a commit renamed to this path, as git finds it if it follows a single path. A path
/// that the parent has was not renamed.
pub(crate) fn rename_source(
    repo: &gix::Repository,
    parent: ObjectId,
    commit: ObjectId,
    path: &BStr,
    effort: &Effort,
) -> Result<Option<Entry>, GitError> {
    let pairs = changed_entries(repo, Some(parent), commit, effort)?;
    let is_target = |pair: &&Pair| pair.old.is_none();
    let added = pairs.iter().filter(is_target).filter_map(|pair| pair.new.as_ref());
    let Some(target) = added.into_iter().find(|entry| entry.path == path) else { return Ok(None) };
    let deleted: Vec<&Entry> = pairs
        .iter()
        .filter(|pair| pair.new.is_none())
        .filter_map(|pair| pair.old.as_ref())
        .collect();
    let found = renames::find(repo, &deleted, &[target], effort)?;
    Ok(found.first().copied().flatten().map(|at| deleted[at].clone()))
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
