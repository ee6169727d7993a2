//! Finds objects that the client has, as far as that saves more than it costs.
//!
//! The client has the complete trees of the boundary commits. Reading all of them would take time in proportion to the
//! size of the repository. So only directories that differ between the two sides are read, path by path, like git does
//! with `pack.useSparse`. Other directories of the client are read up to a limit, to find files that were copied or
//! moved. The limit is higher if an entry appears at a new path. An object that is not found here is sent although the
//! client has it: that costs some bytes and is never wrong.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

use gix::ObjectId;
use gix::bstr::BString;
use gix::hashtable::{self, HashSet};
use gix::object::Kind;
use gix::objs::tree::EntryRef;
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use crate::content::tree::entries::is_submodule;
use crate::error::failed;

/// The budget of tree entries that one comparison may read in addition to the first read of each sent tree: a fixed
/// part, and a part per sent commit. Without it, a tree that appears at exponentially many paths would be read at each.
const ENTRY_BUDGET: usize = 1_000_000;
const ENTRY_BUDGET_PER_COMMIT: usize = 2_000;

/// How many trees of the client are read to find moved objects: a fixed number, and a number per
/// sent commit. If no entry appears at a new path, a quarter of the fixed number.
const MOVED_TREES: usize = 256;
const MOVED_TREES_PER_COMMIT: usize = 8;

/// The most bytes of the client's trees at one path that are held in memory at a time.
const LARGEST_FOLDER: usize = 16 << 20;

/// The most bytes of sent trees that are kept in memory.
const KEPT_TREE_BYTES: usize = 8 << 20;

/// Objects that the client has.
#[derive(Default)]
pub(super) struct KnownObjects {
    pub(super) ids: HashSet<ObjectId>,
    /// For objects that the client may lack: an object that it has at the same path, as a delta base.
    versions: hashtable::HashMap<ObjectId, ObjectId>,
    /// The data of sent trees, so that they are not read twice.
    tree_data: hashtable::HashMap<ObjectId, Vec<u8>>,
    tree_bytes: usize,
}

/// The state of one comparison.
struct Comparison<'a> {
    repo: &'a gix::Repository,
    known: KnownObjects,
    /// How many more tree entries may be read.
    budget: usize,
    /// Paths that were compared, by a hash of their trees.
    compared: std::collections::HashSet<u64>,
    /// Sent trees that have been read.
    read_sent: HashSet<ObjectId>,
    /// Trees of the client whose entries are in `known`.
    read_known: HashSet<ObjectId>,
    /// Trees of the client that are still to be read.
    unread: VecDeque<ObjectId>,
    /// Whether a sent tree has an entry at a path where no boundary commit has an entry of the same kind: that entry
    /// may have been moved there.
    has_new_paths: bool,
}

/// Why a comparison ended early.
enum EarlyEnd {
    BudgetSpent,
    Failed(GitError),
}

/// The trees, or the blobs, at one path: those of the sent commits and those of the boundary commits.
#[derive(Default)]
struct ObjectsAtPath {
    sent: Vec<ObjectId>,
    known: Vec<ObjectId>,
}

impl KnownObjects {
    /// Compares the root trees of the commits that are sent with those of the boundary commits.
    pub(super) fn compare(
        repo: &gix::Repository,
        sent: Vec<ObjectId>,
        known: Vec<ObjectId>,
        tick: impl FnMut() -> Result<(), GitError>,
    ) -> Result<Self, GitError> {
        let mut comparison = Comparison {
            repo,
            known: Self { ids: known.iter().copied().collect(), ..Self::default() },
            budget: ENTRY_BUDGET + ENTRY_BUDGET_PER_COMMIT * sent.len(),
            compared: std::collections::HashSet::new(),
            read_sent: HashSet::default(),
            read_known: HashSet::default(),
            unread: VecDeque::new(),
            has_new_paths: false,
        };
        let roots =
            ObjectsAtPath { sent: without_duplicates(sent), known: without_duplicates(known) };
        comparison.known.note_versions(&roots);
        match comparison.run(roots, tick) {
            // Objects found before the budget was spent are valid.
            Ok(()) | Err(EarlyEnd::BudgetSpent) => Ok(comparison.known),
            Err(EarlyEnd::Failed(error)) => Err(error),
        }
    }

    /// Returns an object of the client at the same path, to serve as a delta base.
    pub(super) fn version_of(&self, id: ObjectId) -> Option<ObjectId> {
        self.versions.get(&id).copied().filter(|version| self.ids.contains(version))
    }

    /// Removes and returns the data of a tree, if it was kept.
    pub(super) fn take_tree_data(&mut self, tree: ObjectId) -> Option<Vec<u8>> {
        self.tree_data.remove(&tree)
    }

    /// Drops the data of all trees.
    pub(super) fn forget_tree_data(&mut self) {
        self.tree_data = hashtable::HashMap::default();
    }

    fn keep_tree_data(&mut self, tree: ObjectId, data: Vec<u8>) {
        self.tree_bytes += data.len();
        if self.tree_bytes <= KEPT_TREE_BYTES {
            self.tree_data.insert(tree, data);
        }
    }

    fn note_versions(&mut self, path: &ObjectsAtPath) {
        let Some(&version) = path.known.first() else { return };
        for &id in &path.sent {
            self.versions.entry(id).or_insert(version);
        }
    }
}

