//! Checks permissions again during long transfers, because they may be revoked meanwhile.

use std::io::{self, Read};
use std::time::{Duration, Instant};

/// Reads client input, and checks from time to time whether the client still has permission.
pub(crate) struct Watched<R, A> {
    inner: R,
    is_allowed: A,
    every: Duration,
    last: Instant,
}

impl<R: Read, A: FnMut() -> bool> Watched<R, A> {
    pub(crate) fn new(inner: R, every: Duration, is_allowed: A) -> Self {
        Self { inner, is_allowed, every, last: Instant::now() }
    }
}

impl<R: Read, A: FnMut() -> bool> Read for Watched<R, A> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        if self.last.elapsed() >= self.every {
            if !(self.is_allowed)() {
                let text = "the permission was revoked during the transfer";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
            }
            self.last = Instant::now();
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_is_checked_again() {
        for (every, allowed, reads) in [
            (Duration::ZERO, true, true),
            (Duration::ZERO, false, false),
            (Duration::from_secs(60), false, true),
        ] {
            let mut watched = Watched::new(&b"hello"[..], every, || allowed);
            assert_eq!(watched.read(&mut [0; 2]).is_ok(), reads, "{every:?} {allowed}");
        }
    }
}
