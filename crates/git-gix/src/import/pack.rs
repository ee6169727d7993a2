//! The objects that another server sends: indexed as they come, and looked for afterwards.

use std::fs::{self, File};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use gix::bstr::ByteSlice;
use gix_pack::bundle::write::{Options, Outcome};
use hexforge_domain::ports::imports::ImportError;

use super::listing::Listing;
use super::stream::{broken, too_late};
use super::{disk, failed, strange};
use crate::durable::sync_folder;
use crate::receive::{self, check::Wrong};
use crate::store::open_folder;

/// Nothing that is held in memory at once is larger, so neither is any object. A small pack can be one of
/// huge objects.
pub(crate) const LARGEST_OBJECT: usize = 1 << 30;

/// Others use this machine too.
pub(crate) const THREADS: usize = 2;

/// Puts a pack into a repository, whole or not at all; answers where its index is.
pub(crate) fn index(
    pack: &mut dyn BufRead,
    repository: &Path,
    deadline: Instant,
) -> Result<PathBuf, ImportError> {
    let folder = repository.join("objects").join("pack");
    let mut kept = Kept { inner: pack, failure: None };
    let stop = AtomicBool::new(false);
    let outcome = interrupted_at(deadline, &stop, || write(&mut kept, &folder, &stop));
    let outcome = match (outcome, kept.failure.take()) {
        (Ok(outcome), _) => outcome,
        (Err(_), Some(failure)) => return Err(broken(failure)),
        (Err(_), None) if stop.load(Ordering::Relaxed) => return Err(too_late()),
        (Err(error), None) => {
            tracing::info!(%error, "an imported pack is not valid");
            return Err(strange("its objects cannot be read"));
        }
    };
    let (Some(data), Some(index)) = (outcome.data_path, outcome.index_path) else {
        return Err(strange("no objects"));
    };
    let mut file = File::open(&data).map_err(disk)?;
    // What came after the pack would be part of the file, which no git takes for a pack then.
    if last_bytes(&mut file).map_err(disk)? != outcome.index.data_hash.as_slice() {
        return Err(strange("more than objects"));
    }
    file.sync_all().and_then(|()| File::open(&index)?.sync_all()).map_err(disk)?;
    if let Some(keep) = outcome.keep_path {
        fs::remove_file(keep).map_err(disk)?;
    }
    sync_folder(&folder).map_err(|error| failed(&error))?;
    Ok(index)
}

fn write(pack: &mut dyn BufRead, folder: &Path, stop: &AtomicBool) -> gix::Result<Outcome> {
    let options = Options {
        thread_limit: Some(THREADS),
        alloc_limit_bytes: Some(LARGEST_OBJECT),
        ..Options::default()
    };
    let mut progress = gix::progress::Discard;
    // Nothing is here yet that objects could be based on.
    let others = None::<gix::OdbHandle>;
    let kind = gix::hash::Kind::Sha1;
    gix_pack::Bundle::write_to_directory(
        pack,
        Some(folder),
        &mut progress,
        stop,
        others,
        kind,
        options,
    )
}

/// Raises the flag when the time is over: putting objects together can take long after the last was sent.
pub(crate) fn interrupted_at<T>(
    deadline: Instant,
    stop: &AtomicBool,
    work: impl FnOnce() -> T,
) -> T {
    std::thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        scope.spawn(move || {
            let left = deadline.saturating_duration_since(Instant::now());
            if wait.recv_timeout(left) == Err(mpsc::RecvTimeoutError::Timeout) {
                stop.store(true, Ordering::Relaxed);
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// The checksum at the end of a pack.
fn last_bytes(file: &mut File) -> io::Result<[u8; 20]> {
    let mut bytes = [0; 20];
    file.seek(SeekFrom::End(-20))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A reader that keeps its failure, of which gix makes something of its own.
struct Kept<'a> {
    inner: &'a mut dyn BufRead,
    failure: Option<io::Error>,
}

impl Kept<'_> {
    fn keep<T>(failure: &mut Option<io::Error>, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            failure.get_or_insert(error);
            kind.into()
        })
    }
}

impl Read for Kept<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Self::keep(&mut self.failure, self.inner.read(buffer))
    }
}

impl BufRead for Kept<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Self::keep(&mut self.failure, self.inner.fill_buf())
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

/// Whether all objects are good and lead to others that are there, as those of a push have to; and whether every
/// ref leads to one, and every branch to a commit.
pub(crate) fn check(listing: &Listing, repository: &Path, index: &Path) -> Result<(), ImportError> {
    let repo = open_folder(repository).map_err(|error| failed(&error))?.to_thread_local();
    receive::check::pack(&repo, index).map_err(|wrong| match wrong {
        Wrong::Missing => strange("objects are missing"),
        Wrong::Forbidden(what) => strange(&what),
        Wrong::Failed(error) => failed(&error),
    })?;
    for (name, id) in &listing.refs {
        let header = repo.try_find_header(*id);
        let header = header.map_err(|_| strange("its objects cannot be read"))?;
        let kind = header.map(|header| header.kind());
        let fits = match kind {
            Some(kind) => kind.is_commit() || !name.starts_with(b"refs/heads/"),
            None => false,
        };
        if !fits {
            return Err(strange(&format!("`{}` leads to no object", name.to_str_lossy())));
        }
    }
    Ok(())
}
