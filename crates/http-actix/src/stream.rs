//! Answers that are written piece by piece on a thread made for waiting, while the caller reads.

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

use crate::error::{ApiError, ApiResult};

/// Bytes per piece.
const PIECE: usize = 64 * 1024;

/// Pieces that are buffered for a slow client.
const WAITING: usize = 4;

type Piece = Result<Bytes, Error>;

/// What is being written. Its beginning is there already, so an error can still be an answer.
pub struct Body {
    first: Option<Bytes>,
    rest: Receiver<Piece>,
    /// An end without this is none: the writer was stopped, or broke.
    complete: Arc<AtomicBool>,
    ended: bool,
}

/// Starts to write; answers with the error when nothing could be written.
pub async fn start<E: Into<Error>>(
    limiter: &Limiter,
    permit: Permit,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E> + Send + 'static,
) -> ApiResult<Body> {
    let (sender, mut rest) = channel(WAITING);
    let complete = Arc::new(AtomicBool::new(false));
    let (span, done) = (tracing::Span::current(), Arc::clone(&complete));
    let pieces = sender.clone();
    let mut writer = PieceWriter::new(PIECE, limiter.transfer, async move |piece| {
        let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the reader is gone");
        pieces.send(Ok(piece)).await.map_err(gone)
    });
    // The thread is not joined: it ends when everything is read, or when the client is gone.
    let begun = limiter.start(permit, move || {
        let _entered = span.enter();
        let written = write(&mut writer).map_err(E::into);
        match written.and_then(|()| Ok(writer.flush().map_err(GitError::ReaderGone)?)) {
            Ok(()) => done.store(true, Ordering::Release),
            // That it was told so is the answer: branches may be gone since the client heard of them.
            Err(Error::Git(GitError::Protocol(why))) if writer.has_sent() => {
                tracing::debug!(why, "a client was told what is wrong with what it said");
                done.store(true, Ordering::Release);
            }
            Err(Error::Git(GitError::ReaderGone(cause))) => {
                tracing::debug!(%cause, "an answer was not read");
            }
            Err(error) => {
                if writer.has_sent() {
                    tracing::error!(cause = %error, "an answer could not be finished");
                }
                // Also without room for the error the answer does not end well. Before the first piece there is room.
                let _ = sender.try_send(Err(error));
            }
        }
    });
    begun.map_err(|error| ApiError::internal(&error))?;
    let first = match rest.recv().await {
        Some(Ok(first)) => Some(first),
        Some(Err(error)) => return Err(error.into()),
        None if complete.load(Ordering::Acquire) => None,
        None => return Err(ApiError::internal(&"nothing was written")),
    };
    Ok(Body { first, rest, complete, ended: false })
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
        if self.ended {
            return Poll::Ready(None);
        }
        match self.rest.poll_recv(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(piece))) => Poll::Ready(Some(Ok(piece))),
            Poll::Ready(None) if self.complete.load(Ordering::Acquire) => Poll::Ready(None),
            // The status is sent already: only a broken answer tells that something is missing.
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
    use hexforge_domain::limiter::{Caller, Lane, Shares, TransferLimits};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    async fn started(
        write: impl FnOnce(&mut dyn Write) -> Result<(), GitError> + Send + 'static,
    ) -> ApiResult<Body> {
        let lane = Lane::new(Shares { all: 1, one: 1, network: 1 });
        let permit = lane.enter(Caller::BACKGROUND).await.expect("it is free");
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
    async fn what_a_client_did_wrong_is_an_answer_once_it_was_told() {
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
