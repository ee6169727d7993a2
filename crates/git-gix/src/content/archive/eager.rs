//! A buffer that holds nothing back at first.

use std::io::{self, BufWriter, Write};

/// How much is gathered before it is handed on.
const PIECE: usize = 64 << 10;

/// Hands on the first bytes at once, so that whoever waits sees that something is coming, and all others
/// in large pieces.
pub(super) struct Eager<W: Write> {
    to: BufWriter<W>,
    begun: bool,
}

impl<W: Write> Eager<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to: BufWriter::with_capacity(PIECE, to), begun: false }
    }

    pub(super) fn finish(self) -> io::Result<W> {
        self.to.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl<W: Write> Write for Eager<W> {
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
