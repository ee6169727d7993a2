//! Changes entries of a tree. Only the folders along the changed paths are read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::object::Kind;
use gix::objs::tree::{Entry, EntryKind, EntryMode};
use gix::objs::{Find, Tree, TreeRefIter, WriteTo};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::{FileMode, MAX_FOLDERS, PathEntry};

use super::NewObjects;
use crate::content::commit::from_gix;
use crate::error::{failed, io_failed};

/// The largest blob that is read as a whole.
const LARGEST_TEXT: u64 = 16 << 20;

/// A tree that is being changed.
pub(crate) struct TreeEditor<'r> {
    repo: Option<&'r gix::Repository>,
    root: Folder,
    original: Option<ObjectId>,
    is_root_read: bool,
}

/// A folder whose entries were read.
#[derive(Default)]
struct Folder {
    entries: BTreeMap<BString, Node>,
    is_changed: bool,
}

enum Node {
    /// An entry as it is stored.
    Stored(EntryMode, ObjectId),
    /// A folder whose entries were read, and its id if it is stored.
    Open(Folder, Option<ObjectId>),
}

impl<'r> TreeEditor<'r> {
    /// Starts with a stored tree, or with an empty one.
    pub(crate) fn new(repo: Option<&'r gix::Repository>, root: Option<ObjectId>) -> Self {
        Self { repo, root: Folder::default(), original: root, is_root_read: root.is_none() }
    }

    /// Returns what is at a path, with all changes so far.
    pub(crate) fn path_entry(&mut self, path: &[u8]) -> Result<PathEntry, GitError> {
        let (folders, name) = split_path(path);
        if folders.len() > MAX_FOLDERS {
            return Ok(PathEntry::Missing);
        }
        let Some(folder) = self.folder(&folders, WhenMissing::Stop)? else {
            return Ok(match self.blocked_by_file(&folders)? {
                true => PathEntry::BehindFile,
                false => PathEntry::Missing,
            });
        };
        Ok(match folder.entries.get(name) {
            None => PathEntry::Missing,
            Some(Node::Open(..)) => PathEntry::Folder,
            Some(Node::Stored(mode, id)) => {
                let file = |mode| PathEntry::File { id: from_gix(id), mode };
                match mode.kind() {
                    EntryKind::Tree => PathEntry::Folder,
                    EntryKind::Commit => PathEntry::Submodule(from_gix(id)),
                    EntryKind::Blob => file(FileMode::Plain),
                    EntryKind::BlobExecutable => file(FileMode::Executable),
                    EntryKind::Link => file(FileMode::Link),
                }
            }
        })
    }

    /// Reads a blob that is new or stored. Blobs over 16 MiB are refused.
    pub(crate) fn read_blob(
        &self,
        id: ObjectId,
        objects: &NewObjects,
    ) -> Result<Vec<u8>, GitError> {
        if let Some(data) = objects.data(&id) {
            return Ok(data.to_vec());
        }
        let repo = self.repo.ok_or(GitError::Missing)?;
        if repo.find_header(id).map_err(failed)?.size() > LARGEST_TEXT {
            return Err(GitError::TooLarge);
        }
        let mut blob = repo.find_object(id).map_err(failed)?;
        Ok(std::mem::take(&mut blob.data))
    }

    /// Sets an entry. Missing folders are created, and files in the way are replaced.
    pub(crate) fn set(
        &mut self,
        path: &[u8],
        mode: EntryMode,
        id: ObjectId,
    ) -> Result<(), GitError> {
        let (folders, name) = split_path(path);
        if let Some(folder) = self.folder(&folders, WhenMissing::Create)? {
            folder.is_changed = true;
            folder.entries.insert(name.to_owned(), Node::Stored(mode, id));
        }
        Ok(())
    }

    /// Removes an entry if it is there. Folders that become empty are removed by [`write`](Self::write).
    pub(crate) fn remove(&mut self, path: &[u8]) -> Result<(), GitError> {
        let (folders, name) = split_path(path);
        if let Some(folder) = self.folder(&folders, WhenMissing::Stop)? {
            folder.is_changed |= folder.entries.remove(name).is_some();
        }
        Ok(())
    }

    /// Adds all changed trees to the new objects, and returns the id of the root tree.
    pub(crate) fn write(self, objects: &mut NewObjects) -> Result<ObjectId, GitError> {
        if let (false, Some(original)) = (self.is_root_read, self.original) {
            return Ok(original);
        }
        let (is_changed, written) = self.root.write(objects)?;
        match (is_changed, self.original, written) {
            (false, Some(original), _) => Ok(original),
            (_, _, Some(id)) => Ok(id),
            (_, _, None) => objects.add(Kind::Tree, Vec::new()),
        }
    }

