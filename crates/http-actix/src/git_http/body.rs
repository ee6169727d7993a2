//! Bodies of requests as something that can be read on a thread made for waiting, while they come.

use std::io::{self, Read};
use std::time::Duration;

use actix_web::web::{Bytes, Payload};
use flate2::read::GzDecoder;
use futures_util::StreamExt;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long a client may send nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many pieces wait for a busy reader.
const WAITING: usize = 8;

/// How much is read of what nobody wants, so that the client comes to listen.
const MOST_UNWANTED: usize = 1 << 30;

/// A part of a body.
pub(super) enum Piece {
    Data(Bytes),
    End,
    Broken(io::Error),
}

/// A body in the making, and its reader.
pub(super) fn channel() -> (mpsc::Sender<Piece>, Body) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (sender, Body { receiver, piece: Bytes::new(), has_ended: false })
}

/// Hands on what a client sends.
pub(super) async fn pump(mut payload: Payload, sender: mpsc::Sender<Piece>) {
    let (mut is_wanted, mut unwanted) = (true, 0);
    loop {
        let piece = match timeout(PATIENCE, payload.next()).await {
            Ok(Some(Ok(bytes))) => Piece::Data(bytes),
            Ok(Some(Err(error))) => Piece::Broken(io::Error::other(error.to_string())),
            Ok(None) => Piece::End,
            Err(_) => {
                let slow = "the client sends nothing any more";
                Piece::Broken(io::Error::new(io::ErrorKind::TimedOut, slow))
            }
        };
        let (size, goes_on) = match &piece {
            Piece::Data(bytes) => (bytes.len(), true),
            Piece::End | Piece::Broken(_) => (0, false),
        };
        is_wanted = is_wanted && sender.send(piece).await.is_ok();
        if !is_wanted {
            unwanted += size;
        }
        if !goes_on || unwanted > MOST_UNWANTED {
            return;
        }
    }
}

/// Reads a body.
pub(super) struct Body {
    receiver: mpsc::Receiver<Piece>,
    piece: Bytes,
    has_ended: bool,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !self.has_ended {
            match self.receiver.blocking_recv() {
                Some(Piece::Data(bytes)) => self.piece = bytes,
                Some(Piece::End) => self.has_ended = true,
                Some(Piece::Broken(error)) => return Err(error),
                None => {
                    let gone = "the client is gone";
                    return Err(io::Error::new(io::ErrorKind::ConnectionAborted, gone));
                }
            }
        }
        let length = buffer.len().min(self.piece.len());
        buffer[..length].copy_from_slice(&self.piece.split_to(length));
        Ok(length)
    }
}

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Plain,
    Gzip,
}

impl Encoding {
    pub(super) fn parse(header: Option<&str>) -> Option<Self> {
        match header.map(str::trim) {
            None | Some("" | "identity") => Some(Encoding::Plain),
            Some("gzip" | "x-gzip") => Some(Encoding::Gzip),
            Some(_) => None,
        }
    }

    /// The body as it was before it was packed, up to a length: a small one can become a huge one.
    pub(super) fn decoded(self, body: Body, longest: u64) -> impl Read {
        let body: Box<dyn Read> = match self {
            Encoding::Plain => Box::new(body),
            Encoding::Gzip => Box::new(GzDecoder::new(body)),
        };
        body.take(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn body_of(pieces: Vec<Piece>) -> Body {
        let (sender, body) = channel();
        for piece in pieces {
            assert!(sender.try_send(piece).is_ok(), "there is room");
        }
        body
    }

    #[test]
    fn a_body_is_whole_only_with_its_end() {
        let mut text = String::new();
        let data = |text: &'static str| Piece::Data(Bytes::from_static(text.as_bytes()));
        let whole = body_of(vec![data("ab"), data(""), data("c"), Piece::End]);
        Encoding::Plain.decoded(whole, 100).read_to_string(&mut text).expect("a whole body");
        assert_eq!(text, "abc");
        let cut = body_of(vec![data("ab")]);
        assert!(Encoding::Plain.decoded(cut, 100).read_to_string(&mut text).is_err());
    }

    #[test]
    fn packed_bodies_are_unpacked_up_to_a_length() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&[b'x'; 100_000]).expect("memory");
        let packed = packed.finish().expect("memory");
        let body = body_of(vec![Piece::Data(packed.into()), Piece::End]);
        let mut text = String::new();
        Encoding::Gzip.decoded(body, 1000).read_to_string(&mut text).expect("a whole body");
        assert_eq!(text.len(), 1000);
    }

    #[test]
    fn encodings_that_are_known() {
        assert_eq!(Encoding::parse(None), Some(Encoding::Plain));
        assert_eq!(Encoding::parse(Some("gzip")), Some(Encoding::Gzip));
        assert_eq!(Encoding::parse(Some("br")), None);
    }
}
