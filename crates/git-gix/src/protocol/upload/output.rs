//! The pack on its way to the client, in a band of its own if the client can tell bands apart.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use hexforge_domain::ports::git::GitError;

use crate::error::reader_gone;
use crate::protocol::packet::{self, Band, LONGEST_IN_BAND};

/// A client is told this often that we are still at work.
const SILENCE: Duration = Duration::from_millis(500);

/// How a client takes the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bands {
    /// As it is.
    None,
    /// In packets of at most 1000 bytes.
    Small,
    /// In packets as long as they can be.
    Large,
}

/// Where the pack is written to.
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

    /// How much of the pack is in one packet.
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
            packet::band(self.to, Band::Data, &self.buffer)?;
        }
        self.buffer.clear();
        Ok(())
    }

    /// Tells people what happens.
    pub(super) fn say(&mut self, text: &str) -> Result<(), GitError> {
        if self.progress {
            for piece in text.as_bytes().chunks(self.piece()) {
                packet::band(self.to, Band::Progress, piece).map_err(reader_gone)?;
            }
        }
        Ok(())
    }

    /// Tells people how far it went, and that we are still here, if that was not said for a while.
    pub(super) fn tick(&mut self, text: impl FnOnce() -> String) -> Result<(), GitError> {
        if self.bands == Bands::None || self.last.elapsed() < SILENCE {
            return Ok(());
        }
        self.last = Instant::now();
        if self.progress {
            self.say(&text())?;
        } else {
            // Nothing, in the band of the pack.
            packet::write(self.to, &[Band::Data as u8]).map_err(reader_gone)?;
        }
        self.to.flush().map_err(reader_gone)
    }

    /// Ends after everything was written.
    pub(super) fn end(mut self) -> Result<(), GitError> {
        self.send().map_err(reader_gone)?;
        if self.bands != Bands::None {
            packet::flush(self.to).map_err(reader_gone)?;
        }
        self.to.flush().map_err(reader_gone)
    }

    /// Ends before that; the client is told if it can be.
    pub(super) fn fail(self, why: &str) {
        if self.bands != Bands::None {
            // It may be gone already; that it was told nothing changes nothing.
            let _ = packet::band(self.to, Band::Error, format!("upload-pack: {why}\n").as_bytes())
                .and_then(|()| packet::flush(self.to))
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
