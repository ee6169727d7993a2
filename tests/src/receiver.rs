//! A receiver of hooks on loopback that records all requests.

mod tls;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// A recorded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The request line.
    pub line: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Received {
    /// The value of a header. The name must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("deliveries are JSON")
    }

    /// The idempotency key: a repeated delivery has the same one.
    #[track_caller]
    pub fn key(&self) -> &str {
        self.header("idempotency-key").expect("every delivery has a key")
    }
}

/// How a receiver responds.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Responds with this status, these header lines and this body.
    With(u16, String, String),
    /// Waits this long, then closes the connection without a response.
    Hang(Duration),
}

impl Answer {
    /// A response with this status and a short body.
    pub fn status(status: u16) -> Self {
        Answer::With(status, String::new(), "received".into())
    }
}

/// A server on loopback that listens until it is dropped.
pub struct Receiver {
    /// Its address.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    scheme: &'static str,
}

struct Shared {
    received: Mutex<Vec<Received>>,
    came: Condvar,
    answer: Mutex<Answer>,
    over: AtomicBool,
}

impl Default for Receiver {
    fn default() -> Self {
        Self::new()
    }
}

impl Receiver {
    /// A receiver that answers 200 to everything.
    pub fn new() -> Self {
        Self::speaking(None)
    }

    /// A receiver with TLS and a self-signed certificate.
    pub fn self_signed() -> Self {
        Self::speaking(Some(tls::self_signed()))
    }

    fn speaking(tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            received: Mutex::default(),
            came: Condvar::new(),
            answer: Mutex::new(Answer::status(200)),
            over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let scheme = if tls.is_some() { "https" } else { "http" };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.over.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let _ = stream.set_nodelay(true);
                let (serving, tls) = (Arc::clone(&serving), tls.clone());
                let thread = std::thread::Builder::new().stack_size(256 * 1024);
                let _ = thread.spawn(move || match tls {
                    None => serving.serve(stream),
                    Some(tls) => match ServerConnection::new(tls) {
                        Ok(connection) => serving.serve(StreamOwned::new(connection, stream)),
                        Err(error) => panic!("the certificate of the tests is no good: {error}"),
                    },
                });
            }
        });
        Self { address, shared, scheme }
    }

    /// A receiver that does not respond for this long.
    pub fn hanging(time: Duration) -> Self {
        let receiver = Self::new();
        receiver.answer(Answer::Hang(time));
        receiver
    }

    /// Sets the response to all later requests.
    pub fn answer(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// The URL of a path on this receiver.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// Returns and removes the recorded requests.
    pub fn take(&self) -> Vec<Received> {
        std::mem::take(&mut self.shared.received())
    }

    /// The number of recorded requests.
    pub fn count(&self) -> usize {
        self.shared.received().len()
    }

    /// Returns and removes the only recorded request. Panics unless there is exactly one.
    #[track_caller]
    pub fn take_only(&self) -> Received {
        let mut all = self.take();
        assert_eq!(all.len(), 1, "{all:?}");
        all.swap_remove(0)
    }

    /// Waits until `count` requests are recorded. Returns false if that takes longer than `longest`.
    pub fn wait_for(&self, count: usize, longest: Duration) -> bool {
        let end = Instant::now() + longest;
        let mut received = self.shared.received();
        while received.len() < count {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.came.wait_timeout(received, left);
            received = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // A last connection wakes the listener, which then sees that it has to end.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn received(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Responds to all requests of a connection.
    fn serve(&self, stream: impl Read + Write) {
        let mut reader = BufReader::new(stream);
        while let Some(received) = read(&mut reader) {
            self.received().push(received);
            self.came.notify_all();
            let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
            match answer {
                Answer::Hang(time) => {
                    std::thread::sleep(time);
                    return;
                }
                Answer::With(status, headers, body) => {
                    let head = format!("HTTP/1.1 {status} x\r\n{headers}content-length: ");
                    let answer = format!("{head}{}\r\n\r\n{body}", body.len());
                    let writer = reader.get_mut();
                    if writer.write_all(answer.as_bytes()).and_then(|()| writer.flush()).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Received> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut headers = Vec::new();
    loop {
        let mut header = Vec::new();
        reader.read_until(b'\n', &mut header).ok()?;
        let header = String::from_utf8_lossy(&header);
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(Received { line: line.trim_end().to_owned(), headers, body })
}
