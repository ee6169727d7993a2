//! Reads a pack from a stream: parses, hashes and writes it in one pass.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::mem;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use gix::ObjectId;
use gix::hash::Hasher;
use gix::object::Kind;

use super::bounds::Bounds;
use super::{Entry, EntryData, IntakeError, disk_error, invalid_pack, patch};

/// The size of the read and decompression buffers in bytes.
const PIECE: usize = 64 << 10;

/// The most objects in one pack, because each takes memory until the pack is indexed.
const MOST_OBJECTS: u32 = 20_000_000;

/// The memory per object until its pack is indexed and checked, in bytes, including spare capacity of the vectors.
const MEMORY_OF_OBJECT: usize = 160;

/// Memory is reserved for this many objects at a time.
const OBJECTS_AT_ONCE: usize = 1 << 13;

pub(super) struct PackReader<'a> {
    from: &'a mut dyn Read,
    to: BufWriter<&'a File>,
    bounds: &'a Bounds,
    /// Received bytes; those from `start` to `end` are not parsed yet.
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// The number of parsed bytes.
    offset: u64,
    /// Hashes all parsed bytes.
    hasher: Hasher,
    /// The checksum of the parsed bytes of the current entry.
    crc: Crc,
    inflate: Decompress,
    unpacked: Box<[u8]>,
}

impl<'a> PackReader<'a> {
    pub fn new(from: &'a mut dyn Read, to: &'a File, bounds: &'a Bounds) -> Self {
        let piece = || vec![0; PIECE].into_boxed_slice();
        Self {
            from,
            to: BufWriter::with_capacity(PIECE, to),
            bounds,
            buffer: piece(),
            start: 0,
            end: 0,
            offset: 0,
            hasher: new_hasher(),
            crc: Crc::new(),
            inflate: Decompress::new(true),
            unpacked: piece(),
        }
    }

    /// Reads the complete pack, and returns its entries and checksum. Does not wait for bytes after the checksum.
    pub fn read_pack(mut self) -> Result<(Vec<Entry>, ObjectId), IntakeError> {
        let (magic, version) = (self.read_bytes::<4>()?, u32::from_be_bytes(self.read_bytes()?));
        if &magic != b"PACK" || !matches!(version, 2 | 3) {
            return Err(invalid_pack("has no valid pack header"));
        }
        let count = u32::from_be_bytes(self.read_bytes()?);
        if count > MOST_OBJECTS {
            return Err(invalid_pack("has too many objects"));
        }
        // The announced number of objects may be false, so the initial capacity is bounded.
        let mut entries = Vec::with_capacity(count.min(1 << 16) as usize);
        for at in 1..=count as usize {
            if at.is_multiple_of(OBJECTS_AT_ONCE) {
                self.bounds.reserve_memory(OBJECTS_AT_ONCE * MEMORY_OF_OBJECT)?;
            }
            entries.push(self.read_entry()?);
        }
        let checksum = finish(mem::replace(&mut self.hasher, new_hasher()))?;
        if self.read_bytes::<20>()? != checksum.as_slice() {
            return Err(invalid_pack("does not match its checksum"));
        }
        if self.start < self.end {
            return Err(invalid_pack("has data after its checksum"));
        }
        self.to.flush().map_err(disk_error)?;
        Ok((entries, checksum))
    }

    fn read_entry(&mut self) -> Result<Entry, IntakeError> {
        let offset = self.offset;
        self.crc = Crc::new();
        let (kind, size) = self.read_kind_and_size()?;
        self.bounds.check_object_size(size)?;
        let kind = match kind {
            1 => Kind::Commit,
            2 => Kind::Tree,
            3 => Kind::Blob,
            4 => Kind::Tag,
            6 | 7 => {
                let stored = if kind == 6 {
                    let base =
                        self.read_distance()?.and_then(|distance| offset.checked_sub(distance));
                    EntryData::OffsetDelta(base.ok_or_else(|| {
                        invalid_pack("has a delta whose base is outside the pack")
                    })?)
                } else {
                    EntryData::RefDelta(ObjectId::Sha1(self.read_bytes()?))
                };
                let header = self.header_length(offset)?;
                let mut start = Vec::with_capacity(patch::LONGEST_SIZES);
                self.unpack(size, |piece| {
                    let missing = patch::LONGEST_SIZES - start.len();
                    start.extend_from_slice(&piece[..piece.len().min(missing)]);
                })?;
                let sizes = patch::sizes(&start);
                let unfit = || invalid_pack("has a delta that does not fit its base");
                let (_, result) = sizes.ok_or_else(unfit)?;
                self.bounds.check_object_size(result)?;
                return Ok(Entry { offset, header, size, result, crc: self.crc.sum(), stored });
            }
            _ => return Err(invalid_pack("has an object of an unknown kind")),
        };
        let header = self.header_length(offset)?;
        let mut hasher = new_hasher();
        hasher.update(&gix::objs::encode::loose_header(kind, size));
        self.unpack(size, |piece| hasher.update(piece))?;
        let stored = EntryData::Whole(kind, finish(hasher)?);
        Ok(Entry { offset, header, size, result: size, crc: self.crc.sum(), stored })
    }

