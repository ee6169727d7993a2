//! Connects the channels of an SSH connection with the threads on which git works: a reader and a writer. Both
//! buffer only a few pieces, so the faster side waits.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use hexforge_domain::limiter::TransferLimits;
use hexforge_domain::ports::git_transport::DisconnectSignal;
use hexforge_io_bridge::{Piece, PieceReader, PieceWriter};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// The number of pieces that wait for a busy reader. A piece is at most one SSH packet, whose size the server
/// limits.
const WAITING: usize = 16;

/// The number of bytes that are sent at once.
const PIECE: usize = 32 * 1024;

/// The sending side of a client's input, held by the connection. Dropping it tells the command that the client has
/// disconnected.
pub(crate) struct Feeder {
    sender: mpsc::Sender<Piece>,
    _alive: watch::Sender<()>,
}

/// The command did not read the client's data in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooSlow;

impl Feeder {
    /// Sends a piece of input, and waits until there is room. Drops it if the work has ended.
    pub(crate) async fn feed(&self, data: &[u8], patience: Duration) -> Result<(), TooSlow> {
        self.send(Piece::Data(Bytes::copy_from_slice(data)), patience).await
    }

    /// Signals that the client has sent all its input.
    pub(crate) async fn end(&self, patience: Duration) -> Result<(), TooSlow> {
        self.send(Piece::End, patience).await
    }

    async fn send(&self, piece: Piece, patience: Duration) -> Result<(), TooSlow> {
        match timeout(patience, self.sender.send(piece)).await {
            Ok(Ok(()) | Err(_)) => Ok(()),
            Err(_) => Err(TooSlow),
        }
    }
}

/// Resolves when the client has disconnected.
#[derive(Clone)]
pub(crate) struct Gone(watch::Receiver<()>);

impl Gone {
    /// Returns a signal for work that neither reads nor writes. It fires when the client has disconnected.
    pub(crate) fn disconnect_signal(&self) -> DisconnectSignal {
        let (disconnected, mut gone) = (DisconnectSignal::default(), self.clone());
        let signal = disconnected.clone();
        drop(tokio::spawn(async move {
            gone.wait().await;
            signal.signal();
        }));
        disconnected
    }

    async fn wait(&mut self) {
        // No value is ever sent: dropping the sender is the signal.
        while self.0.changed().await.is_ok() {}
    }
}

/// Creates both sides of a client's input. The client has to send within the limits.
pub(crate) fn channel(limits: TransferLimits) -> (Feeder, PieceReader, Gone) {
    let (sender, reader) = hexforge_io_bridge::piece_channel(WAITING, limits);
    let (alive, gone) = watch::channel(());
    (Feeder { sender, _alive: alive }, reader, Gone(gone))
}

