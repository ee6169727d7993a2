//! Between the channels of a connection and the threads on which git works: something to read from and something to
//! write to. Both hold a few pieces at most; whoever is faster waits.

use std::future::Future;
use std::io::{self, Read, Write};
use std::time::Duration;

use hexforge_domain::limiter::{TransferLimits, TransferRate};
use hexforge_domain::ports::git_transport::HangUp;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::beginning::Beginning;

/// How many pieces wait for a busy reader. One is as large as the client's packets, which we keep small.
const WAITING: usize = 16;

/// How much of a push is read before there is a permit for it: commands for some 10,000 refs. Of a fetch the first piece
/// is enough.
const MOST_EARLY: usize = 1 << 20;

/// How much is sent at once.
const PIECE: usize = 32 * 1024;

/// What a client sends, until its end. If the sender goes without one the client is gone.
enum Piece {
    Data(Vec<u8>),
    End,
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Piece::Data(data) => data.len(),
            Piece::End => 0,
        }
    }
}

/// The side of the connection: hands on what comes, and lets the work know when the client is gone.
pub(crate) struct Feeder {
    sender: mpsc::Sender<Piece>,
    _alive: watch::Sender<()>,
}

/// The client took too long to be read, or to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooSlow;

impl Feeder {
    /// Waits until there is room. What nobody wants any more is dropped.
    pub(crate) async fn feed(&self, data: &[u8], patience: Duration) -> Result<(), TooSlow> {
        self.send(Piece::Data(data.to_vec()), patience).await
    }

    /// The client said all it had to say.
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

/// Resolves when the client is gone.
#[derive(Clone)]
pub(crate) struct Gone(watch::Receiver<()>);

impl Gone {
    /// A signal for work that neither reads nor writes: given when the client is gone.
    pub(crate) fn hang_up(&self) -> HangUp {
        let (hang_up, mut gone) = (HangUp::default(), self.clone());
        let signal = hang_up.clone();
        drop(tokio::spawn(async move {
            gone.wait().await;
            signal.signal();
        }));
        hang_up
    }

    async fn wait(&mut self) {
        // Nothing is ever sent: the end of the sender is the message.
        while self.0.changed().await.is_ok() {}
    }
}

/// The side of the work: reads what a client sends.
pub(crate) struct Input {
    receiver: mpsc::Receiver<Piece>,
    runtime: Handle,
    /// How long the beginning may take.
    silence: Duration,
    rate: TransferRate,
    piece: Vec<u8>,
    read: usize,
    has_ended: bool,
}

/// Both sides of what a client sends. Its beginning may take as long as `silence`; what follows has to come within
/// the limits.
pub(crate) fn channel(silence: Duration, limits: TransferLimits) -> (Feeder, Input, Gone) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let (alive, gone) = watch::channel(());
    let input = Input {
        receiver,
        runtime: Handle::current(),
        silence,
        rate: TransferRate::new(limits),
        piece: Vec::new(),
        read: 0,
        has_ended: false,
    };
    (Feeder { sender, _alive: alive }, input, Gone(gone))
}

impl Input {
    /// Waits, without a thread, until enough has come, all has come or as much as is kept; whether something came.
    pub(crate) async fn begin(&mut self, mut beginning: Beginning) -> bool {
        let mut early = Vec::new();
        let receive = async {
            while early.len() < MOST_EARLY && !beginning.is_enough(&early) {
                match self.receiver.recv().await {
                    Some(Piece::Data(data)) => early.extend_from_slice(&data),
                    Some(Piece::End) => return self.has_ended = true,
                    None => return,
                }
            }
        };
        let _ = timeout(self.silence, receive).await;
        let has_come = !early.is_empty();
        self.take(early);
        has_come
    }

    /// Changes the limits for what follows.
    pub(crate) fn limit(&mut self, limits: TransferLimits) {
        self.rate = TransferRate::new(limits);
    }

    fn take(&mut self, data: Vec<u8>) {
        (self.piece, self.read) = (data, 0);
    }

