//! Finds all objects reachable from some commits with the help of the bitmap beside a pack.

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::bitmap::{Bitmap, Bits};
use super::filter::Filter;
use super::objects::Roots;
use super::refs::Listing;
use crate::content::tree::entries::{self, Entry};
use crate::error::failed;

/// The objects to send to a client that has none.
pub(super) enum Closure {
    /// Exactly the objects of one pack.
    Pack(u32),
    Objects(Vec<ObjectId>),
}

/// Finds all reachable objects by bitmaps. Returns `None` if no bitmap helps or the request cannot
/// use one: bitmaps only know complete histories.
pub(super) fn find(
    source: &Source,
    repo: &gix::Repository,
    roots: &Roots,
    filter: Filter,
    tags: Option<&Listing>,
) -> Result<Option<Closure>, GitError> {
    let without_files = match filter {
        Filter::All => false,
        Filter::BlobsBelow(0) => true,
        Filter::BlobsBelow(_) | Filter::Depth(_) => return Ok(None),
    };
    if !roots.trees.is_empty() || !roots.blobs.is_empty() {
        return Ok(None);
    }
    let Some(bitmap) = Bitmap::find(&source.packs) else { return Ok(None) };
    let mut found =
        FoundObjects { packed: bitmap.no_bits(), others: Vec::new(), seen: HashSet::default() };
    let uncovered = found.add_commits(repo, &bitmap, &roots.commits)?;
    for commit in uncovered {
        found.add_tree(repo, &bitmap, entries::tree_of(repo, commit)?, without_files)?;
    }
    if without_files {
        found.packed.remove(&bitmap.blobs);
    }
    for &tag in &roots.tags {
        found.insert(&bitmap, tag);
    }
    for one in tags.into_iter().flat_map(Listing::refs) {
        let Some(peeled) = one.peeled else { continue };
        if found.contains(&bitmap, peeled) {
            for tag in Roots::of(repo, &[one.target])?.tags {
                found.insert(&bitmap, tag);
            }
        }
    }
    if found.others.is_empty() && found.packed.len() == bitmap.count() {
        return Ok(Some(Closure::Pack(bitmap.pack)));
    }
    let mut ids = found.others;
    ids.extend(found.packed.iter().map(|position| bitmap.id_at(position)));
    Ok(Some(Closure::Objects(ids)))
}

/// The reachable objects: those in the pack with the bitmap, and others.
struct FoundObjects {
    packed: Bits,
    others: Vec<ObjectId>,
    seen: HashSet<ObjectId>,
}

impl FoundObjects {
    /// Adds an object. Returns whether it was not in the set before.
    fn insert(&mut self, bitmap: &Bitmap<'_>, id: ObjectId) -> bool {
        if let Some(position) = bitmap.position(id) {
            return self.packed.insert(position);
        }
        let new = self.seen.insert(id);
        if new {
            self.others.push(id);
        }
        new
    }

    fn contains(&self, bitmap: &Bitmap<'_>, id: ObjectId) -> bool {
        let packed = bitmap.position(id).is_some_and(|position| self.packed.contains(position));
        packed || self.seen.contains(&id)
    }

    /// Adds the commits and their ancestors. Returns the commits whose trees were not added,
    /// because no bitmap covers them.
    fn add_commits(
        &mut self,
        repo: &gix::Repository,
        bitmap: &Bitmap<'_>,
        wants: &[ObjectId],
    ) -> Result<Vec<ObjectId>, GitError> {
        let mut uncovered = Vec::new();
        let mut open = wants.to_vec();
        while let Some(commit) = open.pop() {
            if self.contains(bitmap, commit) {
                continue;
            }
            if let Some(bits) = bitmap.reachable_from(commit) {
                self.packed.add(&bits);
                continue;
            }
            self.insert(bitmap, commit);
            uncovered.push(commit);
            let commit = repo.find_commit(commit).map_err(failed)?;
            open.extend(commit.parent_ids().map(gix::Id::detach));
        }
        Ok(uncovered)
    }

    fn add_tree(
        &mut self,
        repo: &gix::Repository,
        bitmap: &Bitmap<'_>,
        root: ObjectId,
        without_files: bool,
    ) -> Result<(), GitError> {
        let mut open = vec![root];
        let mut buffer = Vec::new();
        while let Some(tree) = open.pop() {
            if !self.insert(bitmap, tree) {
                continue;
            }
            entries::entries(repo, tree, &mut buffer, |entry| {
                match entry {
                    Entry::Tree(id) => open.push(id),
                    Entry::Blob(_) if without_files => {}
                    Entry::Blob(id) => {
                        self.insert(bitmap, id);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}
