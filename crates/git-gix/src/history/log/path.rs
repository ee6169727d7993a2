//! Follows the history of one path. Only the trees along the path are read.

use std::collections::HashMap;

use gix::ObjectId;
use gix::object::Kind;
use gix::objs::tree::EntryKind;
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use super::read;
use crate::error::failed;

/// The maximum number of cached look-ups, which take about 100 bytes each.
const MOST_CACHED: usize = 200_000;

/// Compares commits at a path.
pub(in crate::history) struct PathHistory<'r> {
    repo: &'r gix::Repository,
    /// The components of the path.
    names: Vec<Vec<u8>>,
    /// Whether only a folder counts.
    is_folder: bool,
    /// The entries found in trees, by the index of the component.
    cached: HashMap<(usize, ObjectId), Option<Found>>,
    buffer: Vec<u8>,
}

type Found = (EntryKind, ObjectId);

impl<'r> PathHistory<'r> {
    pub(in crate::history) fn new(repo: &'r gix::Repository, path: &[u8]) -> Self {
        let folder = path.strip_suffix(b"/");
        let names = folder.unwrap_or(path).split(|byte| *byte == b'/').map(<[u8]>::to_vec);
        Self {
            repo,
            names: names.collect(),
            is_folder: folder.is_some(),
            cached: HashMap::new(),
            buffer: Vec::new(),
        }
    }

    /// Returns whether a commit changed the path, and which of its parents are followed: only the first that is equal,
    /// or all.
    pub(super) fn simplify(
        &mut self,
        tree: ObjectId,
        parents: Vec<ObjectId>,
    ) -> Result<(bool, Vec<ObjectId>), GitError> {
        let mut is_root = true;
        for &parent in &parents {
            // A missing parent ends the history.
            let Some(header) = read(self.repo, parent)? else { continue };
            is_root = false;
            if self.is_same(tree, header.tree)? {
                return Ok((false, vec![parent]));
            }
        }
        let is_shown = !is_root || self.entry(0, tree)?.is_some();
        Ok((is_shown, parents))
    }

    /// Returns whether two trees are equal at the path.
    fn is_same(&mut self, one: ObjectId, two: ObjectId) -> Result<bool, GitError> {
        let (mut one, mut two) = (one, two);
        for level in 0..self.names.len() {
            if one == two {
                return Ok(true);
            }
            let (first, second) = (self.look_up(level, one)?, self.look_up(level, two)?);
            let is_last = level + 1 == self.names.len();
            match (first, second) {
                (Some((EntryKind::Tree, first)), Some((EntryKind::Tree, second))) => {
                    (one, two) = (first, second);
                }
                _ if is_last => return Ok(self.counted(first) == self.counted(second)),
                (Some((EntryKind::Tree, folder)), _) | (_, Some((EntryKind::Tree, folder))) => {
                    return Ok(self.entry(level + 1, folder)?.is_none());
                }
                _ => return Ok(true),
            }
        }
        Ok(one == two)
    }

    /// What is at the path, from this component on, below a tree.
    pub(in crate::history) fn entry(
        &mut self,
        level: usize,
        tree: ObjectId,
    ) -> Result<Option<Found>, GitError> {
        let mut tree = tree;
        for level in level..self.names.len() {
            let found = self.look_up(level, tree)?;
            if level + 1 == self.names.len() {
                return Ok(self.counted(found));
            }
            match found {
                Some((EntryKind::Tree, id)) => tree = id,
                Some(_) | None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// A path that ends in a slash names folders only.
    fn counted(&self, found: Option<Found>) -> Option<Found> {
        found.filter(|(kind, _)| !self.is_folder || *kind == EntryKind::Tree)
    }

    fn look_up(&mut self, level: usize, tree: ObjectId) -> Result<Option<Found>, GitError> {
        if let Some(found) = self.cached.get(&(level, tree)) {
            return Ok(*found);
        }
        let damaged = || GitError::Corrupt(format!("the tree {tree} cannot be read"));
        let object = self.repo.objects.try_find(&tree, &mut self.buffer).map_err(failed)?;
        let data = object.filter(|object| object.kind == Kind::Tree).ok_or_else(damaged)?.data;
        let mut found = None;
        for entry in TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1) {
            let entry = entry.map_err(|_| damaged())?;
            if entry.filename == self.names[level].as_slice() {
                found = Some((entry.mode.kind(), entry.oid.to_owned()));
                break;
            }
        }
        if self.cached.len() >= MOST_CACHED {
            self.cached.clear();
        }
        self.cached.insert((level, tree), found);
        Ok(found)
    }
}
