//! What a commit brings beside the ones it comes from.

use std::iter::Peekable;

use gix::ObjectId;
use gix::objs::tree::EntryRef;
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use super::objects::Collector;
use crate::error::failed;

impl Collector<'_, '_> {
    /// Adds what is in a folder, and in none of those that were in its place before: the client has or gets
    /// these. Where one takes the place of another is noted.
    pub(super) fn changed(
        &mut self,
        folder: ObjectId,
        before: Vec<ObjectId>,
    ) -> Result<(), GitError> {
        let mut open = vec![(folder, before)];
        while let Some((tree, before)) = open.pop() {
            let Some(&first) = before.first() else {
                self.tree(tree, false)?;
                continue;
            };
            if before.contains(&tree) || self.has(tree) || !self.add(tree) {
                continue;
            }
            self.replaces(tree, first);
            self.tick()?;
            let now = self.read_tree(tree)?;
            let before =
                before.iter().map(|&tree| self.read_tree(tree)).collect::<Result<Vec<_>, _>>()?;
            differences(&now, &before, |entry, before| {
                let id = entry.oid.to_owned();
                if entry.mode.is_tree() {
                    open.push((id, before));
                } else if !entry.mode.is_commit() {
                    if let Some(&first) = before.first() {
                        self.replaces(id, first);
                    }
                    self.blob(id)?;
                }
                Ok(())
            })
            .map_err(|error| error.of(tree))?;
        }
        Ok(())
    }

    fn read_tree(&self, tree: ObjectId) -> Result<Vec<u8>, GitError> {
        let mut buffer = Vec::new();
        let found = self.repo.objects.try_find(&tree, &mut buffer).map_err(failed)?;
        let is_tree = found.is_some_and(|object| object.kind == gix::object::Kind::Tree);
        if is_tree { Ok(buffer) } else { Err(GitError::Corrupt(format!("no tree {tree}"))) }
    }
}

/// Why folders could not be compared.
enum Stopped {
    NoTree,
    Failed(GitError),
}

impl Stopped {
    fn of(self, tree: ObjectId) -> GitError {
        match self {
            Stopped::NoTree => GitError::Corrupt(format!("the tree {tree}, or one before it")),
            Stopped::Failed(error) => error,
        }
    }
}

impl From<GitError> for Stopped {
    fn from(error: GitError) -> Self {
        Stopped::Failed(error)
    }
}

/// Finds what is not in any of the folders from before as it is in this one, and what stood in its place there.
fn differences(
    now: &[u8],
    before: &[Vec<u8>],
    mut each: impl FnMut(EntryRef<'_>, Vec<ObjectId>) -> Result<(), GitError>,
) -> Result<(), Stopped> {
    let entries = |data| TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1);
    let mut before: Vec<_> = before.iter().map(|data| entries(data).peekable()).collect();
    for entry in entries(now) {
        let entry = entry.map_err(|_| Stopped::NoTree)?;
        let mut olds = Vec::new();
        for before in &mut before {
            olds.extend(counterpart(before, &entry)?);
        }
        if !olds.iter().any(|old| *old == entry.oid) {
            each(entry, olds)?;
        }
    }
    Ok(())
}

/// What has the same name and is of the same kind. Both sides are in the same order.
fn counterpart<'a, E>(
    before: &mut Peekable<impl Iterator<Item = Result<EntryRef<'a>, E>>>,
    entry: &EntryRef<'_>,
) -> Result<Option<ObjectId>, Stopped> {
    loop {
        match before.peek() {
            None => return Ok(None),
            Some(Err(_)) => return Err(Stopped::NoTree),
            Some(Ok(old)) => match old.cmp(entry) {
                std::cmp::Ordering::Less => {
                    before.next();
                }
                std::cmp::Ordering::Equal => {
                    let is_file = |entry: &EntryRef<'_>| !entry.mode.is_commit();
                    let same = is_file(old) == is_file(entry);
                    return Ok(same.then(|| old.oid.to_owned()));
                }
                std::cmp::Ordering::Greater => return Ok(None),
            },
        }
    }
}
