//! Writes data for a client on a blocking thread.

use std::io::{self, Write};

use bytes::{Bytes, BytesMut};
use hexforge_domain::limiter::{TransferLimits, TransferRate};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

/// Collects the output of a blocking thread, and sends it in pieces.
#[derive(Debug)]
pub struct PieceWriter<S> {
    send: S,
    runtime: Handle,
    rate: TransferRate,
    size: usize,
    buffer: BytesMut,
    has_sent: bool,
}

impl<S: AsyncFnMut(Bytes) -> io::Result<()>> PieceWriter<S> {
    /// Creates a writer that sends pieces of at most this size. Must be called inside a runtime.
    pub fn new(size: usize, limits: TransferLimits, send: S) -> Self {
        let (runtime, rate) = (Handle::current(), TransferRate::new(limits));
        let buffer = BytesMut::with_capacity(size);
        Self { send, runtime, rate, size, buffer, has_sent: false }
    }

    /// Returns true if a piece was passed to `send`.
    pub fn has_sent(&self) -> bool {
        self.has_sent
    }
}

impl<S: AsyncFnMut(Bytes) -> io::Result<()>> Write for PieceWriter<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.size - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == self.size {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.has_sent = true;
        let buffer = BytesMut::with_capacity(self.size);
        let piece = std::mem::replace(&mut self.buffer, buffer).freeze();
        let (send, rate) = (&mut self.send, &mut self.rate);
        self.runtime.block_on(async {
            let (size, since) = (piece.len(), Instant::now());
            let sent = timeout(rate.timeout(), send(piece)).await;
            rate.record(since.elapsed(), size);
            sent.unwrap_or_else(|_| {
                Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the client reads nothing any more, or too slowly",
                ))
            })
        })
    }
}
