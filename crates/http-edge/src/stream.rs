//! Responses that a thread for long work writes piece by piece while the client reads.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use actix_web::body::SizedStream;
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder};
use futures_util::Stream;
use hexforge_application::error::Error;
use hexforge_application::limiter::Limiter;
use hexforge_domain::limiter::Permit;
use hexforge_domain::ports::git::GitError;
use hexforge_io_bridge::PieceWriter;
use tokio::sync::mpsc::{Receiver, channel};

/// Bytes per piece.
const PIECE: usize = 64 * 1024;

/// Pieces that are buffered for a slow client.
const WAITING: usize = 4;

type Piece = Result<Bytes, Error>;

/// The body of a response that is being written. Its first piece exists already, so that an earlier error still becomes
/// an error response.
pub struct Body {
    first: Option<Bytes>,
    rest: Receiver<Piece>,
    /// Set when everything is written. If the pieces end without it, the writer failed.
    complete: Arc<AtomicBool>,
    ended: bool,
}

/// Starts to write, and waits for the first piece. Returns the error if there is none.
pub async fn start<E: Into<Error>>(
    limiter: &Limiter,
    permit: Permit,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E> + Send + 'static,
) -> Result<Body, Error> {
    let (sender, mut rest) = channel(WAITING);
    let complete = Arc::new(AtomicBool::new(false));
    let (span, done) = (tracing::Span::current(), Arc::clone(&complete));
    let pieces = sender.clone();
    let mut writer = PieceWriter::new(PIECE, limiter.transfer, async move |piece| {
        let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the reader is gone");
        pieces.send(Ok(piece)).await.map_err(gone)
    });
    // The thread is not joined: it ends when everything is read, or when the client is gone.
    let started = limiter.start(permit, move || {
        let _entered = span.enter();
        let written = write(&mut writer).map_err(E::into);
        match written.and_then(|()| Ok(writer.flush().map_err(GitError::ReaderGone)?)) {
            Ok(()) => done.store(true, Ordering::Release),
            // The response contains the error, so it is complete. It may not be the client's fault: branches may have
            // been removed since it read the refs.
            Err(Error::Git(GitError::Protocol(why))) if writer.has_sent() => {
                tracing::debug!(why, "a git client sent an invalid request");
                done.store(true, Ordering::Release);
            }
            // So is the response to a git client whose project was removed meanwhile.
            Err(Error::NotFound(_)) if writer.has_sent() => {
                tracing::debug!("a project was removed while its repository was read");
                done.store(true, Ordering::Release);
            }
            Err(Error::Git(GitError::ReaderGone(cause))) => {
                tracing::debug!(%cause, "the client disconnected before it had read the response");
            }
            Err(error) => {
                if writer.has_sent() {
                    tracing::error!(cause = %error, "a response could not be finished");
                }
                // There is room before the first piece. Later the channel may be full, but then `complete` is missing,
                // so the response is broken off anyway.
                let _ = sender.try_send(Err(error));
            }
        }
    });
    started.map_err(|error| Error::Internal(error.to_string()))?;
    let first = match rest.recv().await {
        Some(Ok(first)) => Some(first),
        Some(Err(error)) => return Err(error),
        None if complete.load(Ordering::Acquire) => None,
        None => {
            let why = "the writer of a response ended without a result";
            return Err(Error::Internal(why.to_owned()));
        }
    };
    Ok(Body { first, rest, complete, ended: false })
}

impl Body {
    /// A response whose length is known.
    pub fn of_size(self, size: u64, response: &mut HttpResponseBuilder) -> HttpResponse {
        response.body(SizedStream::new(size, self))
    }

