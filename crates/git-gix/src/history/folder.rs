//! Finds the last commits that changed the entries of a folder, by one walk for all entries.
//!
//! With git's default simplification of history, the walk for one path has no branches until it finds the commit: if a
//! parent is equal at the path, only the first such parent is followed, and otherwise the commit changed the path. So
//! each entry waits at one commit, and entries at the same commit are compared with its parents together.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gix::ObjectId;
use gix::object::Kind;
use gix::objs::tree::EntryKind;
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::LastCommits;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::content::commit::from_gix;
use crate::error::failed;
use crate::history::compare::{Effort, Limits, with_object_cache};
use crate::history::log::{Header, PathHistory, read};
use crate::text;

/// The maximum number of entries whose commits are searched.
const MOST_ENTRIES: usize = 10_000;

/// The maximum number of commits that one call visits.
const MOST_COMMITS: usize = 2_000;

/// So many parents of a commit are compared without a check of the time limit.
const FEW_PARENTS: usize = 64;

/// The limits of one call.
const LIMITS: Limits =
    Limits { time: Duration::from_millis(50), reading: 0, showing: 0, changes: 0 };

/// The maximum size of all cached walks, in bytes, and their expected number.
const CACHED_BYTES: u64 = 16 << 20;
const CACHED_WALKS: usize = 1_000;

/// The project, the commit and the path of the folder.
type Key = (ProjectId, ObjectId, String);

/// Recent walks, finished or not. Objects never change, so entries never become stale.
pub(crate) struct FolderWalks(Cache<Key, Arc<CachedWalk>, BySize>);

struct CachedWalk {
    /// The approximate size in memory.
    bytes: u64,
    walk: Mutex<FolderWalk>,
}

#[derive(Clone)]
struct BySize;

impl Weighter<Key, Arc<CachedWalk>> for BySize {
    fn weight(&self, (_, _, path): &Key, cached: &Arc<CachedWalk>) -> u64 {
        path.len() as u64 + cached.bytes
    }
}

impl Default for FolderWalks {
    fn default() -> Self {
        Self(Cache::with_weighter(CACHED_WALKS, CACHED_BYTES, BySize))
    }
}

impl FolderWalks {
    /// Returns what is known about the entries of a folder after some more steps. The path has no slash at its end.
    pub(crate) fn last_commits(
        &self,
        repo: &gix::Repository,
        project: ProjectId,
        commit: ObjectId,
        folder: &str,
    ) -> Result<LastCommits, GitError> {
        let repo = &with_object_cache(repo);
        let key = (project, commit, folder.to_owned());
        let cached = match self.0.get(&key) {
            Some(cached) => cached,
            None => {
                let walk = FolderWalk::new(repo, commit, folder)?;
                let cached = Arc::new(CachedWalk { bytes: walk.size(), walk: Mutex::new(walk) });
                self.0.insert(key.clone(), Arc::clone(&cached));
                cached
            }
        };
        let mut walk = cached.walk.lock().unwrap_or_else(PoisonError::into_inner);
        let went_on = walk.go_on(repo, folder, MOST_COMMITS, &Effort::new(LIMITS));
        if let Err(error) = went_on {
            // The walk has lost the entries that it was about to compare.
            self.0.remove(&key);
            return Err(error);
        }
        Ok(walk.outcome(folder))
    }
}

/// The state of a walk.
#[derive(Default)]
pub(super) struct FolderWalk {
    entries: Vec<Entry>,
    by_name: HashMap<Vec<u8>, usize>,
    /// The commits at which entries wait, newest first, then the one that came first.
    queue: BinaryHeap<(i64, Reverse<u64>, ObjectId)>,
    queued: u64,
    waiting: HashMap<ObjectId, Waiting>,
}

/// An entry of the folder.
struct Entry {
    name: Vec<u8>,
    /// Its type and id. They are the same in all commits at which the entry waits.
    content: (EntryKind, ObjectId),
    last_commit: Option<ObjectId>,
}

/// The entries that waited at a commit after the comparison with its parents.
struct Compared {
    /// The entries that are the same in a parent, and wait there now.
    followed: Vec<(Header, Vec<usize>)>,
    /// The entries that the commit changed.
    changed: Vec<usize>,
}

/// A commit at which entries wait.
struct Waiting {
    commit: Header,
    entries: Vec<usize>,
}

impl FolderWalk {
    pub(super) fn new(
        repo: &gix::Repository,
        commit: ObjectId,
        folder: &str,
    ) -> Result<Self, GitError> {
        let mut walk = Self::default();
        let commit = read(repo, commit)?.ok_or(GitError::Missing)?;
        let Some(tree) = Folder::new(repo, folder).at(commit.tree)? else { return Ok(walk) };
        each_entry(repo, tree, |name, content| {
            walk.by_name.insert(name.to_vec(), walk.entries.len());
            walk.entries.push(Entry { name: name.to_vec(), content, last_commit: None });
            walk.entries.len() < MOST_ENTRIES
        })?;
        let entries = (0..walk.entries.len()).collect();
        walk.wait(commit, entries);
        Ok(walk)
    }

    /// The approximate size in memory.
    fn size(&self) -> u64 {
        // 150 bytes for each entry with its place in the walk, and for the overhead of the cache.
        let entries: usize = self.entries.iter().map(|entry| 2 * entry.name.len() + 150).sum();
        entries as u64 + 150
    }

