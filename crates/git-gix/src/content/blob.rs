//! Reads the contents of blobs of any size.

pub(crate) mod cache;
mod source;
#[cfg(test)]
mod tests;

use std::io::{self, Read, Seek, Write};
use std::sync::{Mutex, PoisonError};

use gix::objs::Find;
use hexforge_domain::ports::git::GitError;

use crate::error::{self, failed, reader_gone};
use crate::protocol::intake::LARGEST_DELTA;

/// Blobs up to this size are read into memory as a whole.
pub(crate) const SMALL: u64 = 4 << 20;

/// Locked while a large delta is decoded in memory, so that only one is decoded at a time.
static DECODING_LARGE_DELTA: Mutex<()> = Mutex::new(());

/// The buffer size for streaming larger blobs.
const PIECE: usize = 64 << 10;

/// Writes the content of a blob. Large blobs are streamed.
pub(crate) fn write(
    repo: &gix::Repository,
    id: gix::ObjectId,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    StoredBlob::find(repo, id)?.write(repo, to)
}

/// A blob in the object store: its size, and whether it is a delta.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredBlob {
    pub(crate) id: gix::ObjectId,
    pub(crate) size: u64,
    delta: bool,
}

impl StoredBlob {
    /// # Errors
    /// [`GitError::Missing`] when there is no such object, or when it is not a blob.
    pub(crate) fn find(repo: &gix::Repository, id: gix::ObjectId) -> Result<Self, GitError> {
        let header = repo.try_find_header(id).map_err(failed)?.ok_or(GitError::Missing)?;
        if header.kind() != gix::objs::Kind::Blob {
            return Err(GitError::Missing);
        }
        let delta = header.num_deltas().is_some_and(|deltas| deltas > 0);
        Ok(Self { id, size: header.size(), delta })
    }

    /// Reads the whole blob into the buffer. Only for small blobs.
    pub(crate) fn read(
        &self,
        repo: &gix::Repository,
        buffer: &mut Vec<u8>,
    ) -> Result<(), GitError> {
        let found = repo.objects.try_find(&self.id, buffer).map_err(failed)?;
        let length = found.ok_or(GitError::Missing)?.data.len();
        // The bytes after the content are left over from decoding deltas.
        buffer.truncate(length);
        Ok(())
    }

    /// Writes the content of the blob.
    pub(crate) fn write(&self, repo: &gix::Repository, to: &mut dyn Write) -> Result<(), GitError> {
        // Decoding a delta needs random access to its base, so both must be in memory.
        if self.delta && self.size > LARGEST_DELTA {
            return self.write_large_delta(repo, to);
        }
        if self.size > SMALL && !self.delta {
            // Two attempts: maintenance may move the object to another pack meanwhile.
            for _ in 0..2 {
                if let Some(source) = source::open(repo, self.id)? {
                    return self.stream(source, to);
                }
            }
        }
        let mut buffer = Vec::new();
        self.read(repo, &mut buffer)?;
        // Decoding used a buffer several times this size, and a slow reader would keep it allocated.
        buffer.shrink_to_fit();
        to.write_all(&buffer).map_err(reader_gone)
    }

    /// Writes a large blob that another git or an older version of this program stored as a delta. The blob is decoded
    /// into a temporary file, so that slow readers do not hold memory. Only one blob is decoded at a time.
    fn write_large_delta(
        &self,
        repo: &gix::Repository,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        let file = {
            let _only_one = DECODING_LARGE_DELTA.lock().unwrap_or_else(PoisonError::into_inner);
            let mut buffer = Vec::new();
            self.read(repo, &mut buffer)?;
            let mut file = tempfile::tempfile_in(repo.git_dir()).map_err(error::io_failed)?;
            file.write_all(&buffer).and_then(|()| file.rewind()).map_err(error::io_failed)?;
            file
        };
        self.stream(file, to)
    }

    fn stream(&self, mut from: impl Read, to: &mut dyn Write) -> Result<(), GitError> {
        let mut buffer = vec![0; PIECE];
        let mut written = 0;
        loop {
            let piece = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => &buffer[..length],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(error, self.id)),
            };
            written += piece.len() as u64;
            if written > self.size {
                break;
            }
            to.write_all(piece).map_err(reader_gone)?;
        }
        if written == self.size { Ok(()) } else { Err(damaged(self.id)) }
    }
}

/// Maps a read error: invalid data means that the object is damaged, other errors are I/O errors.
fn unreadable(error: io::Error, id: gix::ObjectId) -> GitError {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | UnexpectedEof => damaged(id),
        _ => error::io_failed(error),
    }
}

fn damaged(id: gix::ObjectId) -> GitError {
    GitError::Corrupt(format!("the object {id} cannot be read"))
}
