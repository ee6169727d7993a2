//! Answers that are written piece by piece on a thread made for waiting, while the caller reads.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::SizedStream;
use actix_web::web::{Bytes, BytesMut};
use actix_web::{HttpResponse, HttpResponseBuilder};
use futures_util::Stream;
use hexforge_application::error::Error;
use hexforge_domain::ports::git::GitError;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

use crate::error::{ApiError, ApiResult};

/// How much is sent at once.
const PIECE: usize = 64 * 1024;

/// How long a reader may take no piece before it counts as gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many pieces wait for a slow reader.
const WAITING: usize = 4;

type Piece = Result<Bytes, GitError>;

/// What is being written. Its beginning is there already, so an error can still be an answer.
pub struct Body {
    first: Option<Bytes>,
    rest: Receiver<Piece>,
}

/// Starts to write; answers with the error when nothing could be written.
pub async fn start(
    write: impl FnOnce(&mut dyn Write) -> Result<(), GitError> + Send + 'static,
) -> ApiResult<Body> {
    let (sender, mut rest) = channel(WAITING);
    let (span, runtime) = (tracing::Span::current(), Handle::current());
    // Nobody waits for the thread: it ends when all is read, or when the reader is gone.
    drop(actix_web::rt::task::spawn_blocking(move || {
        let _entered = span.enter();
        let mut pipe = Pipe { sender, runtime, waiting: BytesMut::with_capacity(PIECE) };
        let written = write(&mut pipe).and_then(|()| pipe.flush().map_err(GitError::ReaderGone));
        if let Err(error) = written {
            let _ = pipe.send(Err(error));
        }
    }));
    match rest.recv().await {
        Some(Ok(first)) => Ok(Body { first: Some(first), rest }),
        Some(Err(error)) => Err(ApiError::from(Error::Git(error))),
        None => Ok(Body { first: None, rest }),
    }
}

impl Body {
    /// The answer, of a length that is known.
    pub fn of_size(self, size: u64, response: &mut HttpResponseBuilder) -> HttpResponse {
        response.body(SizedStream::new(size, self))
    }

    /// The answer, of a length that shows at its end.
    pub fn of_unknown_size(self, response: &mut HttpResponseBuilder) -> HttpResponse {
        response.streaming(self)
    }
}

impl Stream for Body {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        self.rest.poll_recv(context).map(|piece| {
            piece.map(|piece| {
                piece.map_err(|error| {
                    // The status is sent already: only a broken answer tells that something is missing.
                    tracing::error!(cause = %error, "an answer could not be finished");
                    io::Error::other(error)
                })
            })
        })
    }
}

/// Hands on what is written in pieces.
struct Pipe {
    sender: Sender<Piece>,
    runtime: Handle,
    waiting: BytesMut,
}

impl Pipe {
    fn send(&self, piece: Piece) -> io::Result<()> {
        let sent = self.runtime.block_on(timeout(PATIENCE, self.sender.send(piece)));
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the reader is gone")),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the reader does not read")),
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.waiting.len());
        self.waiting.extend_from_slice(&bytes[..taken]);
        if self.waiting.len() == PIECE {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.waiting, BytesMut::with_capacity(PIECE)).freeze();
        self.send(Ok(piece))
    }
}
