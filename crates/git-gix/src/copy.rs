//! A repository that has the objects of another.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use hexforge_domain::ports::git::GitError;

use crate::durable::sync_folder;
use crate::error::io;

/// Gives a repository all objects of another. Objects are never changed, so both can have the same files.
pub(crate) fn copy(source: &Path, target: &Path) -> Result<(), GitError> {
    // What is packed anew meanwhile goes from one file into another; then it is looked for again.
    for _ in 0..TRIES {
        if link_objects(&source.join("objects"), &target.join("objects"))? == Linked::All {
            return sync_folder(target);
        }
    }
    Err(GitError::Busy)
}

/// How often a repository is looked through that is packed anew meanwhile.
const TRIES: u32 = 10;

/// Whether all files that were seen could be had.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linked {
    All,
    SomeWentAway,
}

fn link_objects(source: &Path, target: &Path) -> Result<Linked, GitError> {
    let mut linked = Linked::All;
    for entry in fs::read_dir(source).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_loose = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_loose || name == "pack" {
            let to = target.join(&*name);
            fs::create_dir_all(&to).map_err(io)?;
            if link_files(&entry.path(), &to)? == Linked::SomeWentAway {
                linked = Linked::SomeWentAway;
            }
            sync_folder(&to)?;
        }
    }
    sync_folder(target)?;
    Ok(linked)
}

fn link_files(source: &Path, target: &Path) -> Result<Linked, GitError> {
    let files = fs::read_dir(source).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut files = match files {
        // Empty folders of objects are removed when these are packed.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Linked::SomeWentAway),
        files => files.map_err(io)?,
    };
    // A pack counts once its index is there, so that comes last.
    files.sort_by_key(|file| file.path().extension().is_some_and(|extension| extension == "idx"));
    let mut linked = Linked::All;
    for file in files {
        let name = file.file_name();
        let shown = name.to_string_lossy();
        if shown.starts_with("tmp_") || shown.ends_with(".keep") || shown.ends_with(".lock") {
            continue;
        }
        let to = target.join(&name);
        match fs::hard_link(file.path(), &to) {
            Ok(()) => (),
            Err(error) => match error.kind() {
                // Linked when it was looked at before.
                ErrorKind::AlreadyExists => (),
                ErrorKind::NotFound => linked = Linked::SomeWentAway,
                // On another disk, or with too many links.
                _ => copy_file(&file.path(), &to)?,
            },
        }
    }
    Ok(linked)
}

fn copy_file(from: &Path, to: &Path) -> Result<(), GitError> {
    fs::copy(from, to).and_then(|_| fs::File::open(to)?.sync_all()).map_err(io)
}
