//! Bodies of requests as something that can be read on a thread made for waiting, while they come.

use std::fmt::Display;
use std::io::{self, Read};

use actix_web::web::Bytes;
use flate2::read::GzDecoder;
use futures_util::{Stream, StreamExt};
use hexforge_domain::limiter::{TransferLimits, TransferRate};
use hexforge_io_bridge::{Piece, PieceReader};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// Pieces that are buffered for the reader.
const WAITING: usize = 8;

/// How much is read of what nobody wants, so that the client comes to listen.
const MOST_UNWANTED: usize = 1 << 30;

/// How much of a wish is read before there is a place for whoever wishes: most wishes are shorter.
const MOST_EARLY: usize = 64 * 1024;

/// A body in the making, and its reader. The reader waits no longer than [`Incoming`] does.
pub(super) fn channel(limits: TransferLimits) -> (mpsc::Sender<Piece>, PieceReader) {
    hexforge_io_bridge::channel(WAITING, limits)
}

/// A body on its way.
pub(super) struct Incoming<S> {
    payload: S,
    rate: TransferRate,
}

impl<S: Stream<Item = Result<Bytes, E>> + Unpin, E: Display> Incoming<S> {
    pub(super) fn new(payload: S, limits: TransferLimits) -> Self {
        Self { payload, rate: TransferRate::new(limits) }
    }

    async fn next(&mut self) -> Piece {
        let since = Instant::now();
        let piece = match timeout(self.rate.patience(), self.payload.next()).await {
            Ok(Some(Ok(bytes))) => Piece::Data(bytes),
            Ok(Some(Err(error))) => Piece::Broken(io::Error::other(error.to_string())),
            Ok(None) => Piece::End,
            Err(_) => Piece::Broken(Piece::too_slow()),
        };
        self.rate.moved(since.elapsed(), piece.size());
        piece
    }

    /// What comes first: all, or as much as is held for somebody who has no place yet.
    pub(super) async fn beginning(&mut self) -> Vec<Piece> {
        let (mut pieces, mut size) = (Vec::new(), 0);
        while size < MOST_EARLY {
            let piece = self.next().await;
            let goes_on = matches!(&piece, Piece::Data(_));
            size += piece.size();
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
        let (size, goes_on) = (piece.size(), matches!(&piece, Piece::Data(_)));
        is_wanted = is_wanted && sender.send(piece).await.is_ok();
        if !is_wanted {
            unwanted += size;
        }
        if !goes_on || unwanted > MOST_UNWANTED {
            return;
        }
    }
}

/// The content encoding of a body.
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
    pub(super) fn decoded(self, body: PieceReader, longest: u64) -> impl Read {
        let body: Box<dyn Read> = match self {
            Encoding::Plain => Box::new(body),
            Encoding::Gzip => Box::new(GzDecoder::new(body)),
        };
        body.take(longest)
    }

    /// The same for a push. Packs are compressed already, so a packed body that becomes much larger is no push.
    pub(super) fn decoded_push(self, body: PieceReader) -> Box<dyn Read> {
        match self {
            Encoding::Plain => Box::new(body),
            Encoding::Gzip => {
                let body = GzDecoder::new(CountedRead { inner: body, read: 0 });
                Box::new(InProportion { body, unpacked: 0 })
            }
        }
    }
}

/// What a packed push may become: so many bytes, and more for each byte that came.
const MOST_UNPACKED: u64 = 8 << 20;
const UNPACKED_OF_EACH_BYTE: u64 = 20;

struct CountedRead<R> {
    inner: R,
    read: u64,
}

impl<R: Read> Read for CountedRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.read += length as u64;
        Ok(length)
    }
}

/// Ends with an error when a packed body becomes too large for what came.
struct InProportion<R> {
    body: GzDecoder<CountedRead<R>>,
    unpacked: u64,
}

impl<R: Read> Read for InProportion<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.body.read(buffer)?;
        self.unpacked += length as u64;
        if self.unpacked > MOST_UNPACKED + UNPACKED_OF_EACH_BYTE * self.body.get_ref().read {
            let text =
                "the gzip body of the push expands too much; send it without Content-Encoding";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(data).expect("memory");
        packed.finish().expect("memory")
    }

    #[test]
    fn a_packed_push_stays_in_proportion_to_what_came() {
        let mut state = 1_u32;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let dense: Vec<u8> = noise.take(10 << 20).collect();
        for (data, is_fine) in [
            (vec![0; MOST_UNPACKED as usize], true),
            (vec![0; 2 * MOST_UNPACKED as usize], false),
            (dense, true),
        ] {
            let packed: Vec<u8> = gzip(&data);
            let body = body_of(vec![Piece::Data(packed.into()), Piece::End]);
            let mut unpacked = Vec::new();
            let read = Encoding::Gzip.decoded_push(body).read_to_end(&mut unpacked);
            assert_eq!(read.is_ok(), is_fine, "{}", data.len());
            assert!(unpacked.len() as u64 <= MOST_UNPACKED + (11 << 20));
            if is_fine {
                assert!(unpacked == data);
            }
        }
    }

    /// The reader never waits, because all pieces are there: the runtime need not run.
    fn body_of(pieces: Vec<Piece>) -> PieceReader {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime");
        let _entered = runtime.enter();
        let (sender, body) = channel(TransferLimits::default());
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

    fn trickle(seconds: u64, bytes: usize) -> impl Stream<Item = Result<Bytes, io::Error>> + Unpin {
        Box::pin(futures_util::stream::unfold((), move |()| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Some((Ok(Bytes::from(vec![0; bytes])), ()))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_send_too_slowly_are_given_up() {
        for (seconds, bytes, given_up_after) in [
            (20, 1, Some(60)),
            (1, 1024, Some(60)),
            (61, 1 << 20, Some(60)),
            (1, 4096, None),
            (59, 1 << 20, None),
        ] {
            let since = Instant::now();
            let mut incoming = Incoming::new(trickle(seconds, bytes), TransferLimits::default());
            let end = loop {
                match incoming.next().await {
                    Piece::Data(_) if since.elapsed() > Duration::from_secs(600) => break None,
                    Piece::Data(_) => (),
                    Piece::Broken(error) => {
                        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                        break Some(since.elapsed().as_secs());
                    }
                    Piece::End => unreachable!("it never ends"),
                }
            };
            assert_eq!(end, given_up_after, "{bytes} bytes per {seconds} s");
        }
    }

    #[actix_web::test]
    async fn the_beginning_of_a_wish_is_all_or_enough() {
        let short = futures_util::stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"abc"))]);
        let pieces = Incoming::new(short, TransferLimits::default()).beginning().await;
        assert!(matches!(&pieces[..], [Piece::Data(_), Piece::End]));
        let block = || Ok::<_, io::Error>(Bytes::from(vec![0; 1000]));
        let long = futures_util::stream::repeat_with(block);
        let pieces = Incoming::new(long, TransferLimits::default()).beginning().await;
        assert_eq!(pieces.len(), MOST_EARLY.div_ceil(1000));
    }

    #[test]
    fn encodings_that_are_known() {
        assert_eq!(Encoding::parse(None), Some(Encoding::Plain));
        assert_eq!(Encoding::parse(Some("gzip")), Some(Encoding::Gzip));
        assert_eq!(Encoding::parse(Some("br")), None);
    }
}
