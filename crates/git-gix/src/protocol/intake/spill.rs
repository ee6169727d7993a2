//! Stores the contents of base objects: small ones in memory, the rest in a temporary file.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use flate2::{Decompress, FlushDecompress, Status};
use gix::ObjectId;
use gix::hash::Hasher;
use gix::object::Kind;

use super::bounds::Bounds;
use super::pack_reader::{finish, new_hasher};
use super::{IntakeError, disk_error, invalid_pack};

/// The size of the read and write buffers in bytes.
const PIECE: usize = 64 << 10;

/// The number of bytes that are read of a base on disk at once: deltas refer to small parts of it.
const WINDOW: u64 = 8 << 10;

/// The least number of bytes that are charged for an instruction that reads a base on disk.
const COST_OF_READ: u64 = 512;

/// The content of an object.
#[derive(Clone, Debug)]
pub(super) enum Data {
    InMemory(Vec<u8>),
    /// The range in the [`Spill`] file.
    OnDisk(Range<u64>),
}

impl Data {
    pub fn len(&self) -> u64 {
        match self {
            Data::InMemory(bytes) => bytes.len() as u64,
            Data::OnDisk(range) => range.end - range.start,
        }
    }
}

/// A temporary file of one thread, created on first use. It has no name, so the system removes it
/// with the process at the latest.
pub(super) struct Spill {
    folder: PathBuf,
    file: Option<File>,
}

impl Spill {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file: None }
    }

    pub fn file(&mut self) -> Result<&File, IntakeError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(&self.folder).map_err(disk_error)?,
        };
        Ok(self.file.insert(file))
    }

    pub fn write(&mut self, bytes: &[u8], at: u64) -> Result<Range<u64>, IntakeError> {
        self.file()?.write_all_at(bytes, at).map_err(disk_error)?;
        Ok(at..at + bytes.len() as u64)
    }

    /// Reads a small content back into memory.
    pub fn load(&mut self, range: &Range<u64>) -> Result<Vec<u8>, IntakeError> {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or_default()];
        self.file()?.read_exact_at(&mut bytes, range.start).map_err(disk_error)?;
        Ok(bytes)
    }

    /// Passes a content to `each` piece by piece.
    pub fn each_piece(
        &mut self,
        data: &Data,
        bounds: &Bounds,
        mut each: impl FnMut(&[u8]) -> Result<(), IntakeError>,
    ) -> Result<(), IntakeError> {
        let range = match data {
            Data::InMemory(bytes) => return each(bytes),
            Data::OnDisk(range) => range,
        };
        let (mut piece, file) = (vec![0; PIECE], self.file()?);
        let mut at = range.start;
        while at < range.end {
            bounds.check()?;
            let length = usize::try_from(range.end - at).unwrap_or(PIECE).min(PIECE);
            file.read_exact_at(&mut piece[..length], at).map_err(disk_error)?;
            each(&piece[..length])?;
            at += length as u64;
        }
        Ok(())
    }
}

/// Reads ranges of a base object.
pub(super) struct BaseReader<'a> {
    data: &'a Data,
    file: Option<&'a File>,
    window: Vec<u8>,
    /// The offset of the window in the base.
    start: u64,
}

impl<'a> BaseReader<'a> {
    pub fn new(data: &'a Data, file: Option<&'a File>) -> Self {
        Self { data, file, window: Vec::new(), start: 0 }
    }

    /// Copies a range of the base. Fails if the range ends after the base.
    pub fn copy(&mut self, part: Range<u64>, to: &mut ResultWriter<'_>) -> Result<(), IntakeError> {
        if part.start > part.end || part.end > self.data.len() {
            return Err(delta_mismatch());
        }
        let range = match (self.data, self.file) {
            (Data::InMemory(bytes), _) => {
                return to.write(&bytes[part.start as usize..part.end as usize]);
            }
            (Data::OnDisk(range), Some(_)) => range.clone(),
            (Data::OnDisk(_), None) => return Err(delta_mismatch()),
        };
        to.bounds.count_produced(COST_OF_READ.saturating_sub(part.end - part.start))?;
        let mut at = part.start;
        while at < part.end {
            let end = self.start + self.window.len() as u64;
            if at < self.start || at >= end {
                self.fill(&range, at, part.end - at)?;
                continue;
            }
            let until = part.end.min(end);
            to.write(&self.window[(at - self.start) as usize..(until - self.start) as usize])?;
            at = until;
        }
        Ok(())
    }