    /// Lets entries wait at a commit.
    fn wait(&mut self, commit: Header, entries: Vec<usize>) {
        if entries.is_empty() {
            return;
        }
        if let Some(waiting) = self.waiting.get_mut(&commit.id) {
            waiting.entries.extend(entries);
            return;
        }
        self.queue.push((commit.time, Reverse(self.queued), commit.id));
        self.queued += 1;
        self.waiting.insert(commit.id, Waiting { commit, entries });
    }

    /// Visits commits until a limit is reached or all entries are known.
    pub(super) fn go_on(
        &mut self,
        repo: &gix::Repository,
        folder: &str,
        most_commits: usize,
        effort: &Effort,
    ) -> Result<(), GitError> {
        let mut folder = Folder::new(repo, folder);
        for _ in 0..most_commits {
            if !effort.has_time() {
                break;
            }
            let Some((_, _, id)) = self.queue.pop() else { break };
            let Some(waiting) = self.waiting.remove(&id) else { continue };
            let Some(compared) = self.compare(&mut folder, &waiting, effort)? else {
                self.wait(waiting.commit, waiting.entries);
                break;
            };
            for (parent, entries) in compared.followed {
                self.wait(parent, entries);
            }
            for entry in compared.changed {
                self.entries[entry].last_commit = Some(id);
            }
        }
        Ok(())
    }

    /// Compares the entries that wait at a commit with its parents. Returns `None` when the time is up because the
    /// commit has very many parents.
    fn compare(
        &self,
        folder: &mut Folder<'_>,
        Waiting { commit, entries }: &Waiting,
        effort: &Effort,
    ) -> Result<Option<Compared>, GitError> {
        let mut open = vec![false; self.entries.len()];
        entries.iter().for_each(|entry| open[*entry] = true);
        let own = folder.at(commit.tree)?;
        let (mut followed, mut left) = (Vec::new(), entries.len());
        for (number, parent) in commit.parents.iter().enumerate() {
            if left == 0 {
                break;
            }
            if number >= FEW_PARENTS && !effort.has_time() {
                return Ok(None);
            }
            // A missing parent ends the history.
            let Some(parent) = read(folder.repo, *parent)? else { continue };
            let Some(tree) = folder.at(parent.tree)? else { continue };
            let mut same: Vec<usize> = Vec::new();
            if own == Some(tree) {
                same.extend(entries.iter().filter(|entry| open[**entry]));
            } else {
                self.each_same(folder.repo, tree, |entry| {
                    same.extend(open[entry].then_some(entry));
                })?;
            }
            same.iter().for_each(|entry| open[*entry] = false);
            left -= same.len();
            followed.push((parent, same));
        }
        let changed = entries.iter().copied().filter(|entry| open[*entry]).collect();
        Ok(Some(Compared { followed, changed }))
    }

    /// Calls `each` with the entries that a tree has too.
    fn each_same(
        &self,
        repo: &gix::Repository,
        tree: ObjectId,
        mut each: impl FnMut(usize),
    ) -> Result<(), GitError> {
        // Most trees have the same names in the same order.
        let mut next = 0;
        each_entry(repo, tree, |name, content| {
            let found = match self.entries.get(next) {
                Some(entry) if entry.name == name => Some(next),
                Some(_) | None => self.by_name.get(name).copied(),
            };
            if let Some(at) = found {
                next = at + 1;
                if self.entries[at].content == content {
                    each(at);
                }
            }
            true
        })
    }

    pub(super) fn outcome(&self, folder: &str) -> LastCommits {
        let path = |name: &[u8]| match folder {
            "" => text::exact_path(name),
            folder => format!("{folder}/{}", text::exact_path(name)),
        };
        let known = self
            .entries
            .iter()
            .filter_map(|entry| Some((path(&entry.name), from_gix(entry.last_commit.as_ref()?))));
        let entries: Vec<_> = known.collect();
        LastCommits { is_complete: entries.len() == self.entries.len(), entries }
    }
}

/// Finds a folder in root trees.
struct Folder<'r> {
    repo: &'r gix::Repository,
    /// `None` for the root itself.
    path: Option<PathHistory<'r>>,
}

impl<'r> Folder<'r> {
    fn new(repo: &'r gix::Repository, folder: &str) -> Self {
        let path = (!folder.is_empty()).then(|| PathHistory::new(repo, &text::bytes_of(folder)));
        Self { repo, path }
    }

    /// The tree of the folder below a root tree.
    fn at(&mut self, root: ObjectId) -> Result<Option<ObjectId>, GitError> {
        let Some(path) = &mut self.path else { return Ok(Some(root)) };
        let found = path.entry(0, root)?;
        Ok(found.filter(|(kind, _)| *kind == EntryKind::Tree).map(|(_, id)| id))
    }
}

/// Calls `each` with the name and the content of each entry of a tree, until it returns `false`.
fn each_entry(
    repo: &gix::Repository,
    tree: ObjectId,
    mut each: impl FnMut(&[u8], (EntryKind, ObjectId)) -> bool,
) -> Result<(), GitError> {
    let damaged = || GitError::Corrupt(format!("the tree {tree} cannot be read"));
    let mut buffer = Vec::new();
    let object = repo.objects.try_find(&tree, &mut buffer).map_err(failed)?;
    let data = object.filter(|object| object.kind == Kind::Tree).ok_or_else(damaged)?.data;
    for entry in TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1) {
        let entry = entry.map_err(|_| damaged())?;
        if !each(entry.filename, (entry.mode.kind(), entry.oid.to_owned())) {
            break;
        }
    }
    Ok(())
}
