//! Walks three trees and collects the paths in which they differ. Equal subtrees are not read.
//!
//! The masks are git's: bit 0 is the base, bit 1 our side, bit 2 their side.

use std::collections::{BTreeMap, HashMap};

use gix::ObjectId;
use gix::bstr::BString;
use gix::object::Kind;
use gix::objs::tree::{EntryKind, EntryMode};
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use super::{OURS, THEIRS};
use crate::error::failed;
use crate::history::compare::Effort;

/// All three versions have this bit set.
const ALL: u8 = 7;

/// A version of a file, link, submodule or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) kind: EntryKind,
    pub(super) id: ObjectId,
}

impl Version {
    /// Returns whether both are files, both links, or both submodules.
    pub(super) fn is_same_type(&self, other: &Version) -> bool {
        self.kind == other.kind || self.is_file() && other.is_file()
    }

    /// Returns whether this is a file, executable or not.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.kind, EntryKind::Blob | EntryKind::BlobExecutable)
    }
}

/// A path whose versions differ.
#[derive(Clone, Debug)]
pub(super) struct PathInfo {
    /// The files, links and submodules of base, ours and theirs.
    pub(super) stages: [Option<Version>; 3],
    /// The original paths of the stages, which renames change.
    pub(super) names: [BString; 3],
    pub(super) file_mask: u8,
    pub(super) dir_mask: u8,
    /// Which of the versions are equal: 3, 5, 6, or 0 for none.
    pub(super) match_mask: u8,
    pub(super) path_conflict: bool,
    /// The path was merged away by a rename.
    pub(super) is_removed: bool,
}

/// Why a rename of a deleted file matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relevance {
    /// The other side changed the content.
    Content,
    /// The other side added files to the folder.
    Location,
}

/// Why a removed folder matters for the detection of renamed folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FolderRelevance {
    Irrelevant,
    ForAncestor,
    ForItself,
}

/// The additions and deletions of one side.
#[derive(Default)]
pub(super) struct SideChanges {
    pub(super) deleted: Vec<(BString, Version, Option<Relevance>)>,
    pub(super) added: Vec<(BString, Version)>,
    /// The folders of the base that the side does not have.
    pub(super) removed_folders: HashMap<BString, FolderRelevance>,
    /// The folders that only this side changed.
    deferred: Vec<Folder>,
}

impl SideChanges {
    pub(super) fn has_relevant(&self) -> bool {
        self.deleted.iter().any(|(_, _, relevance)| relevance.is_some())
    }
}

/// A folder that is to be walked.
struct Folder {
    path: BString,
    trees: [Option<ObjectId>; 3],
    /// git's `dir_rename_mask`: the side that kept a folder that the other removed, or [`ALL`] if it also added files
    /// to it.
    folder_mask: u8,
}

/// The differences between three trees.
pub(super) struct Collected {
    /// The paths that need a decision.
    pub(super) paths: BTreeMap<BString, PathInfo>,
    /// The paths that are decided.
    pub(super) resolved: BTreeMap<BString, Option<Version>>,
    /// The changes of base, ours and theirs; those of the base are empty.
    pub(super) sides: [SideChanges; 3],
}

/// Collects the differences between the trees of base, ours and theirs.
/// # Errors
/// [`GitError::TooLarge`] when a limit is reached.
pub(super) fn collect(
    repo: &gix::Repository,
    trees: [Option<ObjectId>; 3],
    effort: &Effort,
) -> Result<Collected, GitError> {
    let collected =
        Collected { paths: BTreeMap::new(), resolved: BTreeMap::new(), sides: Default::default() };
    let mut walk = Walk { repo, effort, collected, may_defer: [true; 3], waiting: Vec::new() };
    walk.walk(Folder { path: BString::default(), trees, folder_mask: 0 })?;
    walk.sort_from([(0, 0); 3]);
    for side in [OURS, THEIRS] {
        let deferred = std::mem::take(&mut walk.collected.sides[side].deferred);
        if !walk.collected.sides[side].has_relevant() {
            // No rename can end in these folders, so they are taken as a whole.
            for Folder { path, trees, .. } in deferred {
                let version = trees[side].map(|id| Version { kind: EntryKind::Tree, id });
                walk.collected.resolved.insert(path, version);
            }
            continue;
        }
        walk.may_defer[side] = false;
        for folder in in_visiting_order(deferred) {
            let before = walk.counts();
            walk.walk(folder)?;
            walk.sort_from(before);
        }
    }
    Ok(walk.collected)
}

/// The initial number of chains of a hash table of git.
const CHAINS: usize = 64;

