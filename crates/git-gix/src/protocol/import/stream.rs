//! Limits the size, duration and rate of a response from another server.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hexforge_domain::ports::imports::ImportError;

/// The least rate of a response, in bytes per second.
const SLOWEST: u64 = 1024;

/// The time before the rate is checked: a server may need long before it begins to send.
const TIME_TO_START: Duration = Duration::from_secs(600);

/// The deadline and the stop signal of an import.
#[derive(Clone)]
pub(crate) struct ImportStop {
    pub(crate) deadline: Instant,
    pub(crate) stopped: Arc<AtomicBool>,
}

/// A stream that fails when it exceeds the size limit or the deadline, or falls below the least rate.
pub(crate) struct Bounded {
    inner: Box<dyn Read + Send>,
    left: u64,
    stop: ImportStop,
    started: Instant,
    received: u64,
}

impl Bounded {
    pub(crate) fn new(inner: Box<dyn Read + Send>, bytes: u64, stop: ImportStop) -> Self {
        Self { inner, left: bytes, stop, started: Instant::now(), received: 0 }
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.stopped.load(Ordering::Relaxed) {
            return Err(io::Error::other(server_stopped()));
        }
        let slow = is_slow(self.started.elapsed(), self.received);
        if Instant::now() >= self.stop.deadline || slow {
            return Err(io::Error::other(too_late()));
        }
        let read = self.inner.read(buffer)?;
        self.received += read as u64;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::other(too_large())),
        }
        Ok(read)
    }
}

/// Whether the rate is below the minimum.
fn is_slow(elapsed: Duration, received: u64) -> bool {
    elapsed > TIME_TO_START + Duration::from_secs(received / SLOWEST)
}

pub(crate) fn server_stopped() -> ImportError {
    ImportError::Failed("the server was stopped".into())
}

pub(crate) fn too_late() -> ImportError {
    ImportError::Failed("the import took too long".into())
}

fn too_large() -> ImportError {
    ImportError::Refused("the repository is too large".into())
}

/// Maps an error of such a stream.
pub(crate) fn stream_error(error: io::Error) -> ImportError {
    match error.downcast::<ImportError>() {
        Ok(error) => error,
        Err(error) => match error.kind() {
            io::ErrorKind::TimedOut => {
                ImportError::Failed("the server did not answer in time".into())
            }
            _ => ImportError::Failed("the server's answer broke off".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_sends_little_is_not_waited_for() {
        for (seconds, received, slow) in [
            (600, 0, false),
            (601, 0, true),
            (601, 10 * SLOWEST, false),
            (3 * 60 * 60, 36, true),
            (3 * 60 * 60, 11_000 * SLOWEST, false),
        ] {
            assert_eq!(is_slow(Duration::from_secs(seconds), received), slow, "{seconds}");
        }
    }

    #[test]
    fn a_stop_ends_the_next_read() {
        let stop = ImportStop {
            deadline: Instant::now() + Duration::from_secs(60),
            stopped: Arc::new(AtomicBool::new(false)),
        };
        let mut stream = Bounded::new(Box::new(io::repeat(1)), 100, stop.clone());
        assert_eq!(stream.read(&mut [0; 10]).ok(), Some(10));
        stop.stopped.store(true, Ordering::Relaxed);
        let error = stream.read(&mut [0; 10]).map_err(stream_error);
        assert_eq!(error, Err(server_stopped()));
    }
}
