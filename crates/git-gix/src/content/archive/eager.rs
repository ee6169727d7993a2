//! A buffered writer that flushes its first bytes at once.

use std::io::{self, BufWriter, Write};

/// The size of the buffer.
const PIECE: usize = 64 << 10;

/// Flushes the first write at once, so that the client sees the response begin, and buffers all later ones.
pub(super) struct EagerWriter<W: Write> {
    to: BufWriter<W>,
    begun: bool,
}

impl<W: Write> EagerWriter<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to: BufWriter::with_capacity(PIECE, to), begun: false }
    }

    pub(super) fn finish(self) -> io::Result<W> {
        self.to.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl<W: Write> Write for EagerWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        if !self.begun {
            self.begun = true;
            self.to.flush()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
