//! The format of a backup file: a sequence of entries, each with a digest, and an end with a digest of the digests.
//!
//! ```text
//! hexforge backup 1\n
//! E  kind  mode (4)  length of path (2)  path  { length (4)  bytes }…  0 (4)  SHA-256 of all since E (32)
//! …
//! Z  number of entries (8)  SHA-256 of all digests, Z and the number (32)
//! ```
//!
//! Numbers are little-endian. The digests detect every change, truncation, omission and reordering.
//! Backups are read and written as streams, and never held in memory as a whole.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"hexforge backup 1\n";
const ENTRY: u8 = b'E';
const END: u8 = b'Z';

/// The most bytes of one chunk of an entry.
const CHUNK: usize = 64 * 1024;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Metadata of the backup, or a part of the database.
    Part,
    /// A file of the data folder.
    File,
    /// A hard link: the content is the path of an earlier entry.
    Link,
    /// A file of the data folder whose content is stored outside the backup file, see
    /// [`SnapshotStore`](super::snapshot_store::SnapshotStore).
    Stored,
}

impl Kind {
    const ALL: [(Kind, u8); 4] =
        [(Kind::Part, b'p'), (Kind::File, b'f'), (Kind::Link, b'l'), (Kind::Stored, b's')];

    fn letter(self) -> u8 {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or(0, |(_, letter)| letter)
    }
}

/// The header of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: Kind,
    pub path: PathBuf,
    /// The permission bits of a file.
    pub mode: u32,
}

/// Writes a backup.
pub(super) struct Writer<W: Write> {
    out: W,
    digests: Sha256,
    entries: u64,
}

impl<W: Write> Writer<W> {
    pub fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out, digests: Sha256::new(), entries: 0 })
    }

    /// Begins an entry, which the caller has to finish.
    pub fn entry(&mut self, header: &Header) -> io::Result<Entry<'_, W>> {
        let path = header.path.as_os_str().as_bytes();
        let length = u16::try_from(path.len())
            .map_err(|_| io::Error::new(ErrorKind::InvalidInput, "a path is too long"))?;
        let mut entry = Entry { of: self, digest: Sha256::new(), chunk: Vec::with_capacity(CHUNK) };
        entry.put(&[ENTRY, header.kind.letter()])?;
        entry.put(&header.mode.to_le_bytes())?;
        entry.put(&length.to_le_bytes())?;
        entry.put(path)?;
        Ok(entry)
    }

    /// Writes the end of the backup.
    pub fn finish(mut self) -> io::Result<W> {
        let mut end = vec![END];
        end.extend(self.entries.to_le_bytes());
        self.digests.update(&end);
        end.extend_from_slice(&self.digests.finalize());
        self.out.write_all(&end)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// An entry that is being written.
pub(super) struct Entry<'a, W: Write> {
    of: &'a mut Writer<W>,
    digest: Sha256,
    chunk: Vec<u8>,
}

impl<W: Write> Entry<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.of.out.write_all(bytes)
    }

    fn put_chunk(&mut self) -> io::Result<()> {
        let chunk = std::mem::take(&mut self.chunk);
        let length = u32::try_from(chunk.len()).unwrap_or_default();
        self.put(&length.to_le_bytes())?;
        self.put(&chunk)?;
        self.chunk = chunk;
        self.chunk.clear();
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        if !self.chunk.is_empty() {
            self.put_chunk()?;
        }
        self.put(&0_u32.to_le_bytes())?;
        let digest = self.digest.finalize();
        self.of.out.write_all(&digest)?;
        self.of.digests.update(digest);
        self.of.entries += 1;
        Ok(())
    }
}

