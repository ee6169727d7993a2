//! Writes commits with file changes.

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::object::Kind;
use gix::objs::WriteTo;
use gix::objs::tree::EntryKind;
use hexforge_domain::commit::Signature;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::{
    ChangeError, CommitOutcome, CommitText, FileChange, FileMode, MAX_FOLDERS, PathEntry,
    WrittenCommit,
};

use super::{NewObjects, TreeEditor};
use crate::content::commit::{from_gix, to_gix};
use crate::error::io_failed;
use crate::protocol::receive::check::{is_good_name, is_refused_file, is_special_file};
use crate::protocol::receive::fsck::AcceptedFaults;
use crate::storage::store::Shared;

/// The maximum length of a path in bytes, as in most file systems.
const LONGEST_PATH: usize = 4096;

/// Applies changes to a tree and writes a commit with it.
pub(super) fn write_changes(
    shared: &Shared,
    mut editor: TreeEditor<'_>,
    parent: Option<ObjectId>,
    changes: &[FileChange],
    text: &CommitText,
) -> Result<CommitOutcome, GitError> {
    check_text(text)?;
    let mut objects = NewObjects::default();
    for (number, change) in changes.iter().enumerate() {
        if let Err(why) = apply(&mut editor, change, &mut objects, shared.accepted_faults())? {
            return Ok(CommitOutcome::Impossible { change: number, why });
        }
    }
    let tree = editor.write(&mut objects)?;
    let parents: Vec<ObjectId> = parent.into_iter().collect();
    write(shared, objects, tree, &parents, text).map(CommitOutcome::Written)
}

/// Writes a commit and the new objects that it needs.
pub(super) fn write(
    shared: &Shared,
    mut objects: NewObjects,
    tree: ObjectId,
    parents: &[ObjectId],
    text: &CommitText,
) -> Result<WrittenCommit, GitError> {
    let commit = gix::objs::Commit {
        tree,
        parents: parents.iter().copied().collect(),
        author: signature(&text.author),
        committer: signature(&text.committer),
        encoding: None,
        message: text.message.as_str().into(),
        extra_headers: Vec::new(),
    };
    let mut data = Vec::new();
    commit.write_to(&mut data).map_err(io_failed)?;
    let id = objects.add(Kind::Commit, data)?;
    Ok(WrittenCommit { id: from_gix(&id), pack: objects.store(shared)? })
}

/// Refuses texts that would end a header early and so forge the next one.
pub(super) fn check_text(text: &CommitText) -> Result<(), GitError> {
    for person in [&text.author, &text.committer] {
        if [&person.name, &person.email].iter().any(|name| name.contains(['\n', '\0', '<', '>'])) {
            let message = "names and e-mail addresses of commits must not contain line breaks, NUL, `<` or `>`";
            return Err(GitError::Invalid(message.into()));
        }
    }
    Ok(())
}

fn signature(person: &Signature) -> gix::actor::Signature {
    gix::actor::Signature {
        name: person.name.as_str().into(),
        email: person.email.as_str().into(),
        time: gix::date::Time {
            seconds: person.at.timestamp(),
            offset: person.at.offset().local_minus_utc(),
        },
    }
}

/// Applies one change. The inner error says why it is impossible.
fn apply(
    editor: &mut TreeEditor<'_>,
    change: &FileChange,
    objects: &mut NewObjects,
    accepted: &AcceptedFaults,
) -> Result<Result<(), ChangeError>, GitError> {
    match change {
        FileChange::Write { path, content, mode } => {
            if !is_good_path(path) {
                return Ok(Err(ChangeError::InvalidPath));
            }
            let kept = match editor.path_entry(path.as_bytes())? {
                PathEntry::Missing => FileMode::Plain,
                PathEntry::File { mode, .. } => mode,
                PathEntry::BehindFile | PathEntry::Folder | PathEntry::Submodule(_) => {
                    return Ok(Err(ChangeError::Taken));
                }
            };
            let kind = kind_of(mode.unwrap_or(kept));
            if is_refused_file(file_name(path), kind, content, accepted) {
                return Ok(Err(ChangeError::InvalidContent));
            }
            let id = objects.add(Kind::Blob, content.clone())?;
            editor.set(path.as_bytes(), kind.into(), id)?;
        }
        FileChange::Remove { path } => match editor.path_entry(path.as_bytes())? {
            PathEntry::File { .. } | PathEntry::Submodule(_) => editor.remove(path.as_bytes())?,
            PathEntry::Missing | PathEntry::BehindFile | PathEntry::Folder => {
                let is_good = is_good_path(path);
                return Ok(Err(if is_good {
                    ChangeError::NotFound
                } else {
                    ChangeError::InvalidPath
                }));
            }
        },
        FileChange::Move { from, to, content } => {
            if !is_good_path(to) {
                return Ok(Err(ChangeError::InvalidPath));
            }
            let PathEntry::File { id, mode } = editor.path_entry(from.as_bytes())? else {
                return Ok(Err(ChangeError::NotFound));
            };
            if editor.path_entry(to.as_bytes())? != PathEntry::Missing {
                return Ok(Err(ChangeError::Taken));
            }
            let (id, kind) = (to_gix(id), kind_of(mode));
            let is_refused = match content {
                Some(content) => is_refused_file(file_name(to), kind, content, accepted),
                // A file that git does not interpret need not be read, and may be large.
                None if !is_special_file(file_name(to)) => false,
                None => {
                    is_refused_file(file_name(to), kind, &editor.read_blob(id, objects)?, accepted)
                }
            };
            if is_refused {
                return Ok(Err(ChangeError::InvalidContent));
            }
            let id = match content {
                Some(content) => objects.add(Kind::Blob, content.clone())?,
                None => id,
            };
            editor.remove(from.as_bytes())?;
            editor.set(to.as_bytes(), kind.into(), id)?;
        }
    }
    Ok(Ok(()))
}

fn file_name(path: &str) -> &BStr {
    path.rsplit('/').next().unwrap_or(path).into()
}

fn kind_of(mode: FileMode) -> EntryKind {
    match mode {
        FileMode::Plain => EntryKind::Blob,
        FileMode::Executable => EntryKind::BlobExecutable,
        FileMode::Link => EntryKind::Link,
    }
}

/// Returns whether a path may be written: by the rules for pushes, for each of its components.
fn is_good_path(path: &str) -> bool {
    path.len() <= LONGEST_PATH
        && path.split('/').count() <= MAX_FOLDERS + 1
        && !path.contains('\0')
        && path.split('/').all(|part| is_good_name(part.as_bytes().as_bstr()))
}
