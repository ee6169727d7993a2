//! HTTP connections, and the answers to requests that the parser refuses.
//!
//! actix itself answers requests that it cannot parse, before any middleware: without a body, an id or a log line. It
//! has no hook for this, so the stream below it recognises such an answer when it is written. The bytes alone are no
//! proof, because the content of a file could be the same. They are held back until the dispatcher ends: after a parse
//! error they are replaced, otherwise they are sent. If a parse error follows a request in progress, the dispatcher
//! closes the connection without an answer; then one is added. `input.rs` keeps bytes behind a request from it that
//! cannot belong to the request.

mod input;

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use actix_http::body::MessageBody;
use actix_http::error::DispatchError;
use actix_http::{HttpService, Request, Response};
use actix_service::{IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, map_config};
use actix_web::dev::{AppConfig, fn_factory, fn_service};
use actix_web::http::StatusCode;
use actix_web::http::header::HttpDate;
use actix_web::rt::net::TcpStream;
use actix_web::{Error, web};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

use crate::error::ApiError;
use crate::middleware::{new_id, record_refused};
use crate::shared::Shared;
use hexforge_http_edge::meter::Meter;
use input::Input;
pub(crate) use input::{InProgress, Progress};

/// Default timeout for the first request head of a connection.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Keep-alive timeout of an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long the input of a client is still read after its request was refused. If a socket is closed while data
/// arrives, the connection is reset and the client loses the answer.
const LINGER: Duration = Duration::from_secs(1);

