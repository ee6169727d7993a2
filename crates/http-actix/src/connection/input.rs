//! The bytes that a client sends, in the portions in which the dispatcher reads them.
//!
//! The dispatcher abandons a request in progress if the bytes behind it are no request. Old versions of the `requests`
//! library of Python send `0` and two empty lines behind a `PUT` without a body. So the bytes behind a request without a
//! body wait until it is answered, and the dispatcher reads nothing behind a head before it has processed the head.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use actix_web::web::BytesMut;
use tokio::io::{AsyncRead, ReadBuf};

/// The most bytes that wait.
const MAX_WAITING: usize = 8 * 1024;

/// The size of the buffer for bytes that arrive while the dispatcher does not read.
const PORTION: usize = 1024;

const HEAD_END: &[u8] = b"\r\n\r\n";

/// The state of the request that the application handles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// No request is in progress.
    #[default]
    Idle,
    /// A request without a body.
    WithoutBody,
    /// A request with a body, which the application may still be reading.
    WithBody,
}

/// The state of the current request of a connection. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct InProgress(Rc<State>);

#[derive(Default)]
struct State {
    progress: Cell<Progress>,
    /// Wakes the dispatcher, which waits to read behind a request.
    waker: RefCell<Option<Waker>>,
}

impl InProgress {
    pub(crate) fn set(&self, progress: Progress) {
        self.0.progress.set(progress);
        if let Some(waker) = self.0.waker.take() {
            waker.wake();
        }
    }

    pub(super) fn get(&self) -> Progress {
        self.0.progress.get()
    }
}

/// The received bytes that the dispatcher has not read.
#[derive(Default)]
pub(super) struct Input {
    waiting: BytesMut,
    heads: HeadScanner,
    /// Whether the dispatcher has read the end of a head that it has not processed yet.
    is_paused: bool,
}

impl Input {
    /// Reads bytes for the dispatcher. Ready without any bytes means that the client has closed its side.
    pub(super) fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        socket: &mut S,
        in_progress: &InProgress,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let progress = in_progress.get();
        if progress == Progress::WithoutBody {
            self.is_paused = false;
            in_progress.0.waker.replace(Some(cx.waker().clone()));
            // A client that goes away is noticed here.
            while self.waiting.len() < MAX_WAITING {
                if ready!(self.poll_receive(socket, cx))? == 0 {
                    return Poll::Ready(Ok(()));
                }
            }
            return Poll::Pending;
        }
        if std::mem::take(&mut self.is_paused) {
            if self.waiting.is_empty() && ready!(self.poll_receive(socket, cx))? == 0 {
                return Poll::Ready(Ok(()));
            }
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let is_head = progress == Progress::Idle;
        if self.waiting.is_empty() {
            let start = into.filled().len();
            ready!(Pin::new(socket).poll_read(cx, into))?;
            let read = &into.filled()[start..];
            if let Some(length) = is_head.then(|| self.heads.find_end(read)).flatten() {
                self.waiting.extend_from_slice(&read[length..]);
                into.set_filled(start + length);
                self.is_paused = true;
            }
        } else {
            let most = self.waiting.len().min(into.remaining());
            let end = is_head.then(|| self.heads.find_end(&self.waiting[..most])).flatten();
            into.put_slice(&self.waiting.split_to(end.unwrap_or(most)));
            self.is_paused = end.is_some();
        }
        Poll::Ready(Ok(()))
    }

    /// Receives bytes that wait. Returns their number: 0 when the client has closed its side.
    fn poll_receive<S: AsyncRead + Unpin>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let mut portion = [0; PORTION];
        let mut portion = ReadBuf::new(&mut portion);
        ready!(Pin::new(socket).poll_read(cx, &mut portion))?;
        self.waiting.extend_from_slice(portion.filled());
        Poll::Ready(Ok(portion.filled().len()))
    }
}

/// Finds the ends of heads in bytes that arrive in portions.
#[derive(Default)]
struct HeadScanner {
    /// The number of bytes of [`HEAD_END`] with which the bytes so far end.
    matched: usize,
    /// Whether the head has begun. Empty lines before it are no head.
    has_begun: bool,
}

impl HeadScanner {
    /// Returns the length of the bytes up to the end of a head, if there is one.
    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            self.has_begun |= !HEAD_END.contains(byte);
            self.matched = match self.matched {
                matched if *byte == HEAD_END[matched] => matched + 1,
                _ => usize::from(*byte == HEAD_END[0]),
            };
            if self.matched == HEAD_END.len() {
                self.matched = 0;
                if std::mem::take(&mut self.has_begun) {
                    return Some(at + 1);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads all that the dispatcher gets before it has to wait.
    fn read(input: &mut Input, mut socket: &[u8], in_progress: &InProgress) -> Vec<String> {
        let mut context = Context::from_waker(Waker::noop());
        let mut portions = Vec::new();
        loop {
            let mut bytes = [0; 64];
            let mut into = ReadBuf::new(&mut bytes);
            match input.poll_read(&mut socket, in_progress, &mut context, &mut into) {
                Poll::Ready(Ok(())) if into.filled().is_empty() => return portions,
                Poll::Ready(read) => {
                    read.expect("a slice can be read");
                    portions.push(String::from_utf8_lossy(into.filled()).into_owned());
                }
                Poll::Pending => portions.push("wait".to_owned()),
            }
            if portions.len() == 4 {
                return portions;
            }
        }
    }

    #[test]
    fn a_head_is_processed_before_more_is_read() {
        let (idle, mut input) = (InProgress::default(), Input::default());
        let bytes = b"PUT / HTTP/1.1\r\n\r\n0\r\n\r\n";
        let portions = read(&mut input, bytes, &idle);
        assert_eq!(portions, ["PUT / HTTP/1.1\r\n\r\n", "wait", "0\r\n\r\n"]);
    }

    #[test]
    fn the_end_of_a_head_is_found_in_two_portions() {
        let (idle, mut input) = (InProgress::default(), Input::default());
        let head = format!("GET /{} HTTP/1.1\r\n\r\nnext", "x".repeat(49));
        let portions = read(&mut input, head.as_bytes(), &idle);
        assert_eq!(portions, [&head[..64], "\n\r\n", "wait", "next"]);
    }

    #[test]
    fn empty_lines_are_no_heads() {
        let (idle, mut input) = (InProgress::default(), Input::default());
        let bytes = b"\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\n\r\n";
        let portions = read(&mut input, bytes, &idle);
        let head = "\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        assert_eq!(portions, [head, "wait", "\r\n\r\n"]);
    }

    #[test]
    fn bytes_behind_a_request_without_a_body_wait_for_its_answer() {
        let (in_progress, mut input) = (InProgress::default(), Input::default());
        in_progress.set(Progress::WithoutBody);
        assert_eq!(read(&mut input, b"0\r\n\r\n", &in_progress), Vec::<String>::new(), "it ended");
        in_progress.set(Progress::WithBody);
        assert_eq!(read(&mut input, b"rest", &in_progress), ["0\r\n\r\n", "rest"]);
        in_progress.set(Progress::WithoutBody);
        let many = [b'x'; 2 * MAX_WAITING];
        assert_eq!(read(&mut input, &many, &in_progress)[0], "wait");
        assert_eq!(input.waiting.len(), MAX_WAITING);
    }
}
