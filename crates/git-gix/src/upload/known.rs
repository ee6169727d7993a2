//! Objects that the client has, as far as it pays to know them.
//!
//! The client has whole trees: those of the commits at the edge of what it asks for. Reading all of them would cost
//! as much as the repository is large. So folders are read that differ between the two sides, path by path, as git
//! does it with `pack.useSparse`. Only where something appears at a new path, which may have been moved there, other
//! folders of the client are read too, up to a limit. An object that is not found here is sent although the client has
//! it: that costs some bytes, and is never wrong.

use std::collections::{HashMap, VecDeque};

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

/// How many trees of the client are read to find what was moved: so many in any case, and so many for each commit.
const LEAST_TREES: usize = 256;
const TREES_PER_COMMIT: usize = 8;

/// How many bytes of the client's trees of one folder are held at a time.
const LARGEST_FOLDER: usize = 16 << 20;

/// How many bytes of trees that are sent are kept.
const MOST_DATA: usize = 8 << 20;

/// Objects that the client has.
#[derive(Default)]
pub(super) struct Known {
    pub(super) ids: HashSet<ObjectId>,
    /// For objects that the client may not have, one that it has at the same path.
    versions: hashtable::HashMap<ObjectId, ObjectId>,
    /// The data of trees that are sent, so that they need not be read twice.
    data: hashtable::HashMap<ObjectId, Vec<u8>>,
    bytes: usize,
}

/// A comparison that is under way.
struct Comparison<'a> {
    repo: &'a gix::Repository,
    known: Known,
    /// How many more tree entries are looked at.
    effort: usize,
    /// Trees of the client whose entries are known.
    read: HashSet<ObjectId>,
    /// Trees of the client whose entries may not be known yet.
    unread: VecDeque<ObjectId>,
    /// Whether something is sent at a path where the client has nothing of its kind.
    has_new_paths: bool,
}

/// Why a comparison ended early.
enum Stopped {
    Exhausted,
    Failed(GitError),
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
        tick: impl FnMut() -> Result<(), GitError>,
    ) -> Result<Self, GitError> {
        let mut comparison = Comparison {
            repo,
            known: Self { ids: known.iter().copied().collect(), ..Self::default() },
            effort: LEAST_EFFORT + EFFORT_PER_COMMIT * sent.len(),
            read: HashSet::default(),
            unread: VecDeque::new(),
            has_new_paths: false,
        };
        comparison.known.note_versions(&sent, &known);
        match comparison.run(Folder { sent, known }, tick) {
            // What was found until then is true.
            Ok(()) | Err(Stopped::Exhausted) => Ok(comparison.known),
            Err(Stopped::Failed(error)) => Err(error),
        }
    }

    /// An object that the client has, and that was found at the same path as this one.
    pub(super) fn version_of(&self, id: ObjectId) -> Option<ObjectId> {
        self.versions.get(&id).copied().filter(|version| self.ids.contains(version))
    }

    /// The data of a tree, if it was read and kept.
    pub(super) fn take_data(&mut self, tree: ObjectId) -> Option<Vec<u8>> {
        self.data.remove(&tree)
    }

    /// Forgets the data of all trees.
    pub(super) fn forget_data(&mut self) {
        self.data = hashtable::HashMap::default();
    }

    fn keep_data(&mut self, tree: ObjectId, data: Vec<u8>) {
        self.bytes += data.len();
        if self.bytes <= MOST_DATA {
            self.data.insert(tree, data);
        }
    }

    fn note_versions(&mut self, sent: &[ObjectId], known: &[ObjectId]) {
        let Some(&version) = known.first() else { return };
        for &id in sent {
            self.versions.entry(id).or_insert(version);
        }
    }
}

