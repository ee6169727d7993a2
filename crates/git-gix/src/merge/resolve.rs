//! Decides each path of a merge: first the renamed ones, then all.

use std::collections::BTreeMap;

use gix::bstr::BString;
use hexforge_domain::ports::git::GitError;

use super::collect::{Collected, PathInfo, Version};
use super::content::{Contents, Merged};
use super::renames::Rename;
use super::{Labels, OURS, THEIRS};

/// The decided paths. `None` means that nothing is at the path.
pub(super) type Decisions = BTreeMap<BString, Option<Version>>;

/// Decides all paths. Returns `None` at the first conflict, unless conflicts are kept for the base of another merge.
pub(super) fn resolve(
    collected: Collected,
    renames: &[Rename],
    contents: &mut Contents<'_>,
) -> Result<Option<Decisions>, GitError> {
    let Collected { paths, resolved, .. } = collected;
    let mut resolver = Resolver { paths, contents };
    if !resolver.apply_renames(renames)? {
        return Ok(None);
    }
    resolver.decide_all(resolved)
}

struct Resolver<'a, 'c> {
    paths: BTreeMap<BString, PathInfo>,
    contents: &'a mut Contents<'c>,
}

impl Resolver<'_, '_> {
    fn keeps_conflicts(&self) -> bool {
        self.contents.depth > 0
    }

