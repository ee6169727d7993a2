//! Visits the files of a commit in the order of `git archive`.

use gix::bstr::ByteSlice;
use gix::objs::tree::{EntryKind, EntryRef};
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use super::Cacheable;
use super::attributes::AttributeRules;
use super::entry::{ArchivedCommit, Content, Entry, Kind, Sink};
use super::subst::Placeholders;
use crate::content::blob::{SMALL, StoredBlob};
use crate::error::failed;

/// The size up to which attributes change a file. Larger files are streamed unchanged.
const LARGEST_CHANGED: u64 = 8 << 20;
/// The maximum length of a link target, which is held in memory.
const LONGEST_TARGET: u64 = 1 << 20;
/// The maximum depth of nested folders, as in git.
const DEEPEST: usize = 4096;

/// Adds all entries of the archive to the sink.
pub(super) fn walk(
    repo: &gix::Repository,
    archived: &ArchivedCommit,
    sink: &mut dyn Sink,
) -> Result<Cacheable, GitError> {
    let mut walk = Walk {
        repo,
        sink,
        placeholders: Placeholders::new(repo, archived),
        rules: AttributeRules::new()?,
        path: archived.folder.clone(),
        top: archived.folder.len(),
        folders: Vec::new(),
        content: Vec::new(),
    };
    walk.enter(archived.tree)?;
    if walk.top > 0 {
        walk.add_folders()?;
    } else {
        walk.folders[0].added = true;
    }
    while walk.step()? {}
    Ok(if walk.placeholders.depends_on_repository() { Cacheable::No } else { Cacheable::Yes })
}

struct Walk<'a> {
    repo: &'a gix::Repository,
    sink: &'a mut dyn Sink,
    placeholders: Placeholders<'a>,
    rules: AttributeRules,
    /// The path of the current entry in the archive.
    path: Vec<u8>,
    /// The offset in `path` at which the path in the repository begins.
    top: usize,
    /// The current folder and its ancestors.
    folders: Vec<Folder>,
    /// The content of the current file. The buffer is reused.
    content: Vec<u8>,
}

struct Folder {
    id: gix::ObjectId,
    entries: Vec<u8>,
    /// The offset of the next entry.
    next: usize,
    /// The length of the folder's path, including the slash.
    path: usize,
    /// Whether the folder has a `.gitattributes` file in effect.
    rules: bool,
    /// Whether the folder is in the archive. It is added when the walk meets its first entry that is not a folder.
    added: bool,
}