    /// A response whose length is not known.
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
        if self.ended {
            return Poll::Ready(None);
        }
        match self.rest.poll_recv(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(piece))) => Poll::Ready(Some(Ok(piece))),
            Poll::Ready(None) if self.complete.load(Ordering::Acquire) => Poll::Ready(None),
            // The status is sent already, so the connection is broken off to show that something is missing.
            Poll::Ready(broken) => {
                self.ended = true;
                Poll::Ready(Some(Err(match broken {
                    Some(Err(error)) => io::Error::other(error),
                    _ => io::ErrorKind::UnexpectedEof.into(),
                })))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use hexforge_domain::limiter::{Caller, PermitLimits, PermitPool, TransferLimits};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    async fn started(
        write: impl FnOnce(&mut dyn Write) -> Result<(), GitError> + Send + 'static,
    ) -> Result<Body, Error> {
        let pool = PermitPool::new(PermitLimits { total: 1, per_holder: 1, per_network: 1 });
        let permit = pool.wait_for_permit(Caller::BACKGROUND).await.expect("it is free");
        let limits = TransferLimits { idle: Duration::from_millis(200), min_rate: 1 << 20 };
        start(&Limiter::new(limits), permit, write).await
    }

    /// The number of bytes received, and whether the stream ended without an error.
    async fn read(mut body: Body) -> (usize, bool) {
        let mut length = 0;
        while let Some(piece) = body.next().await {
            match piece {
                Ok(piece) => length += piece.len(),
                Err(_) => return (length, false),
            }
        }
        (length, true)
    }

    fn put(to: &mut dyn Write, length: usize) -> Result<(), GitError> {
        to.write_all(&vec![7; length]).map_err(GitError::ReaderGone)
    }

    #[actix_web::test]
    async fn what_is_written_is_read() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 20 * PIECE + 3] {
            let body = started(move |to| put(to, length)).await.expect("it starts");
            assert_eq!(read(body).await, (length, true));
        }
    }

    #[actix_web::test]
    async fn an_error_before_anything_is_sent_is_an_answer() {
        assert!(started(|_| Err(GitError::Missing)).await.is_err());
        let late = started(|to| put(to, 10).and(Err(GitError::Corrupt("x".into())))).await;
        assert!(late.is_err(), "what was not sent yet is forgotten");
    }

    #[actix_web::test]
    async fn an_error_in_the_middle_breaks_the_answer() {
        let damaged = |to: &mut dyn Write| put(to, PIECE).and(Err(GitError::Corrupt("x".into())));
        assert_eq!(read(started(damaged).await.expect("it starts")).await, (PIECE, false));
    }

    #[actix_web::test]
    async fn a_protocol_error_that_was_sent_completes_the_response() {
        let told = |to: &mut dyn Write| {
            put(to, 10)?;
            to.flush().map_err(GitError::ReaderGone)?;
            Err(GitError::Protocol("not our ref".into()))
        };
        assert_eq!(read(started(told).await.expect("it starts")).await, (10, true));
    }

    #[actix_web::test]
    async fn a_writer_that_panics_does_not_end_well() {
        let broken = |to: &mut dyn Write| {
            put(to, PIECE)?;
            panic!("as a library may")
        };
        assert_eq!(read(started(broken).await.expect("it starts")).await, (PIECE, false));
        assert!(started(|_| panic!("at once")).await.is_err());
    }

    #[actix_web::test]
    async fn a_reader_that_takes_nothing_frees_the_writer() {
        let (ended, end) = mpsc::channel();
        let write = move |to: &mut dyn Write| {
            let written = put(to, 20 * PIECE);
            ended.send(written.is_err()).expect("the test waits");
            written
        };
        let body = started(write).await.expect("it starts");
        let stopped =
            tokio::task::spawn_blocking(move || end.recv_timeout(Duration::from_secs(10)));
        assert_eq!(stopped.await.expect("it waits"), Ok(true));
        let (length, ended_well) = read(body).await;
        assert!(length < 20 * PIECE && !ended_well, "{length}");
    }

    #[actix_web::test]
    async fn a_reader_that_takes_a_piece_now_and_then_frees_the_writer() {
        let mut body = started(|to| put(to, 100 * PIECE)).await.expect("it starts");
        let mut length = 0;
        let ended_well = loop {
            tokio::time::sleep(Duration::from_millis(120)).await;
            match body.next().await {
                Some(Ok(piece)) => length += piece.len(),
                Some(Err(_)) => break false,
                None => break true,
            }
        };
        assert!(length < 100 * PIECE && !ended_well, "{length}");
    }

    #[actix_web::test]
    async fn a_reader_that_goes_away_frees_the_writer() {
        let (ended, end) = mpsc::channel();
        let write = move |to: &mut dyn Write| {
            let written = put(to, 20 * PIECE);
            ended.send(written.is_err()).expect("the test waits");
            written
        };
        drop(started(write).await.expect("it starts"));
        let stopped =
            tokio::task::spawn_blocking(move || end.recv_timeout(Duration::from_secs(10)));
        assert_eq!(stopped.await.expect("it waits"), Ok(true));
    }
}