/// Creates a writer for the work. The client has to receive within the limits.
pub(crate) fn output(
    mut gone: Gone,
    limits: TransferLimits,
    send: impl AsyncFn(Bytes) -> io::Result<()> + Send,
) -> PieceWriter<impl AsyncFnMut(Bytes) -> io::Result<()> + Send> {
    PieceWriter::new(PIECE, limits, async move |piece| {
        tokio::select! {
            biased;
            () = gone.wait() => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")),
            sent = send(piece) => sent,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    use tokio::time::Instant;

    use crate::beginning::Beginning;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(100);
    const PATIENT: TransferLimits = TransferLimits { idle: LONG, min_rate: 0 };
    const HURRIED: TransferLimits = TransferLimits { idle: SHORT, min_rate: 0 };

    async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        tokio::task::spawn_blocking(work).await.expect("it does not panic")
    }

    #[tokio::test]
    async fn input_is_read_up_to_its_end() {
        let (feeder, mut input, _gone) = channel(PATIENT);
        let read = tokio::task::spawn_blocking(move || {
            let mut text = String::new();
            input.read_to_string(&mut text).map(|_| text)
        });
        for piece in ["ab", "", "c"].into_iter().chain(["d"; 3 * WAITING]) {
            assert_eq!(feeder.feed(piece.as_bytes(), LONG).await, Ok(()));
        }
        assert_eq!(feeder.end(LONG).await, Ok(()));
        let text = read.await.expect("it does not panic").expect("a whole text");
        assert_eq!(text, format!("abc{}", "d".repeat(3 * WAITING)));
    }

    #[tokio::test]
    async fn input_without_an_end_means_a_disconnect() {
        let (feeder, mut input, _gone) = channel(PATIENT);
        feeder.feed(b"ab", LONG).await.expect("there is room");
        drop(feeder);
        let read = on_a_thread(move || input.read_to_end(&mut Vec::new())).await;
        assert_eq!(read.expect_err("it is closed").kind(), io::ErrorKind::ConnectionAborted);
    }

    #[tokio::test]
    async fn a_client_that_sends_nothing_is_given_up() {
        let (feeder, mut input, _gone) = channel(HURRIED);
        let read = on_a_thread(move || input.read_to_end(&mut Vec::new())).await;
        assert_eq!(read.expect_err("it waits no longer").kind(), io::ErrorKind::TimedOut);
        drop(feeder);
    }

    #[tokio::test]
    async fn a_client_that_sends_a_byte_now_and_then_is_given_up() {
        let limits = TransferLimits { idle: SHORT, min_rate: 1 << 20 };
        let (feeder, mut input, _gone) = channel(limits);
        let read = tokio::task::spawn_blocking(move || input.read_to_end(&mut Vec::new()));
        // Each byte arrives in time, but the rate is far too low.
        while !read.is_finished() {
            feeder.feed(b"x", LONG).await.expect("there is room");
            tokio::time::sleep(SHORT / 10).await;
        }
        let read = read.await.expect("it does not panic");
        assert_eq!(read.expect_err("it waits no longer").kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_for_the_beginning_has_its_own_time_limit() {
        let (feeder, mut input, _gone) = channel(HURRIED);
        let since = Instant::now();
        assert!(!Beginning::for_push().wait(&mut input, LONG).await);
        assert_eq!(since.elapsed(), LONG);
        let (trickling, mut trickled, _gone) = channel(HURRIED);
        let trickle = async {
            loop {
                tokio::time::sleep(Duration::from_secs(20)).await;
                trickling.feed(b"0", LONG).await.expect("there is room");
            }
        };
        let since = Instant::now();
        let begun = tokio::select! {
            begun = Beginning::for_push().wait(&mut trickled, LONG) => begun,
            () = trickle => unreachable!("it never ends"),
        };
        assert!(begun);
        assert_eq!(since.elapsed(), LONG, "bytes that come do not prolong it");
        drop(feeder);
    }

    #[tokio::test]
    async fn a_busy_reader_blocks_the_client() {
        let (feeder, input, _gone) = channel(PATIENT);
        for _ in 0..WAITING {
            feeder.feed(b"x", SHORT).await.expect("there is room");
        }
        assert_eq!(feeder.feed(b"x", SHORT).await, Err(TooSlow));
        drop(input);
        assert_eq!(feeder.feed(b"x", SHORT).await, Ok(()), "nobody wants it any more");
    }

    #[tokio::test]
    async fn the_beginning_is_awaited_without_a_thread() {
        let (feeder, mut input, _gone) = channel(PATIENT);
        feeder.feed(b"ab", LONG).await.expect("there is room");
        assert!(Beginning::for_fetch().wait(&mut input, LONG).await);
        feeder.end(LONG).await.expect("there is room");
        let all = on_a_thread(move || {
            let mut text = Vec::new();
            input.read_to_end(&mut text).map(|_| text)
        });
        assert_eq!(all.await.expect("a whole text"), b"ab");
        let (feeder, mut input, _gone) = channel(PATIENT);
        drop(feeder);
        assert!(!Beginning::for_fetch().wait(&mut input, LONG).await);
    }

    /// Creates a writer into a channel of one piece.
    fn output(gone: Gone) -> (impl Write + Send, mpsc::Receiver<Bytes>) {
        let (sender, receiver) = mpsc::channel(1);
        let send = async move |piece| {
            sender.send(piece).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        };
        (super::output(gone, HURRIED, send), receiver)
    }

    #[tokio::test]
    async fn what_is_written_arrives_in_pieces() {
        let (_feeder, _input, gone) = channel(PATIENT);
        let (mut output, mut pieces) = output(gone);
        let written = tokio::task::spawn_blocking(move || {
            output.write_all(&vec![7; 3 * PIECE + 5]).and_then(|()| output.flush())
        });
        let mut length = 0;
        while let Some(piece) = pieces.recv().await {
            assert!(piece.len() <= PIECE);
            length += piece.len();
        }
        assert!(written.await.expect("it does not panic").is_ok());
        assert_eq!(length, 3 * PIECE + 5);
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_frees_the_writer() {
        let (_feeder, _input, gone) = channel(PATIENT);
        let (mut output, _pieces) = output(gone);
        let written = on_a_thread(move || output.write_all(&vec![7; 10 * PIECE])).await;
        assert_eq!(written.expect_err("it is stuck").kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_disconnect_is_signaled_to_work_that_neither_reads_nor_writes() {
        let (feeder, _input, gone) = channel(PATIENT);
        let disconnected = gone.disconnect_signal();
        tokio::task::yield_now().await;
        assert!(!disconnected.is_signaled());
        drop(feeder);
        while !disconnected.is_signaled() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_disconnect_frees_the_writer() {
        let (feeder, _input, gone) = channel(PATIENT);
        let (mut output, _pieces) = output(gone);
        let written = tokio::task::spawn_blocking(move || output.write_all(&vec![7; 10 * PIECE]));
        drop(feeder);
        let written = written.await.expect("it does not panic");
        assert_eq!(written.expect_err("nobody reads").kind(), io::ErrorKind::BrokenPipe);
    }
}
