//! What another server sends, no more and no longer than allowed.

use std::io::{self, Read};
use std::time::Instant;

use hexforge_domain::ports::imports::ImportError;

/// A stream that fails once it is too long or too late.
pub(crate) struct Bounded {
    inner: Box<dyn Read + Send>,
    left: u64,
    deadline: Instant,
}

impl Bounded {
    pub(crate) fn new(inner: Box<dyn Read + Send>, bytes: u64, deadline: Instant) -> Self {
        Self { inner, left: bytes, deadline }
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.deadline {
            return Err(io::Error::other(too_late()));
        }
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::other(too_large())),
        }
        Ok(read)
    }
}

pub(crate) fn too_late() -> ImportError {
    ImportError::Failed("the import took too long".into())
}

fn too_large() -> ImportError {
    ImportError::Refused("the repository is too large".into())
}

/// What a failure to read such a stream means.
pub(crate) fn broken(error: io::Error) -> ImportError {
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
