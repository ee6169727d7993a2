//! Where the objects of a push are until it is taken: a repository of their own that sees those of the real one.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use gix_pack::bundle::write::Options;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use tempfile::TempDir;

use crate::error::io as disk;
use crate::error::{chain, failed, is_of_the_machine};
use crate::import::pack::{LARGEST_OBJECT, THREADS, interrupted_at};
use crate::store::{OpenRepository, Shared, init, open_folder, put_pack};

/// The most bytes that one push can bring.
const MOST_BYTES: u64 = 10 << 30;

/// How long it may take to put the objects of a push together.
const MOST_TIME: Duration = Duration::from_secs(3 * 60 * 60);

/// New objects.
pub(super) struct Quarantine {
    #[expect(dead_code, reason = "the folder goes when this is dropped")]
    folder: TempDir,
    /// The pack and its index, if there are any objects.
    files: Option<(PathBuf, PathBuf)>,
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
        init(folder.path())?;
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
        self.files.as_ref().map(|(_, index)| index)
    }

    /// Makes the objects part of a repository, on disk.
    pub(super) fn release(&mut self, open: &OpenRepository) -> Result<(), GitError> {
        let Some((data, index)) = self.files.take() else { return Ok(()) };
        let packs = open.git_dir().join("objects").join("pack");
        fs::create_dir_all(&packs).map_err(disk)?;
        put_pack(&data, &index, &packs)
    }
}

fn index(
    view: &gix::Repository,
    folder: &TempDir,
    from: &mut dyn Read,
) -> Result<Option<(PathBuf, PathBuf)>, Refused> {
    let options = Options {
        thread_limit: Some(THREADS),
        alloc_limit_bytes: Some(LARGEST_OBJECT),
        ..Options::default()
    };
    let packs = folder.path().join("objects").join("pack");
    let mut limited = Limited { inner: from, left: MOST_BYTES, failure: None };
    let stop = AtomicBool::new(false);
    let written = interrupted_at(Instant::now() + MOST_TIME, &stop, || {
        gix_pack::Bundle::write_to_directory(
            &mut BufReader::with_capacity(64 * 1024, &mut limited),
            Some(&packs),
            &mut gix::progress::Discard,
            &stop,
            Some(view.objects.clone()),
            gix::hash::Kind::Sha1,
            options,
        )
    });
    let outcome = match (written, limited.failure) {
        (Ok(outcome), _) => outcome,
        (Err(_), Some(failure)) => return Err(Refused::Bad(failure)),
        (Err(error), None) => {
            if is_of_the_machine(&error) {
                return Err(failed(error).into());
            }
            tracing::info!(error = chain(&error), "a pushed pack is not valid");
            // Nothing but its words tells that error from others.
            let why = if chain(&error).contains("too large to fit in memory") {
                format!(
                    "the pack is not valid, or has an object of more than {} MiB",
                    LARGEST_OBJECT >> 20
                )
            } else {
                "the pack is not valid".to_owned()
            };
            return Err(Refused::Bad(why));
        }
    };
    if let Some(keep) = &outcome.keep_path {
        fs::remove_file(keep).map_err(disk)?;
    }
    Ok(outcome.data_path.zip(outcome.index_path))
}

/// A reader that ends with an error when there is too much, and keeps what went wrong.
struct Limited<'a> {
    inner: &'a mut dyn Read,
    left: u64,
    failure: Option<String>,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.inner.read(buffer) {
            Ok(read) => read,
            Err(error) => {
                self.failure.get_or_insert(error.to_string());
                return Err(error.kind().into());
            }
        };
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                self.failure.get_or_insert("the pack is too large".to_owned());
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
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
            let mut limited = Limited { inner: &mut from, left, failure: None };
            let read = limited.read_to_end(&mut Vec::new());
            assert_eq!(read.is_ok(), is_enough, "{left}");
            assert_eq!(limited.failure.is_none(), is_enough, "{left}");
        }
    }
}
