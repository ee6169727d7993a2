//! Stores received deltas as whole objects.
//!
//! They are compressed into a temporary file as they are found. Then the pack is rewritten with the
//! whole objects in place of the deltas.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use gix::ObjectId;
use gix::object::Kind;
use gix::odb::pack::data;
use gix::odb::pack::data::entry::Header;

use super::bounds::Bounds;
use super::pack_reader::{finish, new_hasher};
use super::spill::{Data, OffsetWriter, Spill};
use super::{Entry, EntryData, IntakeError, disk_error, invalid_pack};
use crate::storage::pack_index::{Hashed, header_of};

/// The size of the copy buffer in bytes.
const PIECE: usize = 64 << 10;

/// An object that is to be stored whole.
pub(super) struct WholeObject {
    /// The index of the entry that it replaces.
    at: u32,
    kind: Kind,
    size: u64,
    /// The file with the compressed bytes, and their range in it.
    file: Arc<File>,
    part: Range<u64>,
}

/// The whole objects that one thread found.
pub(super) struct WholeObjects {
    folder: PathBuf,
    file: Option<Arc<File>>,
    end: u64,
    pub list: Vec<WholeObject>,
}

impl WholeObjects {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file: None, end: 0, list: Vec::new() }
    }

    /// Compresses the content of an object at a fast level, because the client waits meanwhile.
    pub fn write(
        &mut self,
        spill: &mut Spill,
        at: u32,
        kind: Kind,
        data: &Data,
        bounds: &Bounds,
    ) -> Result<(), IntakeError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => Arc::new(tempfile::tempfile_in(&self.folder).map_err(disk_error)?),
        };
        let file = self.file.insert(file);
        let start = self.end;
        let mut encoder =
            ZlibEncoder::new(OffsetWriter { file, offset: start }, Compression::fast());
        // Compression takes about twice as long as hashing, so each byte is charged twice.
        bounds.count_produced(2 * data.len())?;
        spill.each_piece(data, bounds, |piece| {
            encoder.write_all(piece).map_err(disk_error)?;
            bounds.check_pack_size(encoder.get_ref().offset)
        })?;
        self.end = encoder.finish().map_err(disk_error)?.offset;
        let (file, part) = (Arc::clone(file), start..self.end);
        self.list.push(WholeObject { at, kind, size: data.len(), file, part });
        Ok(())
    }
}

/// Rewrites a pack with these objects whole, and updates the entries to the new file.
pub(super) fn rewrite(
    old: &File,
    old_end: u64,
    to: &File,
    entries: &mut [Entry],
    mut wholes: Vec<WholeObject>,
    names: &[Option<(ObjectId, Kind)>],
    bounds: &Bounds,
) -> Result<ObjectId, IntakeError> {
    let count = u32::try_from(entries.len()).map_err(|_| invalid_pack("has too many objects"))?;
    wholes.sort_unstable_by_key(|whole| whole.at);
    let mut wholes = wholes.into_iter().peekable();
    let offsets: Vec<u64> = entries.iter().map(|entry| entry.offset).collect();
    let mut writer = Writer {
        to: Hashed { inner: BufWriter::with_capacity(PIECE, to), hasher: new_hasher() },
        offset: 0,
        crc: Crc::new(),
        bounds,
    };
    writer.put(&data::header::encode(data::Version::V2, count))?;
    for at in 0..entries.len() {
        let offset = writer.offset;
        writer.crc = Crc::new();
        let whole = wholes.next_if(|whole| whole.at as usize == at);
        let entry = &entries[at];
        let end = offsets.get(at + 1).copied().unwrap_or(old_end);
        let compressed = entry.offset + u64::from(entry.header)..end;
        let mut result = entry.result;
        let (header, size, stored) = match (&whole, &entry.stored) {
            (Some(whole), _) => {
                let name = names.get(at).copied().flatten();
                let (id, kind) =
                    name.ok_or_else(|| invalid_pack("has a delta whose base is missing"))?;
                result = whole.size;
                (header_of(whole.kind), whole.size, EntryData::Whole(kind, id))
            }
            (None, EntryData::Whole(kind, id)) => {
                (header_of(*kind), entry.size, EntryData::Whole(*kind, *id))
            }
            (None, EntryData::RefDelta(base_id)) => {
                let header = Header::RefDelta { base_id: *base_id };
                (header, entry.size, EntryData::RefDelta(*base_id))
            }
            (None, EntryData::OffsetDelta(base)) => {
                let base = offsets.binary_search(base);
                let base = base.map_err(|_| invalid_pack("has a delta whose base is missing"))?;
                let base = entries[base].offset;
                (
                    Header::OfsDelta { base_distance: offset - base },
                    entry.size,
                    EntryData::OffsetDelta(base),
                )
            }
        };
        let mut bytes = Vec::with_capacity(32);
        header.write_to(size, &mut bytes).map_err(disk_error)?;
        writer.put(&bytes)?;
        match &whole {
            Some(whole) => writer.copy(&whole.file, whole.part.clone())?,
            None => writer.copy(old, compressed)?,
        }
        let (header, crc) = (bytes.len() as u8, writer.crc.sum());
        entries[at] = Entry { offset, header, size, result, crc, stored };
    }
    let Hashed { mut inner, hasher } = writer.to;
    let checksum = finish(hasher)?;
    inner.write_all(checksum.as_slice()).and_then(|()| inner.flush()).map_err(disk_error)?;
    Ok(checksum)
}

struct Writer<'a> {
    to: Hashed<BufWriter<&'a File>>,
    offset: u64,
    crc: Crc,
    bounds: &'a Bounds,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), IntakeError> {
        self.offset += bytes.len() as u64;
        self.bounds.check_pack_size(self.offset)?;
        self.crc.update(bytes);
        self.to.write_all(bytes).map_err(disk_error)
    }

    fn copy(&mut self, from: &File, part: Range<u64>) -> Result<(), IntakeError> {
        let mut piece = vec![0; usize::try_from(part.end - part.start).unwrap_or(PIECE).min(PIECE)];
        let mut at = part.start;
        while at < part.end {
            self.bounds.check()?;
            let length = usize::try_from(part.end - at).unwrap_or(PIECE).min(piece.len());
            from.read_exact_at(&mut piece[..length], at).map_err(disk_error)?;
            self.put(&piece[..length])?;
            at += length as u64;
        }
        Ok(())
    }
}
