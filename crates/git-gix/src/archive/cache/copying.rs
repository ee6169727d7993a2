//! Hands data on and keeps a copy, as long as that works.

use std::io::{self, Write};

use tempfile::NamedTempFile;

/// A writer to a reader, who must get everything, and to a file, which may fail.
pub(super) struct Copying<'a> {
    to: &'a mut dyn Write,
    copy: Option<NamedTempFile>,
    /// How much more the copy may take.
    room: u64,
}

impl<'a> Copying<'a> {
    pub(super) fn new(to: &'a mut dyn Write, copy: Option<NamedTempFile>, room: u64) -> Self {
        Self { to, copy, room }
    }

    /// The copy, if it is whole.
    pub(super) fn finish(self) -> Option<NamedTempFile> {
        self.copy
    }

    fn keep(&mut self, bytes: &[u8]) {
        let Some(copy) = &mut self.copy else { return };
        let kept = match self.room.checked_sub(bytes.len() as u64) {
            Some(room) => {
                self.room = room;
                copy.write_all(bytes)
            }
            None => Err(io::ErrorKind::FileTooLarge.into()),
        };
        if let Err(error) = kept {
            tracing::debug!(%error, "an archive is not kept");
            // This removes the file, and gives the room back at once.
            self.copy = None;
        }
    }
}

impl Write for Copying<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.keep(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
