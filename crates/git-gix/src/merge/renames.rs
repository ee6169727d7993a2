//! Finds renamed files and folders of both sides.

use std::collections::{BTreeMap, HashMap, HashSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use hexforge_domain::ports::git::GitError;

use super::collect::{Collected, FolderRelevance, SideChanges};
use super::{OURS, THEIRS};
use crate::history::compare::Effort;
use crate::history::compare::content::Entry;
use crate::history::compare::renames::{MergeRenames, find_for_merge};

/// A renamed file.
#[derive(Clone, Debug)]
pub(super) struct Rename {
    pub(super) from: BString,
    pub(super) to: BString,
    pub(super) side: usize,
}

/// The renames of both sides.
pub(super) struct Renames {
    /// Sorted by the old path, ours first.
    pub(super) files: Vec<Rename>,
    /// Whether a renamed folder would move files that the other side added to it. With git's default options that is
    /// a conflict.
    pub(super) folder_conflict: bool,
}

/// Finds the renames that matter for the merge.
pub(super) fn find(
    repo: &gix::Repository,
    collected: &Collected,
    effort: &Effort,
) -> Result<Renames, GitError> {
    let ours = find_on_side(repo, &collected.sides[OURS], OURS, effort)?;
    let theirs = find_on_side(repo, &collected.sides[THEIRS], THEIRS, effort)?;
    let folder_conflict = has_folder_conflict(collected, &ours, &theirs);
    let mut files: Vec<Rename> = ours.into_iter().chain(theirs).collect();
    files.sort_by(|one, two| one.from.cmp(&two.from));
    Ok(Renames { files, folder_conflict })
}

fn find_on_side(
    repo: &gix::Repository,
    side: &SideChanges,
    number: usize,
    effort: &Effort,
) -> Result<Vec<Rename>, GitError> {
    if !side.has_relevant() || side.added.is_empty() {
        return Ok(Vec::new());
    }
    let empty = ObjectId::empty_blob(gix::hash::Kind::Sha1);
    let mut relevant = Vec::new();
    let mut deleted = Vec::new();
    // Empty files are never renamed in merges.
    for (path, version, relevance) in side.deleted.iter().filter(|deleted| deleted.1.id != empty) {
        relevant.push(relevance.is_some());
        deleted.push(Entry { path: path.clone(), kind: version.kind, id: version.id });
    }
    let added = side.added.iter().filter(|added| added.1.id != empty);
    let added: Vec<Entry> = added
        .map(|(path, version)| Entry { path: path.clone(), kind: version.kind, id: version.id })
        .collect();
    let (old, new): (Vec<&Entry>, Vec<&Entry>) = (deleted.iter().collect(), added.iter().collect());
    let guess_folders = |found: &[Option<usize>]| {
        let pairs = pairs(found).map(|(from, to)| (&deleted[from].path, &added[to].path));
        let counts = count_folders(&side.removed_folders, pairs);
        let best = counts.into_iter().filter_map(|(folder, counts)| {
            let best = counts.into_iter().max_by_key(|(_, count)| *count)?;
            Some((folder, best.0))
        });
        best.collect()
    };
    let needs = MergeRenames { relevant: &relevant, guess_folders: &guess_folders };
    let found = find_for_merge(repo, &old, &new, &needs, effort)?;
    let rename = |(from, to): (usize, usize)| Rename {
        from: deleted[from].path.clone(),
        to: added[to].path.clone(),
        side: number,
    };
    Ok(pairs(&found).map(rename).collect())
}

/// The indices of the deleted and the added entry of each rename.
fn pairs(found: &[Option<usize>]) -> impl Iterator<Item = (usize, usize)> {
    found.iter().enumerate().filter_map(|(to, from)| from.map(|from| (from, to)))
}

type FolderCounts = BTreeMap<BString, BTreeMap<BString, usize>>;

/// Counts for each removed folder how many files moved to which folder. A rename counts for the parents of its folder
/// too, as long as the ends of the paths are equal.
fn count_folders<'p>(
    removed: &HashMap<BString, FolderRelevance>,
    renames: impl Iterator<Item = (&'p BString, &'p BString)>,
) -> FolderCounts {
    let mut counts = FolderCounts::new();
    for (from, to) in renames {
        let (mut old, mut new) = (from.as_bstr(), to.as_bstr());
        let mut is_first = true;
        loop {
            let (old_parent, old_name) = split(old);
            let Some(relevance) = removed.get(old_parent) else { break };
            let (new_parent, new_name) = split(new);
            if !is_first && old_name != new_name {
                break;
            }
            if is_first || *relevance == FolderRelevance::ForItself {
                let counts = counts.entry(old_parent.to_owned()).or_default();
                *counts.entry(new_parent.to_owned()).or_default() += 1;
            }
            is_first = false;
            let is_top = old_parent.is_empty() || new_parent.is_empty();
            if *relevance == FolderRelevance::Irrelevant || is_top {
                break;
            }
            (old, new) = (old_parent, new_parent);
        }
    }
    counts
}