impl Comparison<'_> {
    fn run(
        &mut self,
        roots: Folder,
        mut tick: impl FnMut() -> Result<(), GitError>,
    ) -> Result<(), Stopped> {
        let trees = LEAST_TREES + TREES_PER_COMMIT * roots.sent.len();
        let mut open = vec![roots];
        while let Some(folder) = open.pop() {
            tick()?;
            self.folder(folder, &mut open)?;
        }
        if !self.has_new_paths {
            return Ok(());
        }
        for _ in 0..trees {
            let Some(tree) = self.unread.pop_front() else { break };
            tick()?;
            self.read_known(tree)?;
        }
        Ok(())
    }

    /// Compares the trees at one path, and adds to `open` the paths below at which something differs.
    fn folder(&mut self, mut folder: Folder, open: &mut Vec<Folder>) -> Result<(), Stopped> {
        for trees in [&mut folder.sent, &mut folder.known] {
            let mut seen = HashSet::default();
            trees.retain(|&tree| seen.insert(tree));
        }
        let mut held = Vec::new();
        let mut bytes = 0;
        for &tree in &folder.known {
            let Some(data) = self.read_known(tree)? else { continue };
            bytes += data.len();
            if bytes > LARGEST_FOLDER {
                break;
            }
            held.push((tree, data));
        }
        let mut names: HashMap<(BString, bool), usize> = HashMap::new();
        let mut differing: Vec<(bool, Folder)> = Vec::new();
        for tree in folder.sent {
            if self.known.ids.contains(&tree) {
                continue;
            }
            let missing = || GitError::Corrupt(format!("no tree {tree}"));
            let data = read(self.repo, tree)?.ok_or_else(missing)?;
            for entry in entries(tree, &data) {
                let entry = entry?;
                self.spend()?;
                if entry.mode.is_commit() || self.known.ids.contains(entry.oid) {
                    continue;
                }
                let is_tree = entry.mode.is_tree();
                let at = *names.entry((entry.filename.to_owned(), is_tree)).or_insert_with(|| {
                    differing.push((is_tree, Folder::default()));
                    differing.len() - 1
                });
                differing[at].1.sent.push(entry.oid.to_owned());
            }
            self.known.keep_data(tree, data);
        }
        if differing.is_empty() {
            return Ok(());
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
            self.known.note_versions(&below.sent, &below.known);
            if below.known.is_empty() {
                self.has_new_paths = true;
            } else if is_tree {
                open.push(below);
            }
        }
        Ok(())
    }

    /// Reads a tree of the client, and notes its entries. `None` when the tree is gone: a client may have commits that no
    /// ref leads to here.
    fn read_known(&mut self, tree: ObjectId) -> Result<Option<Vec<u8>>, Stopped> {
        let Some(data) = read(self.repo, tree)? else { return Ok(None) };
        if self.read.insert(tree) {
            for entry in entries(tree, &data) {
                let entry = entry?;
                self.spend()?;
                // A submodule's commit belongs to another repository.
                if !entry.mode.is_commit() && self.known.ids.insert(entry.oid.to_owned()) {
                    self.unread.extend(entry.mode.is_tree().then(|| entry.oid.to_owned()));
                }
            }
        }
        Ok(Some(data))
    }

    fn spend(&mut self) -> Result<(), Stopped> {
        self.effort = self.effort.checked_sub(1).ok_or(Stopped::Exhausted)?;
        Ok(())
    }
}

impl From<GitError> for Stopped {
    fn from(error: GitError) -> Self {
        Stopped::Failed(error)
    }
}

/// The data of a tree; `None` when there is no such tree.
fn read(repo: &gix::Repository, tree: ObjectId) -> Result<Option<Vec<u8>>, GitError> {
    let mut data = Vec::new();
    let found = repo.objects.try_find(&tree, &mut data).map_err(failed)?;
    Ok(found.is_some_and(|object| object.kind == Kind::Tree).then_some(data))
}

fn entries(tree: ObjectId, data: &[u8]) -> impl Iterator<Item = Result<EntryRef<'_>, GitError>> {
    TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1)
        .map(move |entry| entry.map_err(|_| GitError::Corrupt(format!("the tree {tree}"))))
}
