//! Sends an archive to the client and writes a copy for the cache.

use std::io::{self, Write};

use hexforge_domain::limiter::{Caller, Permit, PermitPool};
use hexforge_domain::ports::git::GitError;
use tempfile::NamedTempFile;

use super::LONGEST_WAIT;
use crate::block::wait_for;

/// Writes to the client, which must get everything, and to a cache file, whose errors are ignored.
pub(super) struct CopyingWriter<'a> {
    to: &'a mut dyn Write,
    copy: Option<NamedTempFile>,
    /// The number of bytes that the copy may still take.
    room: u64,
    /// The processor permits. The permit is released while a write to the client blocks.
    processors: Processors<'a>,
    permit: Option<Permit>,
}

/// The permits for processors, and the caller who needs one.
#[derive(Clone, Copy)]
pub(super) struct Processors<'a> {
    pub(super) pool: &'a PermitPool,
    pub(super) caller: Caller,
}

impl Processors<'_> {
    fn wait(self) -> Result<Permit, GitError> {
        match wait_for(&mut self.pool.wait_for_permit(self.caller), LONGEST_WAIT) {
            Some(Ok(permit)) => Ok(permit),
            Some(Err(_)) | None => Err(GitError::Busy),
        }
    }
}

impl<'a> CopyingWriter<'a> {
    /// Creates the writer after it got a processor permit.
    pub(super) fn new(
        to: &'a mut dyn Write,
        copy: Option<NamedTempFile>,
        room: u64,
        processors: Processors<'a>,
    ) -> Result<Self, GitError> {
        let permit = Some(processors.wait()?);
        Ok(Self { to, copy, room, processors, permit })
    }

    /// Writes to the client without holding a permit, then waits for a permit again.
    fn send_to_client<T>(
        &mut self,
        send: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<T> {
        self.permit = None;
        let done = send(self.to)?;
        let permit = self.processors.wait();
        self.permit = Some(permit.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?);
        Ok(done)
    }

    /// The copy, or `None` if writing it failed.
    pub(super) fn finish(self) -> Option<NamedTempFile> {
        self.copy
    }

    fn write_copy(&mut self, bytes: &[u8]) {
        let Some(copy) = &mut self.copy else { return };
        let kept = match self.room.checked_sub(bytes.len() as u64) {
            Some(room) => {
                self.room = room;
                copy.write_all(bytes)
            }
            None => Err(io::ErrorKind::FileTooLarge.into()),
        };
        if let Err(error) = kept {
            tracing::debug!(%error, "an archive is not cached because its copy cannot be written");
            // Dropping the copy removes the file and frees its disk space at once.
            self.copy = None;
        }
    }
}

impl Write for CopyingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.send_to_client(|to| to.write(bytes))?;
        self.write_copy(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_to_client(|to| to.flush())
    }
}
