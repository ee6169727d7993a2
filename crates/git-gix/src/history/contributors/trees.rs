//! Counts the changed lines of two trees.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

use gix::ObjectId;
use gix::objs::tree::EntryRef;
use gix::objs::{Kind, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use super::lines::{self, Lines};
use super::read;
use crate::content::tree::entries::is_submodule;

/// As in git, larger files count as binary.
const BIGGEST_TEXT: u64 = 512 << 20;
/// Pairs of files larger than this are compared one at a time.
const LARGE: u64 = 32 << 20;
/// Larger buffers are freed after use.
const KEPT_BUFFER: usize = 4 << 20;
/// The maximum number of bytes that are read for one commit. A few small trees can reference each other so often that
/// comparing everything would never end. Changes beyond this limit are not counted.
const BUDGET: u64 = 16 << 30;
/// The fixed cost of each pair of trees or files, in addition to its bytes.
const LEAST_COST: u64 = 4096;
/// Locked while large files are compared, so that the memory of concurrent counts does not add up.
static COMPARING_LARGE_FILES: Mutex<()> = Mutex::new(());

/// Compares trees, and reuses its buffers.
pub(crate) struct TreeCounter<'r> {
    repo: &'r gix::Repository,
    trees: [Vec<u8>; 2],
    files: [Vec<u8>; 2],
    /// Pairs of trees still to compare. An explicit stack, because trees may be nested arbitrarily deep.
    folders: Vec<[Option<ObjectId>; 2]>,
    changed: Vec<[Option<File>; 2]>,
    /// The remaining budget of the current commit.
    budget: u64,
}

/// A tree entry that is not a tree: a file, a link or a submodule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct File {
    id: ObjectId,
    /// Whether the id is a commit of another repository.
    is_submodule: bool,
}

impl<'r> TreeCounter<'r> {
    pub(crate) fn new(repo: &'r gix::Repository) -> Self {
        Self {
            repo,
            trees: Default::default(),
            files: Default::default(),
            folders: Vec::new(),
            changed: Vec::new(),
            budget: BUDGET,
        }
    }

    /// Counts the lines that changed from `old` to `new`. Without `old`, all lines of `new` are added.
    pub(crate) fn count(
        &mut self,
        old: Option<ObjectId>,
        new: ObjectId,
    ) -> Result<Lines, GitError> {
        self.folders.clear();
        self.changed.clear();
        self.budget = BUDGET;
        if old != Some(new) {
            self.folders.push([old, Some(new)]);
        }
        let mut sum = Lines::default();
        while let Some(pair) = self.folders.pop() {
            self.compare_folders(pair)?;
            self.charge(self.trees.iter().map(|tree| tree.len() as u64).sum());
            while let Some(pair) = self.changed.pop() {
                sum.add(self.compare_files(pair)?);
                if self.budget == 0 {
                    break;
                }
            }
            if self.budget == 0 {
                tracing::warn!(tree = %new, "a commit is too large to count all its lines");
                break;
            }
        }
        Ok(sum)
    }

    fn charge(&mut self, bytes: u64) {
        self.budget = self.budget.saturating_sub(LEAST_COST + bytes);
    }

    /// Collects the differences of two trees.
    fn compare_folders(&mut self, [old, new]: [Option<ObjectId>; 2]) -> Result<(), GitError> {
        let [old_buffer, new_buffer] = &mut self.trees;
        let mut old = Entries::read(self.repo, old, old_buffer)?;
        let mut new = Entries::read(self.repo, new, new_buffer)?;
        loop {
            let (left, right) = match (old.next, new.next) {
                (None, None) => return Ok(()),
                (Some(left), Some(right)) => match order(&left, &right) {
                    Ordering::Less => (old.take()?, None),
                    Ordering::Greater => (None, new.take()?),
                    Ordering::Equal => (old.take()?, new.take()?),
                },
                (Some(_), None) => (old.take()?, None),
                (None, Some(_)) => (None, new.take()?),
            };
            if left.map(|entry| entry.oid) == right.map(|entry| entry.oid) {
                continue;
            }
            if left.or(right).is_some_and(|entry| entry.mode.is_tree()) {
                self.folders.push([left, right].map(|entry| entry.map(|entry| entry.oid.into())));
            } else {
                self.changed.push([left, right].map(|entry| entry.map(File::from)));
            }
        }
    }

    fn compare_files(&mut self, [old, new]: [Option<File>; 2]) -> Result<Lines, GitError> {
        let mut size = 0;
        for file in [old, new].into_iter().flatten().filter(|file| !file.is_submodule) {
            let this = read::size(self.repo, file.id)?;
            if this > BIGGEST_TEXT {
                return Ok(Lines::default());
            }
            size += this;
        }
        self.charge(size);
        let _one_at_a_time = (size > LARGE)
            .then(|| COMPARING_LARGE_FILES.lock().unwrap_or_else(PoisonError::into_inner));
        let [old_buffer, new_buffer] = &mut self.files;
        let before = content(self.repo, old, old_buffer)?;
        if lines::is_binary(before) {
            return Ok(Lines::default());
        }
        let after = content(self.repo, new, new_buffer)?;
        if lines::is_binary(after) {
            return Ok(Lines::default());
        }
        let lines = lines::compare(before, after);
        for buffer in &mut self.files {
            if buffer.capacity() > KEPT_BUFFER {
                *buffer = Vec::new();
            }
        }
        Ok(lines)
    }
}

/// The content that git compares: nothing, the text of a file, the target of a link, or the commit id of a submodule.
fn content<'a>(
    repo: &gix::Repository,
    file: Option<File>,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8], GitError> {
    match file {
        None => Ok(&[]),
        Some(File { id, is_submodule: true }) => {
            buffer.clear();
            buffer.extend_from_slice(format!("Subproject commit {id}\n").as_bytes());
            Ok(buffer)
        }
        Some(File { id, is_submodule: false }) => read::object(repo, id, Kind::Blob, buffer),
    }
}

impl From<EntryRef<'_>> for File {
    fn from(entry: EntryRef<'_>) -> Self {
        Self { id: entry.oid.into(), is_submodule: is_submodule(entry.mode) }
    }
}

/// The entries of a tree, with one entry of lookahead.
struct Entries<'a> {
    next: Option<EntryRef<'a>>,
    rest: TreeRefIter<'a>,
}

impl<'a> Entries<'a> {
    fn read(
        repo: &gix::Repository,
        id: Option<ObjectId>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Self, GitError> {
        let data = match id {
            Some(id) => read::object(repo, id, Kind::Tree, buffer)?,
            None => &[],
        };
        let mut entries =
            Self { next: None, rest: TreeRefIter::from_bytes(data, repo.object_hash()) };
        entries.take()?;
        Ok(entries)
    }

    fn take(&mut self) -> Result<Option<EntryRef<'a>>, GitError> {
        let next = self.rest.next().transpose();
        let next = next.map_err(|_| GitError::Corrupt("a tree is malformed".to_owned()))?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// Git's order of tree entries: trees sort as if their names ended in a slash, so a file and a tree of the same name
/// are different entries.
fn order(left: &EntryRef<'_>, right: &EntryRef<'_>) -> Ordering {
    let common = left.filename.len().min(right.filename.len());
    left.filename[..common].cmp(&right.filename[..common]).then_with(|| {
        let next = |entry: &EntryRef<'_>| match entry.filename.get(common) {
            Some(byte) => *byte,
            None if entry.mode.is_tree() => b'/',
            None => 0,
        };
        next(left).cmp(&next(right))
    })
}