    /// Opens a folder and all folders on the way.
    fn folder(
        &mut self,
        names: &[&BStr],
        when_missing: WhenMissing,
    ) -> Result<Option<&mut Folder>, GitError> {
        // Folders are written recursively.
        if names.len() > MAX_FOLDERS {
            return Err(GitError::TooLarge);
        }
        if !self.is_root_read {
            self.root = read(self.repo, self.original)?;
            self.is_root_read = true;
        }
        let repo = self.repo;
        let mut folder = &mut self.root;
        for &name in names {
            let node = match (folder.entries.entry(name.to_owned()), when_missing) {
                (MapEntry::Occupied(node), _) => node.into_mut(),
                (MapEntry::Vacant(_), WhenMissing::Stop) => return Ok(None),
                (MapEntry::Vacant(place), WhenMissing::Create) => {
                    place.insert(Node::Open(Folder::default(), None))
                }
            };
            match (&*node, when_missing) {
                (Node::Open(..), _) => (),
                (Node::Stored(mode, id), _) if mode.is_tree() => {
                    *node = Node::Open(read(repo, Some(*id))?, Some(*id));
                }
                (Node::Stored(..), WhenMissing::Stop) => return Ok(None),
                (Node::Stored(..), WhenMissing::Create) => {
                    *node = Node::Open(Folder::default(), None);
                }
            }
            let Node::Open(next, _) = node else { return Ok(None) };
            folder = next;
        }
        Ok(Some(folder))
    }

    /// Returns whether one of the folders of a path is a file, a link or a submodule.
    fn blocked_by_file(&mut self, names: &[&BStr]) -> Result<bool, GitError> {
        for end in 0..names.len() {
            let Some(folder) = self.folder(&names[..end], WhenMissing::Stop)? else {
                return Ok(false);
            };
            match folder.entries.get(names[end]) {
                Some(Node::Stored(mode, _)) if !mode.is_tree() => return Ok(true),
                Some(_) => (),
                None => return Ok(false),
            }
        }
        Ok(false)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WhenMissing {
    Stop,
    Create,
}

impl Folder {
    /// Writes the folder and the folders below it as far as they changed. Returns whether it changed, and its id unless
    /// it is empty.
    fn write(self, objects: &mut NewObjects) -> Result<(bool, Option<ObjectId>), GitError> {
        let mut is_changed = self.is_changed;
        let mut entries = Vec::with_capacity(self.entries.len());
        for (filename, node) in self.entries {
            let (mode, oid) = match node {
                // As git does, a tree that is written has no modes of old programs, such as 100664.
                Node::Stored(mode, id) => (mode.kind().into(), id),
                Node::Open(folder, stored) => match (folder.write(objects)?, stored) {
                    ((false, _), Some(stored)) => (EntryKind::Tree.into(), stored),
                    ((_, Some(id)), _) => {
                        is_changed = true;
                        (EntryKind::Tree.into(), id)
                    }
                    ((_, None), _) => {
                        is_changed = true;
                        continue;
                    }
                },
            };
            entries.push(Entry { mode, filename, oid });
        }
        if !is_changed {
            return Ok((false, None));
        }
        if entries.is_empty() {
            return Ok((true, None));
        }
        entries.sort();
        let mut data = Vec::new();
        Tree { entries }.write_to(&mut data).map_err(io_failed)?;
        Ok((true, Some(objects.add(Kind::Tree, data)?)))
    }
}

fn read(repo: Option<&gix::Repository>, id: Option<ObjectId>) -> Result<Folder, GitError> {
    let (Some(repo), Some(id)) = (repo, id) else { return Ok(Folder::default()) };
    let mut buffer = Vec::new();
    let found = repo.objects.try_find(&id, &mut buffer).map_err(failed)?;
    let data = found
        .filter(|object| object.kind == Kind::Tree)
        .ok_or_else(|| GitError::Corrupt(format!("the tree {id} is missing")))?
        .data;
    let malformed = || GitError::Corrupt(format!("the tree {id} is malformed"));
    let mut entries = BTreeMap::new();
    for entry in TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1) {
        let entry = entry.map_err(|_| malformed())?;
        let node = Node::Stored(entry.mode, entry.oid.to_owned());
        // Writing the tree again would lose one of two entries with the same name.
        if entries.insert(entry.filename.to_owned(), node).is_some() {
            return Err(malformed());
        }
    }
    Ok(Folder { entries, is_changed: false })
}

/// Splits a path into its folders and its last component.
fn split_path(path: &[u8]) -> (Vec<&BStr>, &BStr) {
    let mut parts: Vec<&BStr> = path.split(|&byte| byte == b'/').map(ByteSlice::as_bstr).collect();
    let name = parts.pop().unwrap_or_default();
    (parts, name)
}