    fn header_length(&self, offset: u64) -> Result<u8, IntakeError> {
        u8::try_from(self.offset - offset)
            .map_err(|_| invalid_pack("has an entry header that is too long"))
    }

    fn read_kind_and_size(&mut self) -> Result<(u8, u64), IntakeError> {
        let [mut byte] = self.read_bytes()?;
        let kind = byte >> 4 & 7;
        let mut size = u64::from(byte & 15);
        let mut shift = 4;
        while byte & 0x80 != 0 {
            [byte] = self.read_bytes()?;
            if shift > 53 {
                return Err(invalid_pack("has an object that is too large"));
            }
            size |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        Ok((kind, size))
    }

    /// Reads the distance to the base of an offset delta. Returns `None` if it is invalid.
    fn read_distance(&mut self) -> Result<Option<u64>, IntakeError> {
        let [mut byte] = self.read_bytes()?;
        let mut distance = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            [byte] = self.read_bytes()?;
            if distance >= 1 << 53 {
                return Ok(None);
            }
            distance = (distance + 1) << 7 | u64::from(byte & 0x7f);
        }
        Ok((distance > 0).then_some(distance))
    }

    /// Decompresses an entry of this size piece by piece.
    fn unpack(&mut self, size: u64, mut each: impl FnMut(&[u8])) -> Result<(), IntakeError> {
        self.inflate.reset(true);
        loop {
            self.fill()?;
            let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
            let from = &self.buffer[self.start..self.end];
            let status = self.inflate.decompress(from, &mut self.unpacked, FlushDecompress::None);
            let status =
                status.map_err(|_| invalid_pack("has an object that cannot be decompressed"))?;
            let read = (self.inflate.total_in() - read) as usize;
            let written = (self.inflate.total_out() - written) as usize;
            self.bounds.count_produced(written as u64)?;
            each(&self.unpacked[..written]);
            self.consume(read)?;
            let total = self.inflate.total_out();
            match status {
                Status::StreamEnd if total == size => return Ok(()),
                Status::StreamEnd => {
                    return Err(invalid_pack("has an object whose size differs from its header"));
                }
                _ if total > size || (read, written) == (0, 0) => {
                    return Err(invalid_pack("has an object whose size differs from its header"));
                }
                _ => (),
            }
        }
    }

    fn read_bytes<const N: usize>(&mut self) -> Result<[u8; N], IntakeError> {
        let mut bytes = [0; N];
        let mut at = 0;
        while at < N {
            self.fill()?;
            let length = (N - at).min(self.end - self.start);
            bytes[at..at + length].copy_from_slice(&self.buffer[self.start..self.start + length]);
            self.consume(length)?;
            at += length;
        }
        Ok(bytes)
    }

    /// Reads from the stream until the buffer has unparsed bytes.
    fn fill(&mut self) -> Result<(), IntakeError> {
        while self.start == self.end {
            self.bounds.check()?;
            (self.start, self.end) = (0, 0);
            match self.from.read(&mut self.buffer) {
                Ok(0) => return Err(invalid_pack("ends too early")),
                Ok(length) => {
                    self.end = length;
                    self.bounds.count_received(length as u64)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(IntakeError::Disconnected(error)),
            }
        }
        Ok(())
    }

    /// Marks the next bytes as parsed: hashes them and writes them to the file.
    fn consume(&mut self, length: usize) -> Result<(), IntakeError> {
        let bytes = &self.buffer[self.start..self.start + length];
        self.crc.update(bytes);
        self.hasher.update(bytes);
        self.to.write_all(bytes).map_err(disk_error)?;
        self.start += length;
        self.offset += length as u64;
        Ok(())
    }
}

pub(super) fn new_hasher() -> Hasher {
    gix::hash::hasher(gix::hash::Kind::Sha1)
}

/// Returns the hash. Fails if the data is a SHA-1 collision attack.
pub(super) fn finish(hasher: Hasher) -> Result<ObjectId, IntakeError> {
    hasher.try_finalize().map_err(|_| invalid_pack("has an object with a forged hash"))
}
