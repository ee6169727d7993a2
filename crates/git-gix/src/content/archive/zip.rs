//! Writes zip archives in one pass, without seeking.

mod fields;

use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use hexforge_domain::ports::git::GitError;

use self::fields::{KindFields, UNIX, dos_time, push16, push32, push64, utf8_flag};
use super::counted::CountingWriter;
use super::entry::{ArchivedCommit, Content, Entry, Kind, Sink};
use crate::error::reader_gone;

const LEVEL: Compression = Compression::new(6);
/// Numbers from this value on do not fit into 32-bit fields; they are written to a zip64 field.
const LARGE: u64 = 0xffff_ffff;
/// Files from this size on get zip64 fields, because compression might not make them smaller.
const LARGE_FILE: u64 = 0xf000_0000;
/// The maximum size of the central directory, which is held in memory. It suffices for about two million files.
const LARGEST_DIRECTORY: usize = 256 << 20;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Flag: the sizes follow the content, in a data descriptor.
const SIZES_FOLLOW: u16 = 1 << 3;
/// The version of the zip format that a reader needs, times ten: 1.0, or 4.5 for zip64 fields.
const VERSION: u16 = 10;
const VERSION_WITH_ZIP64: u16 = 45;
/// The length of the field that `push_time` writes.
const TIME_FIELD: u16 = 9;

/// Writes one zip archive.
pub(super) struct Zip<W> {
    to: CountingWriter<W>,
    directory: Vec<u8>,
    entries: u64,
    comment: String,
    /// The time of all entries: `time` and `date` in DOS format, `seconds` in Unix time.
    time: u16,
    date: u16,
    seconds: u32,
    deflate: Compress,
    deflated: Vec<u8>,
}

/// The values that the local header and the directory entry of a file share.
struct EntryFields {
    offset: u64,
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u64,
    size: u64,
    large: bool,
}

impl<W: Write> Zip<W> {
    pub(super) fn new(to: W, archived: &ArchivedCommit) -> Self {
        let (date, time) = dos_time(archived.seconds());
        Self {
            to: CountingWriter { to, written: 0 },
            directory: Vec::new(),
            entries: 0,
            comment: archived.id.to_string(),
            time,
            date,
            seconds: archived.seconds().min(i32::MAX as u64) as u32,
            deflate: Compress::new(LEVEL, false),
            deflated: Vec::new(),
        }
    }

    /// Writes content that is in memory. `pack` compresses it if that makes it smaller.
    fn add_from_memory(
        &mut self,
        path: &[u8],
        content: &[u8],
        pack: bool,
    ) -> Result<EntryFields, GitError> {
        let mut checksum = Crc::new();
        checksum.update(content);
        let packed = pack && self.deflate(content)?;
        let size = content.len() as u64;
        let facts = EntryFields {
            offset: self.to.written,
            flags: utf8_flag(path),
            method: if packed { DEFLATED } else { STORED },
            checksum: checksum.sum(),
            packed: if packed { self.deflated.len() as u64 } else { size },
            size,
            large: false,
        };
        let header = self.local_header(path, &facts);
        self.to.write_all(&header).map_err(reader_gone)?;
        let data = if packed { &self.deflated } else { content };
        self.to.write_all(data).map_err(reader_gone)?;
        Ok(facts)
    }

    /// Compresses content into `deflated`. Returns whether it became smaller.
    fn deflate(&mut self, content: &[u8]) -> Result<bool, GitError> {
        if content.is_empty() {
            return Ok(false);
        }
        self.deflated.clear();
        self.deflated.reserve(content.len());
        self.deflate.reset();
        let status = self
            .deflate
            .compress_vec(content, &mut self.deflated, FlushCompress::Finish)
            .map_err(|error| GitError::Failed(error.to_string()))?;
        Ok(status == Status::StreamEnd && self.deflated.len() < content.len())
    }

    /// Streams content that is too large for memory.
    fn add_streamed(
        &mut self,
        repo: &gix::Repository,
        path: &[u8],
        content: &Content<'_>,
    ) -> Result<EntryFields, GitError> {
        let mut facts = EntryFields {
            offset: self.to.written,
            flags: utf8_flag(path) | SIZES_FOLLOW,
            method: DEFLATED,
            checksum: 0,
            packed: 0,
            size: 0,
            large: content.size() >= LARGE_FILE,
        };
        let header = self.local_header(path, &facts);
        self.to.write_all(&header).map_err(reader_gone)?;
        let start = self.to.written;
        facts.checksum = self.pack(repo, content)?;
        facts.packed = self.to.written - start;
        facts.size = content.size();

        let mut sizes = Vec::new();
        push32(&mut sizes, 0x0807_4b50);
        push32(&mut sizes, facts.checksum);
        for size in [facts.packed, facts.size] {
            if facts.large {
                push64(&mut sizes, size);
            } else {
                push32(&mut sizes, size as u32);
            }
        }
        self.to.write_all(&sizes).map_err(reader_gone)?;
        Ok(facts)
    }

    /// Writes compressed content, and returns its checksum.
    fn pack(&mut self, repo: &gix::Repository, content: &Content<'_>) -> Result<u32, GitError> {
        let to = DeflateEncoder::new(&mut self.to, LEVEL);
        let mut packed = ChecksumWriter { to, checksum: Crc::new() };
        content.write(repo, &mut packed)?;
        packed.to.finish().map_err(reader_gone)?;
        Ok(packed.checksum.sum())
    }

