//! Writes pack indexes (version 2), and maps object kinds to entry headers.

use std::io::{self, Write};

use gix::ObjectId;
use gix::object::Kind;
use gix::odb::pack::data::entry::Header;

/// The index entry of an object.
pub(crate) struct Indexed {
    pub(crate) id: ObjectId,
    /// The CRC-32 of the pack entry: its header and its compressed data.
    pub(crate) crc: u32,
    pub(crate) offset: u64,
}

/// Offsets of at least 2^31 are stored in a separate table of 8-byte offsets.
const LARGE: u64 = 1 << 31;

/// Writes the index of a pack. `checksum` is that of the pack.
pub(crate) fn write(
    mut objects: Vec<Indexed>,
    checksum: &ObjectId,
    to: &mut dyn Write,
) -> io::Result<()> {
    objects.sort_unstable_by_key(|object| object.id);
    let mut to = Hashed { inner: to, hasher: gix::hash::hasher(gix::hash::Kind::Sha1) };
    to.write_all(b"\xfftOc")?;
    to.write_all(&2_u32.to_be_bytes())?;
    for first in 0..=u8::MAX {
        let count = objects.partition_point(|object| object.id.first_byte() <= first);
        to.write_all(&to_u32(count)?.to_be_bytes())?;
    }
    for object in &objects {
        to.write_all(object.id.as_slice())?;
    }
    for object in &objects {
        to.write_all(&object.crc.to_be_bytes())?;
    }
    let mut large = Vec::new();
    for object in &objects {
        let offset = if object.offset < LARGE {
            object.offset
        } else {
            large.push(object.offset);
            LARGE | (large.len() as u64 - 1)
        };
        to.write_all(&to_u32(offset)?.to_be_bytes())?;
    }
    for offset in large {
        to.write_all(&offset.to_be_bytes())?;
    }
    to.write_all(checksum.as_slice())?;
    let Hashed { inner, hasher } = to;
    inner.write_all(hasher.try_finalize().map_err(io::Error::other)?.as_slice())
}

/// The entry header of an object that is not a delta.
pub(crate) fn header_of(kind: Kind) -> Header {
    match kind {
        Kind::Commit => Header::Commit,
        Kind::Tree => Header::Tree,
        Kind::Blob => Header::Blob,
        Kind::Tag => Header::Tag,
    }
}

fn to_u32(number: impl TryInto<u32>) -> io::Result<u32> {
    number.try_into().map_err(|_| io::Error::other("more objects than an index can have"))
}

/// A writer that hashes all bytes written through it.
pub(crate) struct Hashed<W> {
    pub(crate) inner: W,
    pub(crate) hasher: gix::hash::Hasher,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.inner.write_all(data)?;
        self.hasher.update(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
