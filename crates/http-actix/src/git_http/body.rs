//! Request bodies that a thread reads while they arrive.

use std::fmt::Display;
use std::io::{self, Read};

use actix_web::web::Bytes;
use flate2::read::GzDecoder;
use futures_util::{Stream, StreamExt};
use hexforge_domain::limiter::{TransferLimits, TransferRate};
use hexforge_io_bridge::{Piece, PieceReader};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// The number of pieces that are buffered for the reader.
const WAITING: usize = 8;

/// The maximum number of bytes of a git request that are read and discarded after the reader has ended. Git reads the
/// response only after it has sent everything.
pub(super) const MAX_DISCARDED: usize = 1 << 30;

/// The number of bytes of a request that are read before it has a permit. Most fetch requests are shorter.
const MAX_EARLY_BYTES: usize = 64 * 1024;

/// Creates a channel for the pieces of a body. The reader has the same time limits as [`Incoming`].
pub(super) fn channel(limits: TransferLimits) -> (mpsc::Sender<Piece>, PieceReader) {
    hexforge_io_bridge::piece_channel(WAITING, limits)
}

/// A body that is arriving.
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
        let piece = match timeout(self.rate.timeout(), self.payload.next()).await {
            Ok(Some(Ok(bytes))) => Piece::Data(bytes),
            Ok(Some(Err(error))) => Piece::Broken(io::Error::other(error.to_string())),
            Ok(None) => Piece::End,
            Err(_) => Piece::Broken(Piece::too_slow()),
        };
        self.rate.record(since.elapsed(), piece.size());
        piece
    }

    /// Reads the whole body, if it has at most this many bytes.
    pub(super) async fn whole(&mut self, max: usize) -> Result<Vec<u8>, BodyError> {
        let mut whole = Vec::new();
        loop {
            match self.next().await {
                Piece::Data(bytes) if whole.len() + bytes.len() > max => {
                    return Err(BodyError::TooLong);
                }
                Piece::Data(bytes) => whole.extend_from_slice(&bytes),
                Piece::End => return Ok(whole),
                Piece::Broken(error) => return Err(BodyError::Broken(error)),
            }
        }
    }

    /// Reads the beginning of the body: all of it, or as much as is buffered for a request without a permit.
    pub(super) async fn beginning(&mut self) -> Vec<Piece> {
        let (mut pieces, mut size) = (Vec::new(), 0);
        while size < MAX_EARLY_BYTES {
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

/// Why a body was not read to its end.
#[derive(Debug)]
pub(super) enum BodyError {
    TooLong,
    Broken(io::Error),
}

/// Sends a body to its reader: first the beginning that was read already, then the rest. When the reader has ended, at
/// most `max_discarded` further bytes are read.
pub(super) async fn pump<S, E>(
    early: Vec<Piece>,
    mut incoming: Incoming<S>,
    sender: mpsc::Sender<Piece>,
    max_discarded: usize,
) where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Display,
{
    let (mut is_wanted, mut discarded) = (true, 0);
    let mut early = early.into_iter();
    loop {
        let piece = match early.next() {
            Some(piece) => piece,
            None => incoming.next().await,
        };
        let (size, goes_on) = (piece.size(), matches!(&piece, Piece::Data(_)));
        is_wanted = is_wanted && sender.send(piece).await.is_ok();
        if !is_wanted {
            discarded += size;
        }
        if !goes_on || discarded > max_discarded {
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

    /// Decompresses the body, up to a maximum length, because a small body can expand to a huge one.
    pub(super) fn decoded(self, body: PieceReader, longest: u64) -> impl Read {
        let body: Box<dyn Read> = match self {
            Encoding::Plain => Box::new(body),
            Encoding::Gzip => Box::new(GzDecoder::new(body)),
        };
        body.take(longest)
    }

    /// Decompresses the body of a push. Packs are compressed already, so a body that expands much is refused.
    pub(super) fn decoded_push(self, body: PieceReader) -> Box<dyn Read> {
        match self {
            Encoding::Plain => Box::new(body),
            Encoding::Gzip => {
                let body = GzDecoder::new(CountedRead { inner: body, read: 0 });
                Box::new(RatioLimited { body, decompressed: 0 })
            }
        }
    }
}

/// The maximum decompressed size of a push: this many bytes, plus this many for each compressed byte.
const FREE_DECOMPRESSED: u64 = 8 << 20;
const MAX_RATIO: u64 = 20;

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

/// Fails when the decompressed size is too large for the compressed size.
struct RatioLimited<R> {
    body: GzDecoder<CountedRead<R>>,
    decompressed: u64,
}

impl<R: Read> Read for RatioLimited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.body.read(buffer)?;
        self.decompressed += length as u64;
        if self.decompressed > FREE_DECOMPRESSED + MAX_RATIO * self.body.get_ref().read {
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
    fn a_compressed_push_may_expand_by_a_limited_ratio() {
        let mut state = 1_u32;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let dense: Vec<u8> = noise.take(10 << 20).collect();
        for (data, is_fine) in [
            (vec![0; FREE_DECOMPRESSED as usize], true),
            (vec![0; 2 * FREE_DECOMPRESSED as usize], false),
            (dense, true),
        ] {
            let packed: Vec<u8> = gzip(&data);
            let body = body_of(vec![Piece::Data(packed.into()), Piece::End]);
            let mut decompressed = Vec::new();
            let read = Encoding::Gzip.decoded_push(body).read_to_end(&mut decompressed);
            assert_eq!(read.is_ok(), is_fine, "{}", data.len());
            assert!(decompressed.len() as u64 <= FREE_DECOMPRESSED + (11 << 20));
            if is_fine {
                assert!(decompressed == data);
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
    fn compressed_bodies_are_decompressed_up_to_a_length() {
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
    async fn the_beginning_of_a_request_is_all_of_it_or_a_limited_part() {
        let short = futures_util::stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"abc"))]);
        let pieces = Incoming::new(short, TransferLimits::default()).beginning().await;
        assert!(matches!(&pieces[..], [Piece::Data(_), Piece::End]));
        let block = || Ok::<_, io::Error>(Bytes::from(vec![0; 1000]));
        let long = futures_util::stream::repeat_with(block);
        let pieces = Incoming::new(long, TransferLimits::default()).beginning().await;
        assert_eq!(pieces.len(), MAX_EARLY_BYTES.div_ceil(1000));
    }

    #[test]
    fn encodings_that_are_known() {
        assert_eq!(Encoding::parse(None), Some(Encoding::Plain));
        assert_eq!(Encoding::parse(Some("gzip")), Some(Encoding::Gzip));
        assert_eq!(Encoding::parse(Some("br")), None);
    }
}