    /// The header before the content.
    fn local_header(&self, path: &[u8], facts: &EntryFields) -> Vec<u8> {
        let mut header = Vec::with_capacity(64 + path.len());
        push32(&mut header, 0x0403_4b50);
        push16(&mut header, if facts.large { VERSION_WITH_ZIP64 } else { VERSION });
        self.push_common(&mut header, facts, if facts.large { LARGE } else { 0 });
        push16(&mut header, path.len() as u16);
        push16(&mut header, TIME_FIELD + if facts.large { 20 } else { 0 });
        header.extend_from_slice(path);
        self.push_time(&mut header);
        if facts.large {
            push16(&mut header, 0x0001);
            push16(&mut header, 16);
            push64(&mut header, facts.size);
            push64(&mut header, facts.packed);
        }
        header
    }

    /// Adds an entry to the central directory.
    fn add_to_directory(
        &mut self,
        path: &[u8],
        facts: &EntryFields,
        fields: KindFields,
    ) -> Result<(), GitError> {
        let all = [facts.size, facts.packed, facts.offset];
        let large: Vec<u64> = all.into_iter().filter(|number| *number >= LARGE).collect();
        let extra = if large.is_empty() { 0 } else { 4 + 8 * large.len() as u16 };

        let mut entry = Vec::with_capacity(64 + path.len());
        push32(&mut entry, 0x0201_4b50);
        push16(&mut entry, fields.maker);
        let plain = large.is_empty() && !facts.large;
        push16(&mut entry, if plain { VERSION } else { VERSION_WITH_ZIP64 });
        self.push_common(&mut entry, facts, 0);
        push16(&mut entry, path.len() as u16);
        push16(&mut entry, TIME_FIELD + extra);
        push16(&mut entry, 0); // No comment.
        push16(&mut entry, 0); // The first disk.
        push16(&mut entry, u16::from(fields.text));
        push32(&mut entry, fields.attributes);
        push32(&mut entry, facts.offset.min(LARGE) as u32);
        entry.extend_from_slice(path);
        self.push_time(&mut entry);
        if !large.is_empty() {
            push16(&mut entry, 0x0001);
            push16(&mut entry, 8 * large.len() as u16);
            large.into_iter().for_each(|number| push64(&mut entry, number));
        }
        if self.directory.len() + entry.len() > LARGEST_DIRECTORY {
            return Err(GitError::Failed("too many files for a zip archive".to_owned()));
        }
        self.directory.extend_from_slice(&entry);
        self.entries += 1;
        Ok(())
    }

    /// Writes the fields that both headers share. Sizes are at least `least`.
    fn push_common(&self, header: &mut Vec<u8>, facts: &EntryFields, least: u64) {
        push16(header, facts.flags);
        push16(header, facts.method);
        push16(header, self.time);
        push16(header, self.date);
        push32(header, facts.checksum);
        push32(header, facts.packed.clamp(least, LARGE) as u32);
        push32(header, facts.size.clamp(least, LARGE) as u32);
    }

    fn push_time(&self, header: &mut Vec<u8>) {
        push16(header, 0x5455);
        push16(header, 5);
        header.push(1); // The time of modification only.
        push32(header, self.seconds);
    }

    /// Writes the central directory and the end records.
    pub(super) fn finish(mut self) -> Result<W, GitError> {
        let (start, size) = (self.to.written, self.directory.len() as u64);
        let mut end = Vec::new();
        if start >= LARGE || self.entries >= 0xffff {
            push32(&mut end, 0x0606_4b50);
            push64(&mut end, 44); // The length of what follows.
            push16(&mut end, UNIX);
            push16(&mut end, VERSION_WITH_ZIP64);
            push64(&mut end, 0); // The first disk, twice.
            push64(&mut end, self.entries);
            push64(&mut end, self.entries);
            push64(&mut end, size);
            push64(&mut end, start);
            push32(&mut end, 0x0706_4b50);
            push32(&mut end, 0);
            push64(&mut end, start + size);
            push32(&mut end, 1); // Of one disk.
        }
        push32(&mut end, 0x0605_4b50);
        push32(&mut end, 0); // The first disk, twice.
        push16(&mut end, self.entries.min(0xffff) as u16);
        push16(&mut end, self.entries.min(0xffff) as u16);
        push32(&mut end, size as u32);
        push32(&mut end, start.min(LARGE) as u32);
        push16(&mut end, self.comment.len() as u16);
        end.extend_from_slice(self.comment.as_bytes());
        let directory = std::mem::take(&mut self.directory);
        self.to.write_all(&directory).map_err(reader_gone)?;
        self.to.write_all(&end).map_err(reader_gone)?;
        Ok(self.to.to)
    }
}

impl<W: Write> Sink for Zip<W> {
    fn add(&mut self, repo: &gix::Repository, entry: &Entry<'_>) -> Result<(), GitError> {
        let path = entry.path;
        if path.len() > usize::from(u16::MAX) {
            return Err(GitError::Failed("a path is too long for a zip archive".to_owned()));
        }
        let facts = match &entry.kind {
            Kind::Folder => self.add_from_memory(path, b"", false)?,
            Kind::Link { target } => self.add_from_memory(path, target, false)?,
            Kind::File { content: Content::InMemory(bytes), .. } => {
                self.add_from_memory(path, bytes, true)?
            }
            Kind::File { content, .. } => self.add_streamed(repo, path, content)?,
        };
        self.add_to_directory(path, &facts, KindFields::of(&entry.kind))
    }
}

/// A writer that computes the checksum of the bytes written.
struct ChecksumWriter<W> {
    to: W,
    checksum: Crc,
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