    fn next(&mut self) -> io::Result<Option<Piece>> {
        match self.receiver.try_recv() {
            Ok(piece) => {
                self.rate.moved(Duration::ZERO, piece.len());
                return Ok(Some(piece));
            }
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => {}
        }
        let (receiver, patience) = (&mut self.receiver, self.rate.patience());
        let (waited, next) = self.runtime.block_on(async {
            let since = Instant::now();
            let next = timeout(patience, receiver.recv()).await;
            (since.elapsed(), next)
        });
        let slow = "the client sends nothing any more, or too slowly";
        let next = next.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, slow))?;
        self.rate.moved(waited, next.as_ref().map_or(0, Piece::len));
        Ok(next)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.piece.len() && !self.has_ended {
            match self.next()? {
                Some(Piece::Data(data)) => self.take(data),
                Some(Piece::End) => self.has_ended = true,
                None => {
                    let gone = "the client is gone";
                    return Err(io::Error::new(io::ErrorKind::ConnectionAborted, gone));
                }
            }
        }
        let left = &self.piece[self.read..];
        let length = buffer.len().min(left.len());
        buffer[..length].copy_from_slice(&left[..length]);
        self.read += length;
        Ok(length)
    }
}

/// The side of the work: what is written goes to the client, which has to take it within the limits.
pub(crate) struct Output<S> {
    send: S,
    runtime: Handle,
    gone: Gone,
    rate: TransferRate,
    buffer: Vec<u8>,
}

impl<S, F> Output<S>
where
    S: Fn(Vec<u8>) -> F,
    F: Future<Output = io::Result<()>>,
{
    pub(crate) fn new(gone: Gone, limits: TransferLimits, send: S) -> Self {
        let buffer = Vec::with_capacity(PIECE);
        let rate = TransferRate::new(limits);
        Self { send, runtime: Handle::current(), gone, rate, buffer }
    }
}

