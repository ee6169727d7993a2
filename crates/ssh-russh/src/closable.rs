//! A stream that can be closed from outside, whatever russh does with it at that moment.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;

/// A stream that works until its [`CloseHandle`] is dropped.
pub(crate) struct Closable<T> {
    inner: T,
    handle: oneshot::Receiver<()>,
    is_closed: bool,
}

/// Closes the stream when dropped.
pub(crate) struct CloseHandle {
    #[expect(dead_code, reason = "dropping it is the signal")]
    sender: oneshot::Sender<()>,
}

impl<T> Closable<T> {
    pub(crate) fn new(inner: T) -> (Self, CloseHandle) {
        let (sender, handle) = oneshot::channel();
        (Self { inner, handle, is_closed: false }, CloseHandle { sender })
    }

    /// Returns an error if the stream was closed. One task polls the whole stream, so any call may notice it.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.is_closed || Pin::new(&mut self.handle).poll(context).is_ready() {
            self.is_closed = true;
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "ended by the server"));
        }
        Ok(())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Closable<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Closable<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn closing_ends_reading_and_writing() {
        let (near, mut far) = tokio::io::duplex(16);
        let (mut near, handle) = Closable::new(near);
        near.write_all(b"hi").await.expect("it works");
        far.write_all(b"x").await.expect("it works");
        assert_eq!(near.read_u8().await.expect("it works"), b'x');
        let reading = tokio::spawn(async move { near.read_u8().await });
        tokio::task::yield_now().await;
        drop(handle);
        let read = reading.await.expect("it does not panic");
        assert_eq!(read.expect_err("it is closed").kind(), io::ErrorKind::ConnectionAborted);
    }
}