/// Splits a path into its folder and its last component.
fn split(path: &BStr) -> (&BStr, &BStr) {
    match path.rfind_byte(b'/') {
        Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
        None => (BStr::new(b""), path),
    }
}

/// Returns whether a renamed folder of one side would move a file that the other side added or renamed, or whether it
/// is unclear where a folder went.
fn has_folder_conflict(collected: &Collected, ours: &[Rename], theirs: &[Rename]) -> bool {
    let renames = [&[], ours, theirs];
    let mut folders: [HashMap<BString, BString>; 3] = Default::default();
    for side in [OURS, THEIRS] {
        let removed = &collected.sides[side].removed_folders;
        let files = renames[side].iter().map(|rename| (&rename.from, &rename.to));
        for (folder, counts) in count_folders(removed, files) {
            if removed.get(&folder).is_none_or(|one| *one == FolderRelevance::Irrelevant) {
                continue;
            }
            let Some(most) = counts.values().max().copied() else { continue };
            let mut best = counts.into_iter().filter(|(_, count)| *count == most);
            match (best.next(), best.next()) {
                (Some((target, _)), None) => folders[side].insert(folder, target),
                (Some(_), Some(_)) => return true,
                (None, _) => continue,
            };
        }
    }
    let both: Vec<BString> =
        folders[OURS].keys().filter(|one| folders[THEIRS].contains_key(*one)).cloned().collect();
    for folder in both {
        folders[OURS].remove(&folder);
        folders[THEIRS].remove(&folder);
    }
    let targets = [Vec::new(), new_paths(collected, OURS), new_paths(collected, THEIRS)];
    // Where files of a side would be moved by the folders that the other side renamed.
    let moved = |side: usize| -> HashSet<BString> {
        let folders = &folders[3 - side];
        targets[side]
            .iter()
            .filter_map(|path| moved_path(path, folders).map(|(_, path)| path))
            .collect()
    };
    let moved = [HashSet::new(), moved(OURS), moved(THEIRS)];
    [OURS, THEIRS].into_iter().any(|side| {
        let other = 3 - side;
        targets[side].iter().any(|path| {
            !moved[other].contains(*path)
                && moved_path(path, &folders[other])
                    .is_some_and(|(target, _)| !folders[side].contains_key(target))
        })
    })
}

/// The paths that a side added, by renames or as new files.
fn new_paths(collected: &Collected, side: usize) -> Vec<&BString> {
    collected.sides[side].added.iter().map(|(path, _)| path).collect()
}

/// The new folder and the new path of a file whose folder was renamed.
fn moved_path<'f>(
    path: &BString,
    folders: &'f HashMap<BString, BString>,
) -> Option<(&'f BString, BString)> {
    let mut folder = path.as_bstr();
    while !folder.is_empty() {
        folder = split(folder).0;
        // A file at the top is in no folder that can be renamed.
        if folder.is_empty() {
            return None;
        }
        if let Some(target) = folders.get(folder) {
            let rest = &path[folder.len()..];
            let mut moved = target.clone();
            moved.extend_from_slice(if target.is_empty() { &rest[1..] } else { rest });
            return Some((target, moved));
        }
    }
    None
}