/// Serves connections with an application. Every request gets an id, a log line and, if it fails, a JSON body, also
/// when it cannot be parsed. `stopping` returns a future that resolves when the server begins to stop.
pub fn connections<I, S, B, F>(
    app: I,
    shared: web::Data<Shared>,
    stopping: impl Fn() -> F + 'static,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()>
where
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig> + 'static,
    S::Error: Into<Error> + 'static,
    S::InitError: std::fmt::Debug,
    S::Response: Into<Response<B>> + 'static,
    <S::Service as Service<Request>>::Future: 'static,
    B: MessageBody + 'static,
    F: Future<Output = ()> + 'static,
{
    let app = app.into_factory().map_err(|error| error.into().error_response());
    let http = HttpService::build()
        .graceful_shutdown_signal(stopping)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(shared.settings.head_timeout)
        .client_disconnect_timeout(LINGER)
        // A client that closes its side is gone, so the work for it ends. No HTTP or git client half-closes.
        .h1_allow_half_closed(false)
        .on_connect_ext(|stream: &Stream, data| {
            data.insert(stream.0.borrow().in_progress.clone());
        })
        .h1(map_config(app, |()| AppConfig::default()));
    let http = Rc::new(http);
    fn_factory(move || {
        let (http, shared) = (Rc::clone(&http), shared.clone());
        async move {
            shared.edge.limiter.mark_as_connection_thread();
            let handler = Rc::new(http.new_service(()).await?);
            Ok(fn_service(move |stream: TcpStream| {
                serve(Rc::clone(&handler), stream, shared.clone())
            }))
        }
    })
}

async fn serve<H>(
    handler: Rc<H>,
    socket: TcpStream,
    shared: web::Data<Shared>,
) -> Result<(), DispatchError>
where
    H: Service<(Stream, Option<SocketAddr>), Response = (), Error = DispatchError>,
{
    let peer = socket.peer_addr().ok();
    // Otherwise the last bytes of a response that is sent in pieces wait 40 ms, until the client has confirmed the
    // others.
    let _ = socket.set_nodelay(true);
    let wire = Rc::new(RefCell::new(Wire::new(socket)));
    let meter = Meter::new(&shared.edge.limiter, peer);
    let ended = {
        let mut dispatcher = pin!(handler.call((Stream(Rc::clone(&wire)), peer)));
        let judged = poll_fn(|cx| {
            let polled = dispatcher.as_mut().poll(cx);
            wire.borrow_mut().judge(polled, cx)
        });
        meter.measure(judged).await
    };
    // The dispatcher has been dropped, and all work for the client with it.
    let wire = Rc::into_inner(wire).map(RefCell::into_inner);
    let refused = wire.and_then(|wire| Some((wire.refused_with()?, wire.socket)));
    let Some((status, socket)) = refused else { return ended };
    let answer = refuse(status, peer, &shared);
    let _ = timeout(LINGER, meter.measure(finish(socket, &answer))).await;
    Ok(())
}

/// Counts and logs a refused request, whose method and path are not known, and returns the bytes of the answer.
fn refuse(status: StatusCode, peer: Option<SocketAddr>, shared: &Shared) -> Vec<u8> {
    let id = new_id(shared);
    let id = id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or_default();
    record_refused(id, status, peer.map(|peer| peer.ip().to_canonical()));
    let body = ApiError::message(status, status.to_string()).body();
    let date = HttpDate::from(SystemTime::now());
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nX-Request-Id: {id}\r\nDate: {date}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Sends the last bytes of a connection, and discards what the client still sends.
async fn finish(mut socket: TcpStream, answer: &[u8]) -> io::Result<()> {
    socket.write_all(answer).await?;
    socket.shutdown().await?;
    let mut unread = [0; 8 * 1024];
    while socket.read(&mut unread).await? > 0 {}
    Ok(())
}

/// The dispatcher's side of a connection.
pub(crate) struct Stream(Rc<RefCell<Wire>>);

/// A connection, shared by its dispatcher and [`serve`].
struct Wire {
    socket: TcpStream,
    /// Bytes that look like an answer of the dispatcher itself. Nothing is written while there are any.
    held: Option<Held>,
    /// Bytes that were held back. They are sent before all others.
    released: Vec<u8>,
    has_written: bool,
    /// The client closed its side, or the connection broke.
    is_gone: bool,
    input: Input,
    in_progress: InProgress,
}

struct Held {
    status: StatusCode,
    bytes: Vec<u8>,
    /// Nothing was written before, so the bytes are the head of an answer and not part of a body.
    is_certain: bool,
}

impl Wire {
    fn new(socket: TcpStream) -> Self {
        Self {
            socket,
            held: None,
            released: Vec::new(),
            has_written: false,
            is_gone: false,
            input: Input::default(),
            in_progress: InProgress::default(),
        }
    }

    /// Decides whether held bytes are a refusal, after the dispatcher was polled. The connection ends if they certainly
    /// are, or if the dispatcher has ended.
    fn judge(
        &mut self,
        polled: Poll<Result<(), DispatchError>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), DispatchError>> {
        match &self.held {
            Some(held) if held.is_certain => return Poll::Ready(Ok(())),
            Some(_) if !matches!(polled, Poll::Ready(Err(DispatchError::Parse(_)))) => {
                self.release();
            }
            Some(_) | None => {}
        }
        // If the connection breaks here, the dispatcher notices it when it reads.
        let _ = self.poll_released(cx);
        polled
    }

    /// Whether the dispatcher closes the connection because of a parse error. It sends no answer if the error follows a
    /// request in progress, for example in a chunk of its body.
    fn is_refused(&self) -> bool {
        let is_certain = self.held.as_ref().is_some_and(|held| held.is_certain);
        is_certain || self.in_progress.get() != Progress::Idle && !self.is_gone
    }

    /// The status to refuse with, after the dispatcher has ended.
    fn refused_with(&self) -> Option<StatusCode> {
        let held = self.held.as_ref().map(|held| held.status);
        held.or(self.is_refused().then_some(StatusCode::BAD_REQUEST))
    }

    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.released.extend(held.bytes);
        }
    }

    fn poll_released(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.released.is_empty() {
            let written = ready!(Pin::new(&mut self.socket).poll_write(cx, &self.released));
            let written = written.inspect_err(|_| self.is_gone = true)?;
            if written == 0 {
                self.is_gone = true;
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.released.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = &mut *self.0.borrow_mut();
        let before = into.filled().len();
        let Wire { socket, input, in_progress, .. } = wire;
        let read = ready!(input.poll_read(socket, in_progress, cx, into));
        wire.is_gone |= read.is_err() || into.filled().len() == before;
        Poll::Ready(read)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wire = &mut *self.0.borrow_mut();
        // More bytes follow, so the held bytes are not the last answer.
        wire.release();
        ready!(wire.poll_released(cx))?;
        let bytes = match find_refusal(bytes) {
            Some((0, status)) => {
                let is_certain = !wire.has_written;
                wire.held = Some(Held { status, bytes: bytes.to_vec(), is_certain });
                return Poll::Ready(Ok(bytes.len()));
            }
            // The bytes before the refusal are answers to earlier requests.
            Some((start, _)) => &bytes[..start],
            None => bytes,
        };
        let written = ready!(Pin::new(&mut wire.socket).poll_write(cx, bytes));
        wire.has_written = true;
        wire.is_gone |= written.is_err();
        Poll::Ready(written)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = &mut *self.0.borrow_mut();
        ready!(wire.poll_released(cx))?;
        Pin::new(&mut wire.socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = &mut *self.0.borrow_mut();
        if wire.is_refused() {
            // The socket is closed after the answer.
            return Poll::Ready(Ok(()));
        }
        wire.release();
        ready!(wire.poll_released(cx))?;
        Pin::new(&mut wire.socket).poll_shutdown(cx)
    }
}

/// The statuses of requests that the dispatcher refuses: malformed, too slow, or with too large a head.
const REFUSALS: [StatusCode; 3] = [
    StatusCode::BAD_REQUEST,
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
];

/// Finds where an answer of the dispatcher itself begins, if the written bytes end with one: a status line and only
/// these headers. Nearly all writes end differently, and cost one comparison.
fn find_refusal(bytes: &[u8]) -> Option<(usize, StatusCode)> {
    const LONGEST: usize = 200;
    let head = bytes.strip_suffix(b"\r\n\r\n")?;
    let from = head.len().saturating_sub(LONGEST);
    let version = |window: &[u8]| window == b"HTTP/1.1 4" || window == b"HTTP/1.0 4";
    let start = from + head[from..].windows(10).rposition(version)?;
    let mut lines = std::str::from_utf8(&head[start..]).ok()?.split("\r\n");
    let status = lines.next()?.get(9..12)?;
    let status = REFUSALS.into_iter().find(|own| own.as_str() == status)?;
    let is_own = |line: &str| {
        line == "content-length: 0"
            || line.starts_with("connection: ")
            || line.starts_with("date: ")
    };
    lines.all(is_own).then_some((start, status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_of_the_dispatcher_are_held() {
        let own = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\ndate: now\r\n\r\n";
        let slow = "HTTP/1.0 408 Request Timeout\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        let before = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        let behind = format!("{before}{own}");
        for (bytes, found) in [
            (own, Some((0, StatusCode::BAD_REQUEST))),
            (slow, Some((0, StatusCode::REQUEST_TIMEOUT))),
            (&behind, Some((before.len(), StatusCode::BAD_REQUEST))),
            (before, None),
            ("", None),
            ("\r\n\r\n", None),
            ("HTTP/1.1 4\r\n\r\n", None),
            (&own.replace("400", "404"), None),
            (&own.replace("400", "200"), None),
            (&own.replace("date: now", "x-request-id: 1"), None),
            (&own.replace("content-length: 0", "content-length: 1"), None),
            (&format!("{own}{}", "x".repeat(10)), None),
            (&format!("{own}{}\r\n\r\n", "x".repeat(500)), None),
        ] {
            assert_eq!(find_refusal(bytes.as_bytes()), found, "{bytes}");
        }
    }
}
