//! Where the objects of a push are until it is taken: a repository of their own that sees those of the real one.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use tempfile::TempDir;

use crate::error::io as disk;
use crate::intake::{self, Taken, Unfit};
use crate::store::{OpenRepository, Shared, init_for_objects, open_folder, put_pack};

/// The most bytes that one push can bring.
const MOST_BYTES: u64 = 10 << 30;

/// How long it may take to put the objects of a push together.
const MOST_TIME: Duration = Duration::from_secs(3 * 60 * 60);

/// New objects.
pub(super) struct Quarantine {
    #[expect(dead_code, reason = "the folder goes when this is dropped")]
    folder: TempDir,
    /// The pack and its index, if there are any objects.
    files: Option<Taken>,
    /// Sees the new objects and those that were there before.
    pub(super) view: gix::Repository,
}

/// Why objects were not taken in; the text is for the client.
pub(super) enum Refused {
    /// They are not right.
    Bad(String),
    /// Something is wrong here.
    Failed(GitError),
}

impl From<GitError> for Refused {
    fn from(error: GitError) -> Self {
        Refused::Failed(error)
    }
}

impl Quarantine {
    /// Takes in a pack, whose objects may be based on others that are there.
    pub(super) fn fill(
        shared: &Shared,
        project: ProjectId,
        from: &mut dyn Read,
    ) -> Result<Self, Refused> {
        let folder = shared.scratch()?;
        init_for_objects(folder.path())?;
        let objects = shared.layout.repository(project).join("objects");
        if objects.is_dir() {
            let objects = fs::canonicalize(objects).map_err(disk)?;
            let line = format!("{}\n", objects.display());
            fs::write(folder.path().join("objects/info/alternates"), line).map_err(disk)?;
        }
        let view = open_folder(folder.path())?.to_thread_local();
        let files = index(&view, &folder, from)?;
        Ok(Self { folder, files, view })
    }

    /// The index of the new objects, if there are any.
    pub(super) fn index(&self) -> Option<&PathBuf> {
        self.files.as_ref().map(|files| &files.index)
    }

    /// Makes the objects part of a repository, on disk.
    pub(super) fn release(&mut self, open: &OpenRepository) -> Result<(), GitError> {
        let Some(Taken { data, index }) = self.files.take() else { return Ok(()) };
        let packs = open.git_dir().join("objects").join("pack");
        fs::create_dir_all(&packs).map_err(disk)?;
        put_pack(&data, &index, &packs)
    }
}

fn index(
    view: &gix::Repository,
    folder: &TempDir,
    from: &mut dyn Read,
) -> Result<Option<Taken>, Refused> {
    let packs = folder.path().join("objects").join("pack");
    let mut limited = Limited { inner: from, left: MOST_BYTES };
    let stop = AtomicBool::new(false);
    let taken = intake::interrupted_at(Instant::now() + MOST_TIME, &stop, || {
        intake::take_in(&mut limited, &packs, Some(view), &stop)
    });
    taken.map_err(|unfit| match unfit {
        Unfit::Bad(what) => {
            tracing::info!(what, "a pushed pack is not valid");
            Refused::Bad(format!("the pack is not valid: it {what}"))
        }
        Unfit::Cut(error) => Refused::Bad(error.to_string()),
        Unfit::Stopped => Refused::Bad("the push took too long".to_owned()),
        Unfit::Failed(error) => Refused::Failed(error),
    })
}

/// A reader that ends with an error when there is too much.
struct Limited<'a> {
    inner: &'a mut dyn Read,
    left: u64,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left
            .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "the pack is too large"))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_ends_the_reading() {
        for (left, is_enough) in [(10, true), (9, false)] {
            let mut from = &b"0123456789"[..];
            let read = Limited { inner: &mut from, left }.read_to_end(&mut Vec::new());
            assert_eq!(read.is_ok(), is_enough, "{left}");
        }
    }
}
