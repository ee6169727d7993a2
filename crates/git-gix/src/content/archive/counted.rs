//! A writer that counts the bytes written.

use std::io::{self, Write};

pub(super) struct CountingWriter<W> {
    pub(super) to: W,
    pub(super) written: u64,
}

impl<W: Write> Write for CountingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
