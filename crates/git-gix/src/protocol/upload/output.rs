//! Writes the pack to the client, in a side band if the client supports one.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use hexforge_domain::ports::git::GitError;

use crate::error::reader_gone;
use crate::protocol::packet::{self, Band, LONGEST_IN_BAND};

/// After this much silence, a progress or keep-alive packet is sent.
const SILENCE: Duration = Duration::from_millis(500);

/// The side-band capability of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bands {
    /// No side band: the raw pack.
    None,
    /// `side-band`: packets of at most 1000 bytes.
    Small,
    /// `side-band-64k`: packets of the maximum length.
    Large,
}

/// The destination of the pack.
pub(super) struct Output<'a> {
    to: &'a mut dyn Write,
    bands: Bands,
    progress: bool,
    buffer: Vec<u8>,
    last: Instant,
}

impl<'a> Output<'a> {
    pub(super) fn new(to: &'a mut dyn Write, bands: Bands, progress: bool) -> Self {
        let progress = progress && bands != Bands::None;
        Self { to, bands, progress, buffer: Vec::new(), last: Instant::now() }
    }

    /// The number of pack bytes in one packet.
    fn piece(&self) -> usize {
        match self.bands {
            Bands::Small => 995,
            Bands::None | Bands::Large => LONGEST_IN_BAND,
        }
    }

    fn send(&mut self) -> io::Result<()> {
        self.last = Instant::now();
        if self.bands == Bands::None {
            self.to.write_all(&self.buffer)?;
        } else {
            packet::write_band(self.to, Band::Data, &self.buffer)?;
        }
        self.buffer.clear();
        Ok(())
    }

    /// Sends a progress message, if the client wants progress.
    pub(super) fn send_progress(&mut self, text: &str) -> Result<(), GitError> {
        if self.progress {
            for piece in text.as_bytes().chunks(self.piece()) {
                packet::write_band(self.to, Band::Progress, piece).map_err(reader_gone)?;
            }
        }
        Ok(())
    }

    /// Sends a progress message or an empty packet as keep-alive, if nothing was sent for [`SILENCE`].
    pub(super) fn keep_alive(&mut self, text: impl FnOnce() -> String) -> Result<(), GitError> {
        if self.bands == Bands::None || self.last.elapsed() < SILENCE {
            return Ok(());
        }
        self.last = Instant::now();
        if self.progress {
            self.send_progress(&text())?;
        } else {
            // An empty packet in the data band keeps the connection alive.
            packet::write(self.to, &[Band::Data as u8]).map_err(reader_gone)?;
        }
        self.to.flush().map_err(reader_gone)
    }

    /// Sends the rest of the buffer and ends the stream.
    pub(super) fn end(mut self) -> Result<(), GitError> {
        self.send().map_err(reader_gone)?;
        if self.bands != Bands::None {
            packet::write_flush(self.to).map_err(reader_gone)?;
        }
        self.to.flush().map_err(reader_gone)
    }

    /// Ends the stream with an error message, if the client supports side bands.
    pub(super) fn fail(self, why: &str) {
        if self.bands != Bands::None {
            // A write error is ignored: the client may be gone already.
            let _ = packet::write_band(
                self.to,
                Band::Error,
                format!("upload-pack: {why}\n").as_bytes(),
            )
            .and_then(|()| packet::write_flush(self.to))
            .and_then(|()| self.to.flush());
        }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let room = self.piece() - self.buffer.len();
        let taken = data.len().min(room);
        self.buffer.extend_from_slice(&data[..taken]);
        if taken == room {
            self.send()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
