//! Connects blocking readers with the asynchronous bodies of reqwest.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream;

use super::runtime::BackgroundRuntime;

/// The body of a response, as a blocking reader.
pub(crate) struct ResponseBody {
    response: reqwest::Response,
    runtime: Arc<BackgroundRuntime>,
    idle: Duration,
    deadline: Option<Instant>,
    chunk: Cursor<Vec<u8>>,
}

impl ResponseBody {
    pub(crate) fn new(
        response: reqwest::Response,
        runtime: Arc<BackgroundRuntime>,
        idle: Duration,
        deadline: Option<Instant>,
    ) -> Self {
        Self { response, runtime, idle, deadline, chunk: Cursor::default() }
    }

    /// Returns the next chunk, which is not empty, or `None` at the end.
    fn next_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let response = &mut self.response;
        let next = Instant::now() + self.idle;
        let until = self.deadline.map_or(next, |deadline| deadline.min(next));
        let waited = self.runtime.block_on(async {
            tokio::time::timeout_at(until.into(), async {
                loop {
                    match response.chunk().await {
                        Ok(Some(chunk)) if chunk.is_empty() => (),
                        other => return other,
                    }
                }
            })
            .await
        });
        match waited {
            Err(_) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the server sent no data before the timeout",
            )),
            Ok(Ok(chunk)) => Ok(chunk.map(Vec::from)),
            Ok(Err(error)) => Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                format!(
                    "the connection broke during the response: {}",
                    super::error::root_cause_text(&error)
                ),
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
            let read = self.chunk.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.next_chunk()? {
                Some(chunk) => self.chunk = Cursor::new(chunk),
                None => return Ok(0),
            }
        }
    }
}

/// The chunk size of a request body, and the number of chunks that are read ahead.
const CHUNK_BYTES: usize = 64 * 1024;
const CHUNKS_AHEAD: usize = 4;

/// Returns a request body that is streamed from a blocking reader. Must be called inside a runtime.
pub(crate) fn stream_body(mut reader: Box<dyn Read + Send>) -> reqwest::Body {
    let (sender, receiver) = tokio::sync::mpsc::channel::<io::Result<Vec<u8>>>(CHUNKS_AHEAD);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            let read = match reader.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => {
                    chunk.truncate(read);
                    Ok(chunk)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = read.is_err();
            // Sending fails when the connection is gone.
            if sender.blocking_send(read).is_err() || failed {
                break;
            }
        }
    });
    reqwest::Body::wrap_stream(stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|chunk| (chunk, receiver))
    }))
}