    /// Moves the versions of renamed files to their new paths. Returns `false` for a conflict that ends the merge.
    fn apply_renames(&mut self, renames: &[Rename]) -> Result<bool, GitError> {
        let mut rest = renames;
        while let Some((rename, after)) = rest.split_first() {
            rest = after;
            if self.paths.get(&rename.from).is_none_or(|old| old.is_removed) {
                continue;
            }
            let goes_on = match after.split_first() {
                Some((second, after)) if second.from == rename.from => {
                    rest = after;
                    self.apply_rename_of_both(rename, second)?
                }
                Some(_) | None => self.apply_rename(rename)?,
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Applies the renames of a file that both sides renamed.
    fn apply_rename_of_both(&mut self, ours: &Rename, theirs: &Rename) -> Result<bool, GitError> {
        let Some(base) = self.paths.get(&ours.from).map(|old| old.stages[0]) else {
            return Ok(true);
        };
        if ours.to == theirs.to {
            if let Some(new) = self.paths.get_mut(&ours.to) {
                new.stages[0] = base;
                new.file_mask |= 1;
            }
            self.remove(&ours.from);
            return Ok(true);
        }
        if !self.keeps_conflicts() {
            return Ok(false);
        }
        let stage = |paths: &BTreeMap<BString, PathInfo>, rename: &Rename| {
            paths.get(&rename.to).and_then(|new| new.stages[rename.side])
        };
        let (one, two) = (stage(&self.paths, ours), stage(&self.paths, theirs));
        let names = [ours.from.clone(), ours.to.clone(), theirs.to.clone()];
        if let (Some(one), Some(two)) = (one, two) {
            let merged = self.contents.merge(base, one, two, &names, 1)?;
            let is_binary = !merged.is_clean && merged.version == one;
            self.set_stage(ours, Some(merged.version));
            self.set_stage(theirs, Some(if is_binary { two } else { merged.version }));
        }
        for path in [&ours.from, &ours.to, &theirs.to] {
            if let Some(info) = self.paths.get_mut(path) {
                info.path_conflict = true;
            }
        }
        Ok(true)
    }

    fn set_stage(&mut self, rename: &Rename, version: Option<Version>) {
        if let Some(info) = self.paths.get_mut(&rename.to) {
            info.stages[rename.side] = version;
        }
    }

    /// Applies a rename of one side.
    fn apply_rename(&mut self, rename: &Rename) -> Result<bool, GitError> {
        let Rename { from, to, side } = rename;
        let other = 3 - side;
        let (Some(old), Some(new)) = (self.paths.get(from).cloned(), self.paths.get(to)) else {
            return Ok(true);
        };
        let is_deleted = old.file_mask == 1;
        let is_file = |version: Option<Version>| version.is_some_and(|version| version.is_file());
        let type_changed = !is_deleted && is_file(old.stages[other]) != is_file(new.stages[*side]);
        let collides = new.file_mask & 1 << other != 0 && !type_changed;
        if collides && !is_deleted {
            if !self.merge_into_collision(rename, &old)? && !self.keeps_conflicts() {
                return Ok(false);
            }
        } else if is_deleted && !self.keeps_conflicts() {
            // The other side removed the file.
            return Ok(false);
        } else if let Some(new) = self.paths.get_mut(to) {
            if !collides {
                new.stages[0] = old.stages[0];
                new.file_mask |= 1;
                new.names[0].clone_from(from);
            }
            if is_deleted {
                new.path_conflict = true;
            } else if !type_changed {
                new.stages[other] = old.stages[other];
                new.file_mask |= 1 << other;
                new.names[other].clone_from(from);
            }
        }
        match self.paths.get_mut(from) {
            Some(old) if type_changed => {
                old.stages[0] = None;
                old.file_mask &= 6;
            }
            Some(_) | None => self.remove(from),
        }
        Ok(true)
    }

    /// Merges a renamed file where the other side has another file at the new path. Returns `false` for a conflict.
    fn merge_into_collision(&mut self, rename: &Rename, old: &PathInfo) -> Result<bool, GitError> {
        let Rename { from, to, side } = rename;
        let other = 3 - side;
        let renamed = self.paths.get(to).and_then(|new| new.stages[*side]);
        let (Some(renamed), Some(kept)) = (renamed, old.stages[other]) else {
            return Ok(true);
        };
        let mut names = [from.clone(), from.clone(), from.clone()];
        names[*side].clone_from(to);
        let (one, two) = if *side == OURS { (renamed, kept) } else { (kept, renamed) };
        if !one.is_same_type(&two) {
            return Ok(true);
        }
        let merged = self.contents.merge(old.stages[0], one, two, &names, 1)?;
        self.set_stage(rename, Some(merged.version));
        Ok(merged.is_clean)
    }

    fn remove(&mut self, path: &BString) {
        if let Some(info) = self.paths.get_mut(path) {
            info.is_removed = true;
        }
    }

    /// Decides all paths, folders after the paths below them.
    fn decide_all(mut self, mut decisions: Decisions) -> Result<Option<Decisions>, GitError> {
        let paths = std::mem::take(&mut self.paths);
        // Below a path come longer paths with the same beginning, so the reverse order decides them first.
        for (path, mut info) in paths.iter().rev().map(|(path, info)| (path, info.clone())) {
            if info.is_removed {
                decisions.entry(path.clone()).or_insert(None);
                continue;
            }
            let mut target = path.clone();
            let mut is_moved = false;
            if info.dir_mask != 0 {
                info.match_mask &= !info.dir_mask;
                if has_entries_below(&decisions, path) {
                    if info.file_mask == 1 {
                        continue;
                    }
                    is_moved = true;
                    let side = if info.dir_mask & 2 != 0 { THEIRS } else { OURS };
                    target = unique_path(&paths, &decisions, path, side);
                }
            }
            let Merged { version, is_clean } = self.decide(&info)?;
            if version.is_some() {
                if (!is_clean || is_moved) && !self.keeps_conflicts() {
                    return Ok(None);
                }
                decisions.insert(target, version);
            } else if !is_clean && !self.keeps_conflicts() {
                return Ok(None);
            } else if !is_moved {
                decisions.insert(target, None);
            }
        }
        Ok(Some(decisions))
    }

    /// Decides one path.
    fn decide(&mut self, info: &PathInfo) -> Result<Decided, GitError> {
        let [base, ours, theirs] = info.stages;
        let is_clean = !info.path_conflict;
        let decided = |version: Option<Version>, is_clean: bool| Merged { version, is_clean };
        Ok(match (info.match_mask, info.file_mask) {
            (6, _) => decided(ours, is_clean),
            (3, _) => decided(theirs, is_clean || theirs.is_none()),
            (5, _) => decided(ours, is_clean || ours.is_none()),
            (_, 6 | 7) => match (ours, theirs) {
                (Some(one), Some(two)) if one.is_same_type(&two) => {
                    let merged = self.contents.merge(base, one, two, &info.names, 0)?;
                    decided(Some(merged.version), is_clean && merged.is_clean)
                }
                // Two of file, link and submodule.
                _ => decided(base, false),
            },
            // One side changed the file, and the other removed it.
            (_, 3 | 5) => decided(base, false),
            (_, 2) => decided(ours, is_clean),
            (_, 4) => decided(theirs, is_clean),
            (_, _) => decided(None, is_clean),
        })
    }
}

type Decided = Merged<Option<Version>>;

/// Returns whether anything is left below a path.
fn has_entries_below(decisions: &Decisions, path: &BString) -> bool {
    let mut prefix = path.clone();
    prefix.push(b'/');
    decisions
        .range(prefix.clone()..)
        .take_while(|(path, _)| path.starts_with(&prefix))
        .any(|(_, version)| version.is_some())
}

/// A path for a file that has to make room for a folder, as git names it.
fn unique_path(
    paths: &BTreeMap<BString, PathInfo>,
    decisions: &Decisions,
    path: &BString,
    side: usize,
) -> BString {
    let mut unique = path.clone();
    unique.push(b'~');
    unique.extend_from_slice(Labels::VIRTUAL.of(side).as_bytes());
    let length = unique.len();
    let mut number = 0;
    while paths.contains_key(&unique) || decisions.contains_key(&unique) {
        unique.truncate(length);
        unique.extend_from_slice(format!("_{number}").as_bytes());
        number += 1;
    }
    unique
}