impl Comparison<'_> {
    fn run(
        &mut self,
        roots: ObjectsAtPath,
        mut tick: impl FnMut() -> Result<(), GitError>,
    ) -> Result<(), EarlyEnd> {
        let commits = roots.sent.len();
        let mut open = vec![roots];
        while let Some(folder) = open.pop() {
            tick()?;
            if self.compared.insert(folder.hash_of_trees()) {
                open.extend(self.compare_folder(folder)?);
            }
        }
        let trees = match self.has_new_paths {
            true => MOVED_TREES + MOVED_TREES_PER_COMMIT * commits,
            false => MOVED_TREES / 4,
        };
        for _ in 0..trees {
            let Some(tree) = self.unread.pop_front() else { break };
            tick()?;
            self.read_known_tree(tree)?;
        }
        Ok(())
    }

    /// Compares the trees at one path. Returns the paths below it at which both sides have different trees.
    fn compare_folder(&mut self, folder: ObjectsAtPath) -> Result<Vec<ObjectsAtPath>, EarlyEnd> {
        let mut known_trees = Vec::new();
        let mut bytes = 0;
        for &tree in &folder.known {
            let Some(data) = self.read_known_tree(tree)? else { continue };
            bytes += data.len();
            if bytes > LARGEST_FOLDER {
                break;
            }
            known_trees.push((tree, data));
        }
        let (names, mut paths) = self.group_by_name(folder.sent)?;
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        for (tree, data) in &known_trees {
            for entry in entries(*tree, data) {
                let entry = entry?;
                let name = (entry.filename.to_owned(), entry.mode.is_tree());
                if let Some(&at) = names.get(&name).filter(|_| !is_submodule(entry.mode)) {
                    paths[at].1.known.push(entry.oid.to_owned());
                }
            }
        }
        let mut below = Vec::new();
        for (is_tree, mut path) in paths {
            path.known = without_duplicates(path.known);
            self.known.note_versions(&path);
            if path.known.is_empty() {
                self.has_new_paths = true;
            } else if is_tree {
                below.push(path);
            }
        }
        Ok(below)
    }

    /// Groups the entries of sent trees that the client is not known to have, by name and by whether they are trees.
    #[expect(clippy::type_complexity, reason = "the index and what it leads to, for one caller")]
    fn group_by_name(
        &mut self,
        trees: Vec<ObjectId>,
    ) -> Result<(HashMap<(BString, bool), usize>, Vec<(bool, ObjectsAtPath)>), EarlyEnd> {
        let mut names: HashMap<(BString, bool), usize> = HashMap::new();
        let mut paths: Vec<(bool, ObjectsAtPath)> = Vec::new();
        // Most entries occur in many trees, so each object is handled once.
        let mut seen: HashSet<ObjectId> = HashSet::default();
        for tree in trees {
            if self.known.ids.contains(&tree) {
                continue;
            }
            let missing = || GitError::Corrupt(format!("the tree {tree} is missing"));
            let data = read_tree(self.repo, tree)?.ok_or_else(missing)?;
            // The first read of a sent tree is free, because each sent tree has to be read once in any case.
            let is_repeated = !self.read_sent.insert(tree);
            for entry in entries(tree, &data) {
                let entry = entry?;
                if is_repeated {
                    self.charge_entry()?;
                }
                let id = entry.oid.to_owned();
                if is_submodule(entry.mode) || self.known.ids.contains(&id) || !seen.insert(id) {
                    continue;
                }
                let is_tree = entry.mode.is_tree();
                let at = *names.entry((entry.filename.to_owned(), is_tree)).or_insert_with(|| {
                    paths.push((is_tree, ObjectsAtPath::default()));
                    paths.len() - 1
                });
                paths[at].1.sent.push(id);
            }
            self.known.keep_tree_data(tree, data);
        }
        Ok((names, paths))
    }

    /// Reads a tree of the client and adds its entries to the known objects. Returns `None` if the repository lacks the
    /// tree: a client may have commits of deleted branches.
    fn read_known_tree(&mut self, tree: ObjectId) -> Result<Option<Vec<u8>>, EarlyEnd> {
        let Some(data) = read_tree(self.repo, tree)? else { return Ok(None) };
        let is_new = self.read_known.insert(tree);
        for entry in entries(tree, &data) {
            let entry = entry?;
            self.charge_entry()?;
            // A submodule's commit belongs to another repository.
            if is_new && !is_submodule(entry.mode) && self.known.ids.insert(entry.oid.to_owned()) {
                self.unread.extend(entry.mode.is_tree().then(|| entry.oid.to_owned()));
            }
        }
        Ok(Some(data))
    }

    fn charge_entry(&mut self) -> Result<(), EarlyEnd> {
        self.budget = self.budget.checked_sub(1).ok_or(EarlyEnd::BudgetSpent)?;
        Ok(())
    }
}

impl ObjectsAtPath {
    /// Hashes the trees at this path. On a collision, a path is not compared, and more objects are sent than needed.
    fn hash_of_trees(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.sent, &self.known).hash(&mut hasher);
        hasher.finish()
    }
}

impl From<GitError> for EarlyEnd {
    fn from(error: GitError) -> Self {
        EarlyEnd::Failed(error)
    }
}

/// Removes duplicates and keeps the order.
fn without_duplicates(mut ids: Vec<ObjectId>) -> Vec<ObjectId> {
    let mut seen = HashSet::default();
    ids.retain(|&id| seen.insert(id));
    ids
}

/// Reads the data of a tree. Returns `None` if there is no such tree.
fn read_tree(repo: &gix::Repository, tree: ObjectId) -> Result<Option<Vec<u8>>, GitError> {
    let mut data = Vec::new();
    let found = repo.objects.try_find(&tree, &mut data).map_err(failed)?;
    Ok(found.is_some_and(|object| object.kind == Kind::Tree).then_some(data))
}

fn entries(tree: ObjectId, data: &[u8]) -> impl Iterator<Item = Result<EntryRef<'_>, GitError>> {
    TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1).map(move |entry| {
        entry.map_err(|_| GitError::Corrupt(format!("the tree {tree} is malformed")))
    })
}