/// Sorts folders as git visits those that only one side changed. The order decides to which of several equal files a
/// file was renamed. git keeps the folders in a hash table: the newest of a chain comes first, and the table gets four
/// times as many chains when there are more folders than 80 % of them.
fn in_visiting_order(mut folders: Vec<Folder>) -> Vec<Folder> {
    let with_slash = |folder: &Folder| [folder.path.as_slice(), b"/"].concat();
    folders.sort_by_cached_key(with_slash);
    let empty = |chains: usize| -> Vec<Vec<Folder>> { (0..chains).map(|_| Vec::new()).collect() };
    // The last folder of a chain is the newest.
    let mut table = empty(CHAINS);
    for (at, folder) in folders.into_iter().enumerate() {
        put(&mut table, folder);
        if at + 1 > table.len() * 80 / 100 {
            let mut larger = empty(table.len() * 4);
            for folder in table.into_iter().flat_map(|chain| chain.into_iter().rev()) {
                put(&mut larger, folder);
            }
            table = larger;
        }
    }
    table.into_iter().flat_map(|chain| chain.into_iter().rev()).collect()
}

fn put(table: &mut [Vec<Folder>], folder: Folder) {
    let hash = folder
        .path
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte));
    let chains = table.len();
    if let Some(chain) = table.get_mut(hash as usize % chains) {
        chain.push(folder);
    }
}

struct Walk<'a> {
    repo: &'a gix::Repository,
    effort: &'a Effort,
    collected: Collected,
    may_defer: [bool; 3],
    /// The folders below those that were walked. Folders may be nested deeper than a stack allows.
    waiting: Vec<Folder>,
}

type Stored = Option<(EntryMode, ObjectId)>;

