//! Reads the data of a client on a blocking thread.

use std::io::{self, Read};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hexforge_domain::limiter::{TransferLimits, TransferRate};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// A piece of the client's data. If the sender is dropped before [`Piece::End`], the client has disconnected.
#[derive(Debug)]
pub enum Piece {
    /// The next bytes.
    Data(Bytes),
    /// The client has sent everything.
    End,
    /// Reading from the client failed.
    Broken(io::Error),
}

impl Piece {
    /// The number of bytes.
    pub fn size(&self) -> usize {
        match self {
            Piece::Data(bytes) => bytes.len(),
            Piece::End | Piece::Broken(_) => 0,
        }
    }

    /// The error for a client that sends too slowly.
    pub fn too_slow() -> io::Error {
        let text = "the client sends nothing any more, or too slowly";
        io::Error::new(io::ErrorKind::TimedOut, text)
    }
}

/// Creates a channel that buffers at most this many pieces. Must be called inside a runtime.
pub fn piece_channel(pieces: usize, limits: TransferLimits) -> (mpsc::Sender<Piece>, PieceReader) {
    let (sender, receiver) = mpsc::channel(pieces);
    let (runtime, rate) = (Handle::current(), TransferRate::new(limits));
    (sender, PieceReader { receiver, runtime, rate, piece: Bytes::new(), has_ended: false })
}

/// Reads pieces on a blocking thread.
#[derive(Debug)]
pub struct PieceReader {
    receiver: mpsc::Receiver<Piece>,
    runtime: Handle,
    rate: TransferRate,
    piece: Bytes,
    has_ended: bool,
}

impl PieceReader {
    /// Waits, without blocking a thread, until `is_enough` returns true or the client has sent everything, but no
    /// longer than `patience`. Returns true if any data arrived. Must be called before the first read.
    pub async fn begin(
        &mut self,
        patience: Duration,
        mut is_enough: impl FnMut(&[u8]) -> bool,
    ) -> bool {
        let mut early = BytesMut::new();
        let receive = async {
            while !is_enough(&early) {
                match self.receiver.recv().await {
                    Some(Piece::Data(bytes)) => early.extend_from_slice(&bytes),
                    Some(Piece::End) => return self.has_ended = true,
                    Some(Piece::Broken(_)) | None => return,
                }
            }
        };
        let _ = timeout(patience, receive).await;
        self.piece = early.freeze();
        !self.piece.is_empty()
    }

    /// Changes the limits for the following reads.
    pub fn set_limits(&mut self, limits: TransferLimits) {
        self.rate = TransferRate::new(limits);
    }

    fn receive(&mut self) -> io::Result<Piece> {
        let (receiver, rate) = (&mut self.receiver, &mut self.rate);
        self.runtime.block_on(async {
            let since = Instant::now();
            let next = timeout(rate.timeout(), receiver.recv()).await;
            let piece = next.map_err(|_| Piece::too_slow())?.ok_or_else(|| {
                io::Error::new(io::ErrorKind::ConnectionAborted, "the client has disconnected")
            })?;
            rate.record(since.elapsed(), piece.size());
            Ok(piece)
        })
    }
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !self.has_ended {
            match self.receive()? {
                Piece::Data(bytes) => self.piece = bytes,
                Piece::End => self.has_ended = true,
                Piece::Broken(error) => return Err(error),
            }
        }
        let length = buffer.len().min(self.piece.len());
        buffer[..length].copy_from_slice(&self.piece.split_to(length));
        Ok(length)
    }
}
