//! Adds delta bases from the repository to a thin pack, so that it can be read by itself.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use gix::ObjectId;
use gix::object::Kind;
use gix::prelude::FindExt;

use super::bounds::Bounds;
use super::pack_reader::{finish, new_hasher};
use super::resolve::{Base, DeltaResolver, Deltas, LARGEST_DELTA, ResolvedDeltas};
use super::spill::{Data, OffsetWriter};
use super::{Entry, EntryData, IntakeError, disk_error, invalid_pack};
use crate::content::blob;
use crate::error::failed;
use crate::storage::pack_index::header_of;

/// The size of the read buffer in bytes.
const PIECE: usize = 64 << 10;

/// The entries that were added to a pack.
pub(super) struct AddedBases {
    pub entries: Vec<Entry>,
    /// All objects outside the pack that serve as delta bases, including those too large to be added.
    pub bases: Vec<ObjectId>,
    /// The offset at which the last added entry ends.
    pub end: u64,
}

/// Resolves the deltas whose base is in the repository but not in the pack, and writes these bases
/// at the end of the pack, over its checksum.
pub(super) fn add_bases(
    deltas: &Deltas<'_>,
    others: Option<&gix::Repository>,
    end: u64,
    in_pack: &HashSet<ObjectId>,
    found: &mut ResolvedDeltas,
) -> Result<AddedBases, IntakeError> {
    let mut added = AddedBases { entries: Vec::new(), bases: Vec::new(), end };
    let Some(repo) = others else { return Ok(added) };
    let missing = deltas.missing();
    if missing.is_empty() {
        return Ok(added);
    }
    let mut resolver = DeltaResolver::for_outside_bases(deltas);
    for id in missing {
        deltas.bounds.check()?;
        if in_pack.contains(&id) || !deltas.is_needed(id) {
            continue;
        }
        // A base that is neither in the pack nor in the repository may be the result of a delta that is resolved later.
        let Some(header) = repo.try_find_header(id).map_err(repository_error)? else { continue };
        added.bases.push(id);
        let (kind, size) = (header.kind(), header.size());
        deltas.bounds.check_object_size(size)?;
        deltas.bounds.count_produced(size)?;
        let read = || -> Result<Vec<u8>, IntakeError> {
            let mut data = Vec::new();
            repo.objects.find(&id, &mut data).map_err(repository_error)?;
            Ok(data)
        };
        if size > LARGEST_DELTA {
            // Objects based on it are stored whole, so the base is not needed in the pack.
            let read = |resolver: &mut DeltaResolver<'_>| {
                let mut to = OffsetWriter { file: resolver.spill.file()?, offset: 0 };
                match kind {
                    Kind::Blob => blob::write(repo, id, &mut to).map_err(IntakeError::Failed)?,
                    _ => to.write_all(&read()?).map_err(disk_error)?,
                }
                Ok(Data::OnDisk(0..to.offset))
            };
            resolver.resolve_all_on(Base { at: None, kind, id, read: &read })?;
            continue;
        }
        let data = read()?;
        added.write(deltas.file, kind, id, &data, deltas.bounds)?;
        let read = |_: &mut DeltaResolver<'_>| Ok(Data::InMemory(data.clone()));
        resolver.resolve_all_on(Base { at: None, kind, id, read: &read })?;
    }
    found.add(resolver.finish());
    Ok(added)
}

impl AddedBases {
    fn write(
        &mut self,
        file: &File,
        kind: Kind,
        id: ObjectId,
        data: &[u8],
        bounds: &Bounds,
    ) -> Result<(), IntakeError> {
        let (offset, size) = (self.end, data.len() as u64);
        let mut bytes = Vec::new();
        header_of(kind).write_to(size, &mut bytes).map_err(disk_error)?;
        let header = bytes.len() as u8;
        let mut encoder = ZlibEncoder::new(bytes, Compression::default());
        let bytes = encoder.write_all(data).and_then(|()| encoder.finish()).map_err(disk_error)?;
        bounds.check_pack_size(offset + bytes.len() as u64)?;
        file.write_all_at(&bytes, offset).map_err(disk_error)?;
        let mut crc = Crc::new();
        crc.update(&bytes);
        let stored = EntryData::Whole(kind, id);
        self.entries.push(Entry { offset, header, size, result: size, crc: crc.sum(), stored });
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// Writes the final number of objects and the checksum of a pack to which entries were added.
pub(super) fn seal(
    file: &File,
    end: u64,
    objects: usize,
    bounds: &Bounds,
) -> Result<ObjectId, IntakeError> {
    let count = u32::try_from(objects).map_err(|_| invalid_pack("has too many objects"))?;
    file.write_all_at(&count.to_be_bytes(), 8).map_err(disk_error)?;
    let mut hasher = new_hasher();
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    while at < end {
        bounds.check()?;
        let length = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
        file.read_exact_at(&mut piece[..length], at).map_err(disk_error)?;
        hasher.update(&piece[..length]);
        at += length as u64;
    }
    let checksum = finish(hasher)?;
    file.write_all_at(checksum.as_slice(), end).map_err(disk_error)?;
    // An earlier attempt may have added more entries.
    file.set_len(end + checksum.as_slice().len() as u64).map_err(disk_error)?;
    Ok(checksum)
}

fn repository_error(error: impl Into<gix::Error>) -> IntakeError {
    IntakeError::Failed(failed(error))
}