impl Walk<'_> {
    /// Visits the next entry. Returns `false` at the end.
    fn step(&mut self) -> Result<bool, GitError> {
        let Some(folder) = self.folders.last_mut() else { return Ok(false) };
        self.path.truncate(folder.path);
        let rest = &folder.entries[folder.next..];
        let mut entries = TreeRefIter::from_bytes(rest, gix::hash::Kind::Sha1);
        let Some(entry) = entries.next() else {
            if folder.rules {
                self.rules.leave();
            }
            self.folders.pop();
            return Ok(true);
        };
        let EntryRef { mode, filename, oid } = entry.map_err(failed)?;
        let (kind, id) = (mode.kind(), oid.to_owned());
        let safe = is_safe_name(filename);
        self.path.extend_from_slice(filename);
        folder.next += entries.offset_to_next_entry(rest);
        if safe {
            self.visit(kind, id)?;
        }
        Ok(true)
    }

    fn visit(&mut self, kind: EntryKind, id: gix::ObjectId) -> Result<(), GitError> {
        if kind == EntryKind::Tree {
            let attributes = self.rules.attributes_of(self.path[self.top..].as_bstr(), true);
            if !attributes.ignored {
                self.path.push(b'/');
                self.enter(id)?;
            }
            return Ok(());
        }
        // As in git, a folder is added even if all its files have `export-ignore`.
        self.add_folders()?;
        let submodule = kind == EntryKind::Commit;
        let attributes = self.rules.attributes_of(self.path[self.top..].as_bstr(), submodule);
        if attributes.ignored {
            return Ok(());
        }
        match kind {
            EntryKind::Commit => {
                self.path.push(b'/');
                self.add(id, Kind::Folder)
            }
            EntryKind::Link => {
                let stored = self.find(id)?;
                if stored.size > LONGEST_TARGET {
                    return Err(GitError::Failed(format!("the link {id} is too long")));
                }
                let mut content = std::mem::take(&mut self.content);
                stored.read(self.repo, &mut content)?;
                self.add(id, Kind::Link { target: &content })?;
                self.content = content;
                Ok(())
            }
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Tree => {
                let executable = kind == EntryKind::BlobExecutable;
                let stored = self.find(id)?;
                let changed =
                    (attributes.subst || attributes.converted) && stored.size <= LARGEST_CHANGED;
                if !changed && stored.size > SMALL {
                    let content = Content::Stored(stored);
                    return self.add(id, Kind::File { executable, content });
                }
                let mut content = std::mem::take(&mut self.content);
                stored.read(self.repo, &mut content)?;
                if changed && attributes.converted {
                    self.rules.convert(self.path[self.top..].as_bstr(), id, &mut content)?;
                }
                if changed && attributes.subst {
                    self.placeholders.replace(&mut content)?;
                }
                self.add(id, Kind::File { executable, content: Content::InMemory(&content) })?;
                self.content = content;
                Ok(())
            }
        }
    }

    /// Enters the folder at the current path.
    fn enter(&mut self, id: gix::ObjectId) -> Result<(), GitError> {
        if self.folders.len() == DEEPEST {
            return Err(GitError::Failed("folders are nested too deeply".to_owned()));
        }
        let entries = self.read_tree(id)?;
        let mut rules = None;
        for entry in TreeRefIter::from_bytes(&entries, gix::hash::Kind::Sha1) {
            let entry = entry.map_err(failed)?;
            if entry.filename == ".gitattributes" && entry.mode.is_blob() {
                rules = Some(entry.oid.to_owned());
            }
        }
        let path = self.path.len();
        let rules = match rules.map(|id| self.find(id)).transpose()? {
            Some(stored) if stored.size <= SMALL => {
                let mut content = Vec::new();
                stored.read(self.repo, &mut content)?;
                let folder = &self.path[self.top..];
                let folder = folder.strip_suffix(b"/").unwrap_or(folder);
                self.rules.enter(folder.as_bstr(), &content)?;
                true
            }
            _ => false,
        };
        self.folders.push(Folder { id, entries, next: 0, path, rules, added: false });
        Ok(())
    }

    fn read_tree(&self, id: gix::ObjectId) -> Result<Vec<u8>, GitError> {
        let mut entries = Vec::new();
        if id != gix::ObjectId::empty_tree(gix::hash::Kind::Sha1) {
            match self.repo.objects.try_find(&id, &mut entries).map_err(failed)? {
                Some(found) if found.kind == gix::objs::Kind::Tree => {}
                _ => return Err(missing_object(id)),
            }
        }
        Ok(entries)
    }

    /// Adds the current folder and its ancestors, unless they are in the archive already.
    fn add_folders(&mut self) -> Result<(), GitError> {
        let first = self.folders.iter().rposition(|folder| folder.added).map_or(0, |at| at + 1);
        for folder in &mut self.folders[first..] {
            let path = &self.path[..folder.path];
            self.sink.add(self.repo, &Entry { path, id: folder.id, kind: Kind::Folder })?;
            folder.added = true;
        }
        Ok(())
    }

    fn add(&mut self, id: gix::ObjectId, kind: Kind<'_>) -> Result<(), GitError> {
        self.sink.add(self.repo, &Entry { path: &self.path, id, kind })
    }

    /// Finds a blob that a tree refers to, so it must exist.
    fn find(&self, id: gix::ObjectId) -> Result<StoredBlob, GitError> {
        StoredBlob::find(self.repo, id).map_err(|error| match error {
            GitError::Missing => missing_object(id),
            error => error,
        })
    }
}

/// The error for a missing object of an existing commit: the repository is damaged.
fn missing_object(id: gix::ObjectId) -> GitError {
    GitError::Corrupt(format!("the object {id} is missing"))
}

/// Returns whether a name is safe. Names such as `..`, which git never creates, would let an archive write outside of
/// its folder.
fn is_safe_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/')
}