impl<S, F> Write for Output<S>
where
    S: Fn(Vec<u8>) -> F,
    F: Future<Output = io::Result<()>>,
{
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == PIECE {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.buffer, Vec::with_capacity(PIECE));
        let size = piece.len();
        let (gone, sent) = (&mut self.gone, (self.send)(piece));
        let patience = self.rate.patience();
        let (waited, sent) = self.runtime.block_on(async move {
            let since = Instant::now();
            let sent = tokio::select! {
                biased;
                () = gone.wait() => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")),
                sent = timeout(patience, sent) => sent.unwrap_or_else(|_| {
                    Err(io::Error::new(io::ErrorKind::TimedOut, "the client is too slow"))
                }),
            };
            (since.elapsed(), sent)
        });
        self.rate.moved(waited, size);
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(100);
    const PATIENT: TransferLimits = TransferLimits { idle: LONG, min_rate: 0 };
    const HURRIED: TransferLimits = TransferLimits { idle: SHORT, min_rate: 0 };

    async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        tokio::task::spawn_blocking(work).await.expect("it does not panic")
    }

    #[tokio::test]
    async fn what_is_fed_is_read_up_to_its_end() {
        let (feeder, mut input, _gone) = channel(LONG, PATIENT);
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
    async fn without_an_end_the_client_is_gone() {
        let (feeder, mut input, _gone) = channel(LONG, PATIENT);
        feeder.feed(b"ab", LONG).await.expect("there is room");
        drop(feeder);
        let read = on_a_thread(move || input.read_to_end(&mut Vec::new())).await;
        assert_eq!(read.expect_err("it is cut").kind(), io::ErrorKind::ConnectionAborted);
    }

    #[tokio::test]
    async fn a_client_that_sends_nothing_is_given_up() {
        let (feeder, mut input, _gone) = channel(LONG, HURRIED);
        let read = on_a_thread(move || input.read_to_end(&mut Vec::new())).await;
        assert_eq!(read.expect_err("it waits no longer").kind(), io::ErrorKind::TimedOut);
        drop(feeder);
    }

    #[tokio::test]
    async fn a_client_that_sends_a_byte_now_and_then_is_given_up() {
        let limits = TransferLimits { idle: SHORT, min_rate: 1 << 20 };
        let (feeder, mut input, _gone) = channel(LONG, limits);
        let read = tokio::task::spawn_blocking(move || input.read_to_end(&mut Vec::new()));
        // Each byte comes in time, and all of them together much too slowly.
        while !read.is_finished() {
            feeder.feed(b"x", LONG).await.expect("there is room");
            tokio::time::sleep(SHORT / 10).await;
        }
        let read = read.await.expect("it does not panic");
        assert_eq!(read.expect_err("it waits no longer").kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_beginning_has_a_time_limit_of_its_own() {
        let (feeder, mut input, _gone) = channel(LONG, HURRIED);
        let since = Instant::now();
        assert!(!input.begin(Beginning::of_push()).await);
        assert_eq!(since.elapsed(), LONG);
        let (trickling, mut trickled, _gone) = channel(LONG, HURRIED);
        let trickle = async {
            loop {
                tokio::time::sleep(Duration::from_secs(20)).await;
                trickling.feed(b"0", LONG).await.expect("there is room");
            }
        };
        let since = Instant::now();
        let begun = tokio::select! {
            begun = trickled.begin(Beginning::of_push()) => begun,
            () = trickle => unreachable!("it never ends"),
        };
        assert!(begun);
        assert_eq!(since.elapsed(), LONG, "bytes that come do not prolong it");
        drop(feeder);
    }

    #[tokio::test]
    async fn a_busy_reader_holds_up_the_client() {
        let (feeder, input, _gone) = channel(LONG, PATIENT);
        for _ in 0..WAITING {
            feeder.feed(b"x", SHORT).await.expect("there is room");
        }
        assert_eq!(feeder.feed(b"x", SHORT).await, Err(TooSlow));
        drop(input);
        assert_eq!(feeder.feed(b"x", SHORT).await, Ok(()), "nobody wants it any more");
    }

    #[tokio::test]
    async fn a_beginning_is_waited_for_without_a_thread() {
        let (feeder, mut input, _gone) = channel(LONG, PATIENT);
        feeder.feed(b"ab", LONG).await.expect("there is room");
        assert!(input.begin(Beginning::of_fetch()).await);
        feeder.end(LONG).await.expect("there is room");
        let all = on_a_thread(move || {
            let mut text = Vec::new();
            input.read_to_end(&mut text).map(|_| text)
        });
        assert_eq!(all.await.expect("a whole text"), b"ab");
        let (feeder, mut input, _gone) = channel(LONG, PATIENT);
        drop(feeder);
        assert!(!input.begin(Beginning::of_fetch()).await);
    }

    type Sent = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;
    type Sink = Box<dyn Fn(Vec<u8>) -> Sent + Send>;

    /// Sends into a channel of one piece.
    fn output(gone: Gone) -> (Output<Sink>, mpsc::Receiver<Vec<u8>>) {
        let (sender, receiver) = mpsc::channel(1);
        let send: Sink = Box::new(move |piece| {
            let sender = sender.clone();
            Box::pin(async move {
                sender.send(piece).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
            })
        });
        (Output::new(gone, HURRIED, send), receiver)
    }

    #[tokio::test]
    async fn what_is_written_arrives_in_pieces() {
        let (_feeder, _input, gone) = channel(LONG, PATIENT);
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
        let (_feeder, _input, gone) = channel(LONG, PATIENT);
        let (mut output, _pieces) = output(gone);
        let written = on_a_thread(move || output.write_all(&vec![7; 10 * PIECE])).await;
        assert_eq!(written.expect_err("it is stuck").kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_client_that_goes_is_told_to_work_that_waits_for_nothing() {
        let (feeder, _input, gone) = channel(LONG, PATIENT);
        let hang_up = gone.hang_up();
        tokio::task::yield_now().await;
        assert!(!hang_up.is_signaled());
        drop(feeder);
        while !hang_up.is_signaled() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_client_that_goes_frees_the_writer() {
        let (feeder, _input, gone) = channel(LONG, PATIENT);
        let (mut output, _pieces) = output(gone);
        let written = tokio::task::spawn_blocking(move || output.write_all(&vec![7; 10 * PIECE]));
        drop(feeder);
        let written = written.await.expect("it does not panic");
        assert_eq!(written.expect_err("nobody reads").kind(), io::ErrorKind::BrokenPipe);
    }
}
