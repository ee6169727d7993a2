//! Objects that the client has, as far as it pays to know them.
//!
//! The client has whole trees: those of the commits at the edge of what it asks for. Reading all of them would cost
//! as much as the repository is large. So only folders are read that differ between the two sides, path by path, as
//! git does it with `pack.useSparse`. An object that is not found here is sent although the client has it: that costs
//! some bytes, and is never wrong.

use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::BString;
use gix::hashtable::{self, HashSet};
use gix::object::Kind;
use gix::objs::tree::EntryRef;
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use crate::error::failed;

/// How many tree entries are looked at: so many in any case, and so many for each commit that is sent. A tree can
/// contain another one many times, so paths can be without number.
const LEAST_EFFORT: usize = 100_000;
const EFFORT_PER_COMMIT: usize = 2_000;

/// How many bytes of the client's trees of one folder are held at a time.
const LARGEST_FOLDER: usize = 16 << 20;

/// Objects that the client has.
#[derive(Default)]
pub(super) struct Known {
    pub(super) ids: HashSet<ObjectId>,
    /// For objects that the client may not have, one that it has at the same path.
    versions: hashtable::HashMap<ObjectId, ObjectId>,
}

/// The trees at one path: of the commits that are sent, and of commits that the client has.
#[derive(Default)]
struct Folder {
    sent: Vec<ObjectId>,
    known: Vec<ObjectId>,
}

impl Known {
    /// Compares the root trees of the commits that are sent with those of commits that the client has.
    pub(super) fn compare(
        repo: &gix::Repository,
        sent: Vec<ObjectId>,
        known: Vec<ObjectId>,
        mut tick: impl FnMut() -> Result<(), GitError>,
    ) -> Result<Self, GitError> {
        let mut effort = LEAST_EFFORT + EFFORT_PER_COMMIT * sent.len();
        let mut this = Self { ids: known.iter().copied().collect(), ..Self::default() };
        this.note_versions(&sent, &known);
        let mut open = vec![Folder { sent, known }];
        while let Some(folder) = open.pop() {
            tick()?;
            let Some(left) = this.compare_folder(repo, folder, effort, &mut open)? else { break };
            effort = left;
        }
        Ok(this)
    }

    /// An object that the client has, and that was found at the same path as this one.
    pub(super) fn version_of(&self, id: ObjectId) -> Option<ObjectId> {
        self.versions.get(&id).copied().filter(|version| self.ids.contains(version))
    }

    fn note_versions(&mut self, sent: &[ObjectId], known: &[ObjectId]) {
        let Some(&version) = known.first() else { return };
        for &id in sent {
            self.versions.entry(id).or_insert(version);
        }
    }

    /// Compares the trees at one path, and adds to `open` the paths below at which something differs. Returns the
    /// effort that is left; `None` when there is none.
    fn compare_folder(
        &mut self,
        repo: &gix::Repository,
        mut folder: Folder,
        mut effort: usize,
        open: &mut Vec<Folder>,
    ) -> Result<Option<usize>, GitError> {
        for trees in [&mut folder.sent, &mut folder.known] {
            let mut seen = HashSet::default();
            trees.retain(|&tree| seen.insert(tree));
        }
        let mut held = Vec::new();
        let mut bytes = 0;
        for &tree in &folder.known {
            // A client may have commits whose trees are gone here.
            let Some(data) = read(repo, tree, Vec::new())? else { continue };
            bytes += data.len();
            if bytes > LARGEST_FOLDER {
                break;
            }
            for entry in entries(tree, &data) {
                let entry = entry?;
                let Some(left) = effort.checked_sub(1) else { return Ok(None) };
                effort = left;
                // A submodule's commit belongs to another repository.
                if !entry.mode.is_commit() {
                    self.ids.insert(entry.oid.to_owned());
                }
            }
            held.push((tree, data));
        }
        let mut names: HashMap<(BString, bool), usize> = HashMap::new();
        let mut differing: Vec<(bool, Folder)> = Vec::new();
        let mut buffer = Vec::new();
        for &tree in folder.sent.iter().filter(|&tree| !self.ids.contains(tree)) {
            let missing = || GitError::Corrupt(format!("no tree {tree}"));
            buffer = read(repo, tree, buffer)?.ok_or_else(missing)?;
            for entry in entries(tree, &buffer) {
                let entry = entry?;
                let Some(left) = effort.checked_sub(1) else { return Ok(None) };
                effort = left;
                if entry.mode.is_commit() || self.ids.contains(entry.oid) {
                    continue;
                }
                let is_tree = entry.mode.is_tree();
                let at = *names.entry((entry.filename.to_owned(), is_tree)).or_insert_with(|| {
                    differing.push((is_tree, Folder::default()));
                    differing.len() - 1
                });
                differing[at].1.sent.push(entry.oid.to_owned());
            }
        }
        if differing.is_empty() {
            return Ok(Some(effort));
        }
        for (tree, data) in &held {
            for entry in entries(*tree, data) {
                let entry = entry?;
                let name = (entry.filename.to_owned(), entry.mode.is_tree());
                if let Some(&at) = names.get(&name).filter(|_| !entry.mode.is_commit()) {
                    differing[at].1.known.push(entry.oid.to_owned());
                }
            }
        }
        for (is_tree, below) in differing {
            self.note_versions(&below.sent, &below.known);
            if is_tree && !below.known.is_empty() {
                open.push(below);
            }
        }
        Ok(Some(effort))
    }
}

/// The data of a tree; `None` when there is no such tree.
fn read(
    repo: &gix::Repository,
    tree: ObjectId,
    mut data: Vec<u8>,
) -> Result<Option<Vec<u8>>, GitError> {
    let found = repo.objects.try_find(&tree, &mut data).map_err(failed)?;
    Ok(found.is_some_and(|object| object.kind == Kind::Tree).then_some(data))
}

fn entries(tree: ObjectId, data: &[u8]) -> impl Iterator<Item = Result<EntryRef<'_>, GitError>> {
    TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1)
        .map(move |entry| entry.map_err(|_| GitError::Corrupt(format!("the tree {tree}"))))
}
