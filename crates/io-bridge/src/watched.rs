//! Checks permissions again during long transfers, because they may be revoked meanwhile.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// Transfers data from or to a client, and checks from time to time whether the client still has permission.
pub struct Watched<T, A> {
    inner: T,
    is_allowed: A,
    every: Duration,
    last: Instant,
}

impl<T, A: FnMut() -> bool> Watched<T, A> {
    /// Wraps a reader or a writer. `is_allowed` is called at most once in the time `every`.
    pub fn new(inner: T, every: Duration, is_allowed: A) -> Self {
        Self { inner, is_allowed, every, last: Instant::now() }
    }

    fn check(&mut self) -> io::Result<()> {
        if self.last.elapsed() >= self.every {
            if !(self.is_allowed)() {
                let text = "the permission was revoked during the transfer";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
            }
            self.last = Instant::now();
        }
        Ok(())
    }
}

impl<R: Read, A: FnMut() -> bool> Read for Watched<R, A> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.check()?;
        Ok(length)
    }
}

impl<W: Write, A: FnMut() -> bool> Write for Watched<W, A> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_is_checked_again() {
        for (every, allowed, continues) in [
            (Duration::ZERO, true, true),
            (Duration::ZERO, false, false),
            (Duration::from_secs(60), false, true),
        ] {
            let mut from = Watched::new(&b"hello"[..], every, || allowed);
            assert_eq!(from.read(&mut [0; 2]).is_ok(), continues, "{every:?} {allowed}");
            let mut to = Watched::new(Vec::new(), every, || allowed);
            assert_eq!(to.write(b"hello").is_ok(), continues, "{every:?} {allowed}");
        }
    }
}