impl<W: Write> Write for Entry<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        if self.chunk.len() == CHUNK {
            self.put_chunk()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads all entries of a backup and verifies their digests. The content of an entry is verified
/// only after `visit` returned.
pub(super) fn read(
    input: impl Read,
    visit: &mut dyn FnMut(&Header, &mut dyn BufRead) -> Result<()>,
) -> Result<()> {
    let mut input = BufReader::with_capacity(4 * CHUNK, input);
    let mut magic = [0; MAGIC.len()];
    let whole = input.read_exact(&mut magic);
    ensure!(whole.is_ok() && magic == *MAGIC, "this is not a backup of hexforge");
    let (mut digests, mut entries) = (Sha256::new(), 0_u64);
    loop {
        let mut start = [0];
        input.read_exact(&mut start).context(CUT_OFF)?;
        match start[0] {
            END => break,
            ENTRY => (),
            _ => bail!("the backup is damaged after entry {entries}"),
        }
        let mut digest = Sha256::new();
        digest.update(start);
        let header = header(&mut input, &mut digest)
            .with_context(|| format!("the backup is damaged after entry {entries}"))?;
        let mut content =
            Content { input: &mut input, digest, chunk: vec![], read: 0, is_over: false };
        let visited = visit(&header, &mut content);
        // A damaged content is the likely cause of an error of `visit`, so it is reported first.
        let finished =
            content.finish().with_context(|| format!("{} is damaged", header.path.display()));
        let digest = finished?;
        visited?;
        digests.update(digest);
        entries += 1;
    }
    let mut end = [0; 8 + 32];
    input.read_exact(&mut end).context(CUT_OFF)?;
    digests.update([END]);
    digests.update(&end[..8]);
    let is_whole = end[..8] == entries.to_le_bytes() && end[8..] == *digests.finalize();
    ensure!(is_whole, "the digest at the end of the backup is wrong");
    ensure!(input.read(&mut [0])? == 0, "the backup has data after its end");
    Ok(())
}

const CUT_OFF: &str = "the backup is cut off";

fn header(input: &mut impl Read, digest: &mut Sha256) -> Result<Header> {
    let mut fixed = [0; 7];
    input.read_exact(&mut fixed).context(CUT_OFF)?;
    let [letter, mode @ .., low, high] = fixed;
    let mut path = vec![0; usize::from(u16::from_le_bytes([low, high]))];
    input.read_exact(&mut path).context(CUT_OFF)?;
    digest.update(fixed);
    digest.update(&path);
    let kind = Kind::ALL.into_iter().find(|(_, known)| *known == letter);
    let (kind, _) = kind.context("an entry has an unknown kind")?;
    let mode = u32::from_le_bytes(mode);
    Ok(Header { kind, path: Path::new(OsStr::from_bytes(&path)).to_owned(), mode })
}

/// Reads the content of an entry.
struct Content<'a, R: Read> {
    input: &'a mut R,
    digest: Sha256,
    chunk: Vec<u8>,
    /// The number of bytes of the chunk that were consumed.
    read: usize,
    is_over: bool,
}

impl<R: Read> Content<'_, R> {
    fn next_chunk(&mut self) -> io::Result<()> {
        let mut length = [0; 4];
        self.input.read_exact(&mut length)?;
        self.digest.update(length);
        let length = u32::from_le_bytes(length) as usize;
        if length > CHUNK {
            return Err(io::Error::new(ErrorKind::InvalidData, "the length of a chunk is invalid"));
        }
        self.is_over = length == 0;
        self.chunk.resize(length, 0);
        self.input.read_exact(&mut self.chunk)?;
        self.digest.update(&self.chunk);
        self.read = 0;
        Ok(())
    }

    /// Reads the rest of the content, and verifies the digest.
    fn finish(mut self) -> Result<[u8; 32]> {
        while !self.is_over {
            self.next_chunk().map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => io::Error::new(ErrorKind::UnexpectedEof, CUT_OFF),
                _ => error,
            })?;
        }
        let mut expected = [0; 32];
        self.input.read_exact(&mut expected).context(CUT_OFF)?;
        ensure!(expected == *self.digest.finalize(), "its digest is wrong");
        Ok(expected)
    }
}

impl<R: Read> Read for Content<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = self.fill_buf()?.read(buffer)?;
        self.consume(taken);
        Ok(taken)
    }
}

impl<R: Read> BufRead for Content<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read == self.chunk.len() && !self.is_over {
            self.next_chunk()?;
        }
        Ok(&self.chunk[self.read..])
    }

    fn consume(&mut self, amount: usize) {
        self.read += amount;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_backup() -> Vec<u8> {
        let mut writer = Writer::begin(Vec::new()).expect("memory can be written");
        let long = "x".repeat(CHUNK + 7);
        for (kind, path, content) in
            [(Kind::Part, "a", "one"), (Kind::File, "b/ü", ""), (Kind::File, "c", long.as_str())]
        {
            let header = Header { kind, path: path.into(), mode: 0o600 };
            let mut entry = writer.entry(&header).expect("memory can be written");
            entry.write_all(content.as_bytes()).expect("memory can be written");
            entry.finish().expect("memory can be written");
        }
        writer.finish().expect("memory can be written")
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<(String, usize)>> {
        let mut all = Vec::new();
        read(bytes, &mut |header, content| {
            let mut text = String::new();
            content.read_to_string(&mut text)?;
            all.push((header.path.display().to_string(), text.len()));
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn what_is_written_is_read() {
        let expected = [("a".to_owned(), 3), ("b/ü".into(), 0), ("c".into(), CHUNK + 7)];
        assert_eq!(read_all(&a_backup()).expect("it is whole"), expected);
        // Content that the visitor does not read is verified too.
        read(&a_backup()[..], &mut |_, _| Ok(())).expect("it is whole");
    }

    #[test]
    fn every_flipped_bit_and_every_end_too_early_is_noticed() {
        let whole = a_backup();
        let places = (0..whole.len()).filter(|place| *place < 400 || place % 997 == 0);
        let places = places.chain(whole.len() - 120..whole.len());
        for place in places {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << (place % 8);
            assert!(read_all(&damaged).is_err(), "byte {place}");
            assert!(read_all(&whole[..place]).is_err(), "the first {place} bytes");
        }
        assert!(read_all(&[&whole[..], b"x"].concat()).is_err());
    }
}