    fn fill(&mut self, range: &Range<u64>, at: u64, wanted: u64) -> Result<(), IntakeError> {
        let Some(file) = self.file else { return Err(delta_mismatch()) };
        let left = range.end - range.start - at;
        let length = wanted.clamp(WINDOW, PIECE as u64).min(left);
        self.window.resize(length as usize, 0);
        file.read_exact_at(&mut self.window, range.start + at).map_err(disk_error)?;
        self.start = at;
        Ok(())
    }
}

/// Hashes a content as it is produced, and keeps it in memory or on disk.
pub(super) struct ResultWriter<'a> {
    pub bounds: &'a Bounds,
    hasher: Hasher,
    buffer: Vec<u8>,
    size: u64,
    written: u64,
    /// The file and offset on disk; `None` if the content stays in memory.
    to: Option<(&'a File, u64)>,
}

impl<'a> ResultWriter<'a> {
    pub fn new(kind: Kind, size: u64, to: Option<(&'a File, u64)>, bounds: &'a Bounds) -> Self {
        let mut hasher = new_hasher();
        hasher.update(&gix::objs::encode::loose_header(kind, size));
        Self { bounds, hasher, buffer: Vec::with_capacity(PIECE), size, written: 0, to }
    }

    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), IntakeError> {
        self.written += bytes.len() as u64;
        if self.written > self.size {
            return Err(delta_mismatch());
        }
        if self.to.is_none() {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        while !bytes.is_empty() {
            let length = bytes.len().min(PIECE - self.buffer.len());
            self.buffer.extend_from_slice(&bytes[..length]);
            bytes = &bytes[length..];
            if self.buffer.len() == PIECE {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), IntakeError> {
        self.bounds.check()?;
        self.bounds.count_produced(self.buffer.len() as u64)?;
        self.hasher.update(&self.buffer);
        if let Some((file, at)) = &mut self.to {
            file.write_all_at(&self.buffer, *at).map_err(disk_error)?;
            *at += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Returns the content and its object id. Fails if the size differs from the announced one.
    pub fn finish(mut self) -> Result<(Data, ObjectId), IntakeError> {
        if self.written != self.size {
            return Err(delta_mismatch());
        }
        self.flush()?;
        let id = finish(self.hasher)?;
        let data = match self.to {
            Some((_, end)) => Data::OnDisk(end - self.size..end),
            None => Data::InMemory(self.buffer),
        };
        Ok((data, id))
    }
}

pub(super) fn delta_mismatch() -> IntakeError {
    invalid_pack("has a delta that does not fit its base")
}

/// Decompresses a range of a file.
pub(super) struct InflateReader<'a> {
    file: &'a File,
    part: Range<u64>,
    inflate: &'a mut Decompress,
    input: Vec<u8>,
    /// The range of `input` that was read and not decompressed yet.
    unread: Range<usize>,
    output: Vec<u8>,
    /// The number of output bytes that were consumed.
    taken: usize,
    has_ended: bool,
}

impl<'a> InflateReader<'a> {
    pub fn new(file: &'a File, part: Range<u64>, inflate: &'a mut Decompress) -> Self {
        inflate.reset(true);
        let (input, output) = (vec![0; PIECE], Vec::with_capacity(PIECE));
        Self { file, part, inflate, input, unread: 0..0, output, taken: 0, has_ended: false }
    }
}

impl Read for InflateReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let length = from.len().min(buffer.len());
        buffer[..length].copy_from_slice(&from[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for InflateReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.taken == self.output.len() && !self.has_ended {
            (self.taken, self.output) = (0, std::mem::take(&mut self.output));
            self.output.clear();
            if self.unread.is_empty() {
                let left = usize::try_from(self.part.end - self.part.start).unwrap_or(PIECE);
                let read =
                    self.file.read_at(&mut self.input[..left.min(PIECE)], self.part.start)?;
                self.part.start += read as u64;
                self.unread = 0..read;
            }
            let before = self.inflate.total_in();
            let input = &self.input[self.unread.clone()];
            let status =
                self.inflate.decompress_vec(input, &mut self.output, FlushDecompress::None);
            let read = (self.inflate.total_in() - before) as usize;
            self.unread.start += read;
            self.has_ended = matches!(status?, Status::StreamEnd);
            if read == 0 && self.output.is_empty() && !self.has_ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(&self.output[self.taken..])
    }

    fn consume(&mut self, length: usize) {
        self.taken += length;
    }
}

/// Writes to a file from an offset on.
pub(super) struct OffsetWriter<'a> {
    pub file: &'a File,
    pub offset: u64,
}

impl Write for OffsetWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
