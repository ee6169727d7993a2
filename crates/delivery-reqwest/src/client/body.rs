//! Connects blocking readers with the asynchronous bodies of reqwest.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream;

use super::runtime::Background;

/// The body of a response, as a blocking reader.
pub(crate) struct ResponseBody {
    response: reqwest::Response,
    runtime: Arc<Background>,
    idle: Duration,
    deadline: Option<Instant>,
    part: Cursor<Vec<u8>>,
}

impl ResponseBody {
    pub(crate) fn new(
        response: reqwest::Response,
        runtime: Arc<Background>,
        idle: Duration,
        deadline: Option<Instant>,
    ) -> Self {
        Self { response, runtime, idle, deadline, part: Cursor::default() }
    }

    /// Returns the next chunk, which is not empty, or `None` at the end.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let response = &mut self.response;
        let next = Instant::now() + self.idle;
        let until = self.deadline.map_or(next, |deadline| deadline.min(next));
        let waited = self.runtime.block_on(async {
            tokio::time::timeout_at(until.into(), async {
                loop {
                    match response.chunk().await {
                        Ok(Some(part)) if part.is_empty() => (),
                        other => return other,
                    }
                }
            })
            .await
        });
        match waited {
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the server stopped answering")),
            Ok(Ok(part)) => Ok(part.map(Vec::from)),
            Ok(Err(error)) => Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                format!("the answer broke off: {}", super::error::innermost(&error)),
            )),
        }
    }
}

impl Read for ResponseBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = self.part.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.next()? {
                Some(part) => self.part = Cursor::new(part),
                None => return Ok(0),
            }
        }
    }
}

/// The chunk size of a request body, and the number of chunks that are read ahead.
const PART: usize = 64 * 1024;
const PARTS: usize = 4;

/// A request body that is streamed from a blocking reader. Must be called inside a runtime.
pub(crate) fn streamed(mut reader: Box<dyn Read + Send>) -> reqwest::Body {
    let (sender, receiver) = tokio::sync::mpsc::channel::<io::Result<Vec<u8>>>(PARTS);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut part = vec![0; PART];
            let read = match reader.read(&mut part) {
                Ok(0) => break,
                Ok(read) => {
                    part.truncate(read);
                    Ok(part)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let over = read.is_err();
            // Sending fails when the connection is gone.
            if sender.blocking_send(read).is_err() || over {
                break;
            }
        }
    });
    reqwest::Body::wrap_stream(stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|part| (part, receiver))
    }))
}