impl Walk<'_> {
    /// Walks a folder and all folders below it.
    fn walk(&mut self, folder: Folder) -> Result<(), GitError> {
        self.waiting.push(folder);
        while let Some(folder) = self.waiting.pop() {
            self.folder(folder)?;
        }
        Ok(())
    }

    /// The numbers of deletions and additions of each side.
    fn counts(&self) -> [(usize, usize); 3] {
        self.collected.sides.each_ref().map(|side| (side.deleted.len(), side.added.len()))
    }

    /// Sorts the deletions and additions of each side from these numbers on by path, as git collects them.
    fn sort_from(&mut self, counts: [(usize, usize); 3]) {
        for (side, (deleted, added)) in self.collected.sides.iter_mut().zip(counts) {
            let deleted = side.deleted.get_mut(deleted..).unwrap_or_default();
            deleted.sort_by(|one, two| one.0.cmp(&two.0));
            let added = side.added.get_mut(added..).unwrap_or_default();
            added.sort_by(|one, two| one.0.cmp(&two.0));
        }
    }

    fn folder(&mut self, folder: Folder) -> Result<(), GitError> {
        let Folder { path, trees, mut folder_mask } = folder;
        let mut names: BTreeMap<BString, [Stored; 3]> = BTreeMap::new();
        for (side, tree) in trees.iter().enumerate() {
            let Some(tree) = tree else { continue };
            // An equal tree is read once.
            let first = trees.iter().position(|other| other.as_ref() == Some(tree));
            if first.is_some_and(|first| first < side) {
                let first = first.unwrap_or_default();
                names.values_mut().for_each(|stored| stored[side] = stored[first]);
                continue;
            }
            self.read(*tree, |name, mode, id| {
                names.entry(name).or_default()[side] = Some((mode, id));
            })?;
        }
        if folder_mask == 2 || folder_mask == 4 {
            let is_added = |stored: &[Stored; 3]| masks(stored).0 == folder_mask;
            if names.values().any(is_added) {
                folder_mask = ALL;
            }
        }
        for (name, stored) in names {
            let mut full = path.clone();
            if !full.is_empty() {
                full.push(b'/');
            }
            full.extend_from_slice(&name);
            self.entry(&path, full, stored, folder_mask)?;
        }
        Ok(())
    }

    fn read(
        &self,
        tree: ObjectId,
        mut each: impl FnMut(BString, EntryMode, ObjectId),
    ) -> Result<(), GitError> {
        let mut buffer = Vec::new();
        let found = self.repo.objects.try_find(&tree, &mut buffer).map_err(failed)?;
        let data = found
            .filter(|object| object.kind == Kind::Tree)
            .ok_or_else(|| GitError::Corrupt(format!("the tree {tree} is missing")))?
            .data;
        for entry in TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1) {
            let entry =
                entry.map_err(|_| GitError::Corrupt(format!("the tree {tree} is malformed")))?;
            each(entry.filename.to_owned(), entry.mode, entry.oid.to_owned());
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &BString,
        path: BString,
        stored: [Stored; 3],
        folder_mask: u8,
    ) -> Result<(), GitError> {
        let versions =
            stored.map(|stored| stored.map(|(mode, id)| Version { kind: mode.kind(), id }));
        let (file_mask, dir_mask) = masks(&stored);
        let is_same =
            |one: usize, two: usize| versions[one].is_some() && versions[one] == versions[two];
        let match_mask = match (is_same(0, 1), is_same(0, 2), is_same(1, 2)) {
            (true, true, _) => return Ok(()),
            (true, false, _) => 3,
            (false, true, _) => 5,
            (false, false, true) => 6,
            (false, false, false) => 0,
        };
        if !self.effort.may_list(self.collected.paths.len() + self.collected.resolved.len())
            || !self.effort.may_keep_path(path.len())
            || !self.effort.has_time()
        {
            return Err(GitError::TooLarge);
        }
        if file_mask == ALL && match_mask != 0 {
            let side = if match_mask == 3 { THEIRS } else { OURS };
            self.collected.resolved.insert(path, versions[side]);
            return Ok(());
        }
        let folder_mask = self.note_renames(
            folder,
            &path,
            &versions,
            (file_mask, dir_mask),
            match_mask,
            folder_mask,
        );
        if dir_mask != 0 {
            let id_of = |side: usize| match versions[side] {
                Some(Version { kind: EntryKind::Tree, id }) => Some(id),
                Some(_) | None => None,
            };
            let trees = [id_of(0), id_of(OURS), id_of(THEIRS)];
            let only_side = match (match_mask, file_mask, dir_mask) {
                (_, 0, 2) => Some(OURS),
                (_, 0, 4) => Some(THEIRS),
                (3, 0, _) => Some(THEIRS),
                (5, 0, _) => Some(OURS),
                _ => None,
            };
            let below = Folder { path: path.clone(), trees, folder_mask };
            match only_side {
                Some(side) if folder_mask != ALL && self.may_defer[side] => {
                    self.collected.sides[side].deferred.push(below);
                    return Ok(());
                }
                Some(_) | None => self.waiting.push(below),
            }
        }
        if file_mask != 0 {
            let files =
                versions.map(|version| version.filter(|version| version.kind != EntryKind::Tree));
            let info = PathInfo {
                stages: files,
                names: [path.clone(), path.clone(), path.clone()],
                file_mask,
                dir_mask,
                match_mask: match_mask & file_mask,
                path_conflict: false,
                is_removed: false,
            };
            self.collected.paths.insert(path, info);
        }
        Ok(())
    }

    /// Notes what rename detection needs to know of a path. Returns the folder mask for the folder at the path.
    fn note_renames(
        &mut self,
        folder: &BString,
        path: &BString,
        versions: &[Option<Version>; 3],
        (file_mask, dir_mask): (u8, u8),
        match_mask: u8,
        mut folder_mask: u8,
    ) -> u8 {
        let sides = &mut self.collected.sides;
        if folder_mask != ALL && (dir_mask == 3 || dir_mask == 5) {
            folder_mask = dir_mask & !1;
        }
        if matches!(dir_mask, 1 | 3 | 5) {
            let relevance = match folder_mask {
                ALL => FolderRelevance::ForAncestor,
                _ => FolderRelevance::Irrelevant,
            };
            for side in [OURS, THEIRS] {
                if dir_mask & 1 << side == 0 {
                    sides[side].removed_folders.insert(path.clone(), relevance);
                }
            }
        }
        if folder_mask == ALL && (file_mask == 2 || file_mask == 4) {
            let other = if file_mask == 2 { THEIRS } else { OURS };
            sides[other].removed_folders.insert(folder.clone(), FolderRelevance::ForItself);
        }
        if file_mask == 0 || file_mask == ALL {
            return folder_mask;
        }
        for side in [OURS, THEIRS] {
            let has_file = file_mask & 1 << side != 0;
            if let (1, false, Some(version)) = (file_mask & 1, has_file, versions[0]) {
                let relevance = if match_mask & file_mask == 0 {
                    Some(Relevance::Content)
                } else {
                    (folder_mask == ALL).then_some(Relevance::Location)
                };
                sides[side].deleted.push((path.clone(), version, relevance));
            }
            if let (0, true, Some(version)) = (file_mask & 1, has_file, versions[side]) {
                sides[side].added.push((path.clone(), version));
            }
        }
        folder_mask
    }
}

/// Which versions are files, and which are folders.
fn masks(stored: &[Stored; 3]) -> (u8, u8) {
    let (mut files, mut folders) = (0, 0);
    for (side, stored) in stored.iter().enumerate() {
        match stored {
            Some((mode, _)) if mode.is_tree() => folders |= 1 << side,
            Some(_) => files |= 1 << side,
            None => (),
        }
    }
    (files, folders)
}
