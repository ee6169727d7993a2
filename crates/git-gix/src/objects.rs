//! Revisions, folders and files.

use std::io::Write;

use gix::object::tree::EntryKind as GixKind;
use gix::revision::spec::parse::ObjectKindHint;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{Blob, Depth, GitError, GitObjects};
use hexforge_domain::repository::{EntryKind, TreeEntry};

use crate::commit::{from_gix, to_gix};
use crate::error::failed;
use crate::repository::GixRepository;
use crate::{blob, text};

/// The longest revision that is looked at.
const LONGEST_REVISION: usize = 1000;

impl GitObjects for GixRepository {
    fn resolve(&self, revision: &str) -> Result<Option<ObjectId>, GitError> {
        let Some(bound) = self.bound() else { return Ok(None) };
        if !is_plain(revision) {
            return Ok(None);
        }
        let repo = bound.repo();
        let Some(id) = parse(repo, revision)? else { return Ok(None) };
        // The name of an object is taken for one whether it is there or not.
        let Some(object) = repo.try_find_object(id).map_err(failed)? else { return Ok(None) };
        peel(repo, object)
    }

    fn commit(&self, id: ObjectId) -> Result<Option<Commit>, GitError> {
        let Some(bound) = self.bound() else { return Ok(None) };
        let header = bound.repo().try_find_header(to_gix(id)).map_err(failed)?;
        match header {
            Some(header) if header.kind() == gix::object::Kind::Commit => {
                self.shared().commit(self.project(), bound.repo(), to_gix(id)).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn tree(&self, commit: ObjectId, path: &str, depth: Depth) -> Result<Vec<TreeEntry>, GitError> {
        let bound = self.bound().ok_or(GitError::Missing)?;
        let root = bound.repo().find_commit(to_gix(commit)).and_then(|commit| commit.tree());
        let root = root.map_err(failed)?;
        let folder = if path == "/" { "" } else { path.strip_suffix('/').unwrap_or(path) };
        let tree = if folder.is_empty() {
            root
        } else {
            match root.lookup_entry(parts(folder)) {
                Ok(Some(entry)) if entry.mode().is_tree() => {
                    entry.object().map_err(failed)?.into_tree()
                }
                Ok(_) => return Ok(Vec::new()),
                Err(error) => return Err(failed(error)),
            }
        };
        let mut entries = match depth {
            Depth::Folder => list(&tree, folder)?,
            Depth::Recursive => list_all(&tree, folder)?,
        };
        // The sort is stable: within each kind the order of git stays.
        entries.sort_by_key(|entry| entry.kind);
        Ok(entries)
    }

    fn blob_at(&self, commit: ObjectId, path: &str) -> Result<Option<Blob>, GitError> {
        let bound = self.bound().ok_or(GitError::Missing)?;
        let root = bound.repo().find_commit(to_gix(commit)).and_then(|commit| commit.tree());
        let root = root.map_err(failed)?;
        match root.lookup_entry(parts(path)).map_err(failed)? {
            Some(entry) if entry.mode().is_blob_or_symlink() => {
                let header = bound.repo().find_header(entry.object_id()).map_err(failed)?;
                Ok(Some(Blob { id: from_gix(entry.oid()), size: header.size() }))
            }
            _ => Ok(None),
        }
    }

    fn find_blob(&self, name: &str) -> Result<Option<Blob>, GitError> {
        let Some(bound) = self.bound() else { return Ok(None) };
        let repo = bound.repo();
        let Ok(prefix) = gix::hash::Prefix::from_hex(name) else { return Ok(None) };
        let found = repo.objects.lookup_prefix(prefix, None).map_err(failed)?;
        let Some(Ok(id)) = found else { return Ok(None) };
        let header = repo.find_header(id).map_err(failed)?;
        let is_blob = header.kind() == gix::object::Kind::Blob;
        Ok(is_blob.then(|| Blob { id: from_gix(&id), size: header.size() }))
    }

    fn write_blob(&self, id: ObjectId, to: &mut dyn Write) -> Result<(), GitError> {
        let bound = self.bound().ok_or(GitError::Missing)?;
        blob::write(bound.repo(), to_gix(id), to)
    }
}

/// The object that a revision names. What is unknown, ambiguous or malformed names none.
fn parse(repo: &gix::Repository, revision: &str) -> Result<Option<gix::ObjectId>, GitError> {
    let options = gix::revision::spec::parse::Options {
        object_kind_hint: Some(ObjectKindHint::Committish),
        ..Default::default()
    };
    match gix::revision::Spec::from_bstr(revision, repo, options) {
        Ok(spec) => Ok(spec.single().map(gix::Id::detach)),
        Err(error) if !error.is_corrupted() => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// The commit that an object is or leads to.
fn peel<'a>(
    repo: &'a gix::Repository,
    mut object: gix::Object<'a>,
) -> Result<Option<ObjectId>, GitError> {
    loop {
        match object.kind {
            gix::object::Kind::Commit => return Ok(Some(from_gix(&object.id))),
            gix::object::Kind::Tag => {
                let tag = object.try_into_tag().map_err(failed)?;
                let target = tag.target_id().map_err(failed)?.detach();
                object = repo.find_object(target).map_err(failed)?;
            }
            gix::object::Kind::Tree | gix::object::Kind::Blob => return Ok(None),
        }
    }
}

/// The names along a path, taken as they are: `.` and `..` are names that nothing has.
fn parts(path: &str) -> impl Iterator<Item = &[u8]> {
    path.as_bytes().split(|byte| *byte == b'/')
}

/// Whether a revision is a name with steps back at most: git has others that search through all history.
fn is_plain(revision: &str) -> bool {
    let strange = |c: char| c.is_control() || c == ' ' || c == ':';
    !revision.is_empty()
        && revision.len() <= LONGEST_REVISION
        && !revision.starts_with(['-', '^'])
        && !revision.contains(strange)
        && !["..", "@{", "^{", "^!", "^@", "^-"].iter().any(|form| revision.contains(form))
}

fn list(tree: &gix::Tree<'_>, folder: &str) -> Result<Vec<TreeEntry>, GitError> {
    let mut entries = Vec::new();
    for entry in tree.iter() {
        let entry = entry.map_err(failed)?;
        let name = text::path(entry.filename());
        entries.push(shown(entry.mode(), entry.oid(), below(folder, name)));
    }
    Ok(entries)
}

fn list_all(tree: &gix::Tree<'_>, folder: &str) -> Result<Vec<TreeEntry>, GitError> {
    let mut recorder = gix::traverse::tree::Recorder::default();
    tree.traverse().depthfirst(&mut recorder).map_err(failed)?;
    let entry = |entry: &gix::traverse::tree::recorder::Entry| {
        shown(entry.mode, &entry.oid, below(folder, text::path(&entry.filepath)))
    };
    Ok(recorder.records.iter().map(entry).collect())
}

fn below(folder: &str, name: String) -> String {
    if folder.is_empty() { name } else { format!("{folder}/{name}") }
}

fn shown(mode: gix::object::tree::EntryMode, id: &gix::oid, path: String) -> TreeEntry {
    let kind = match mode.kind() {
        GixKind::Tree => EntryKind::Tree,
        GixKind::Blob | GixKind::BlobExecutable | GixKind::Link => EntryKind::Blob,
        GixKind::Commit => EntryKind::Commit,
    };
    TreeEntry { id: from_gix(id), kind, mode: u32::from(mode.value()), path }
}
