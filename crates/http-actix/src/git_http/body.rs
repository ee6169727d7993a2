//! Bodies of requests as something that can be read on a thread made for waiting, while they come.

use std::fmt::Display;
use std::io::{self, Read};
use std::time::Instant;

use actix_web::web::Bytes;
use flate2::read::GzDecoder;
use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::rate::Rate;

/// How many pieces wait for a busy reader.
const WAITING: usize = 8;

/// How much is read of what nobody wants, so that the client comes to listen.
const MOST_UNWANTED: usize = 1 << 30;

/// How much of a wish is read before there is a place for whoever wishes: most wishes are shorter.
const MOST_EARLY: usize = 64 * 1024;

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

/// A body on its way.
pub(super) struct Incoming<S> {
    payload: S,
    rate: Rate,
}

impl<S: Stream<Item = Result<Bytes, E>> + Unpin, E: Display> Incoming<S> {
    pub(super) fn new(payload: S) -> Self {
        Self { payload, rate: Rate::default() }
    }

    async fn next(&mut self) -> Piece {
        let since = Instant::now();
        let next = timeout(self.rate.patience(), self.payload.next()).await;
        let size = match &next {
            Ok(Some(Ok(bytes))) => bytes.len(),
            Ok(Some(Err(_)) | None) | Err(_) => 0,
        };
        self.rate.moved(since, size);
        match next {
            Ok(Some(Ok(bytes))) => Piece::Data(bytes),
            Ok(Some(Err(error))) => Piece::Broken(io::Error::other(error.to_string())),
            Ok(None) => Piece::End,
            Err(_) => {
                let slow = "the client sends nothing any more, or too slowly";
                Piece::Broken(io::Error::new(io::ErrorKind::TimedOut, slow))
            }
        }
    }

    /// What comes first: all, or as much as is held for somebody who has no place yet.
    pub(super) async fn beginning(&mut self) -> Vec<Piece> {
        let (mut pieces, mut size) = (Vec::new(), 0);
        while size < MOST_EARLY {
            let piece = self.next().await;
            let goes_on = matches!(&piece, Piece::Data(_));
            if let Piece::Data(bytes) = &piece {
                size += bytes.len();
            }
            pieces.push(piece);
            if !goes_on {
                break;
            }
        }
        pieces
    }
}

/// Hands on what a client sends, after what it sent before.
pub(super) async fn pump<S, E>(
    early: Vec<Piece>,
    mut incoming: Incoming<S>,
    sender: mpsc::Sender<Piece>,
) where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Display,
{
    let (mut is_wanted, mut unwanted) = (true, 0);
    let mut early = early.into_iter();
    loop {
        let piece = match early.next() {
            Some(piece) => piece,
            None => incoming.next().await,
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

    fn trickle(millis: u64) -> impl Stream<Item = Result<Bytes, io::Error>> + Unpin {
        Box::pin(futures_util::stream::unfold((), move |()| async move {
            tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
            Some((Ok(Bytes::from_static(b"x")), ()))
        }))
    }

    #[actix_web::test]
    async fn whoever_sends_a_byte_now_and_then_is_not_waited_for() {
        // Each comes in time, and all of them together much too slowly.
        let since = Instant::now();
        let pieces = Incoming::new(trickle(20)).beginning().await;
        assert!(matches!(pieces.last(), Some(Piece::Broken(error))
            if error.kind() == io::ErrorKind::TimedOut));
        assert!(since.elapsed() < std::time::Duration::from_secs(20));
    }

    #[actix_web::test]
    async fn the_beginning_of_a_wish_is_all_or_enough() {
        let short = futures_util::stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"abc"))]);
        let pieces = Incoming::new(short).beginning().await;
        assert!(matches!(&pieces[..], [Piece::Data(_), Piece::End]));
        let block = || Ok::<_, io::Error>(Bytes::from(vec![0; 1000]));
        let long = futures_util::stream::repeat_with(block);
        let pieces = Incoming::new(long).beginning().await;
        assert_eq!(pieces.len(), MOST_EARLY.div_ceil(1000));
    }

    #[test]
    fn encodings_that_are_known() {
        assert_eq!(Encoding::parse(None), Some(Encoding::Plain));
        assert_eq!(Encoding::parse(Some("gzip")), Some(Encoding::Gzip));
        assert_eq!(Encoding::parse(Some("br")), None);
    }
}
