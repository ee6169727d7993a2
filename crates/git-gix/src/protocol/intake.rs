//! Receives packs from clients and servers: writes them to disk, adds missing delta bases and writes the index.
//!
//! An object that is not a delta is hashed while it is received, so its size does not matter. A delta is applied once
//! to learn the id of its object, in memory if it is small and on disk otherwise. Objects above [a
//! size](resolve::LARGEST_DELTA) are never stored as deltas: the pack is rewritten with them whole, so that reading
//! them needs no more memory than reading a small one.

mod bounds;
mod complete;
mod pack_reader;
mod patch;
mod resolve;
mod spill;
#[cfg(test)]
mod tests;
mod whole;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;

use crate::error::io_failed;
use crate::protocol::limits::StopReason;
use crate::storage::pack_index::{self, Indexed};
use complete::AddedBases;
use pack_reader::PackReader;
use resolve::{Deltas, ResolvedDeltas};

pub(crate) use bounds::{Bounds, SizeLimit};
#[cfg(test)]
pub(crate) use patch::apply;
pub(crate) use resolve::{LARGEST_CHAIN, LARGEST_DELTA, LONGEST_CHAIN};

/// A pack on disk, not yet synced.
#[derive(Debug)]
pub(crate) struct ReceivedPack {
    pub(crate) data: PathBuf,
    pub(crate) index: PathBuf,
    pub(crate) objects: NewObjects,
}

/// The objects of a received pack.
pub(crate) struct NewObjects {
    file: File,
    folder: PathBuf,
    /// The offset at which the last entry ends.
    end: u64,
    entries: Vec<Entry>,
    /// The object ids, in the order of `entries`.
    ids: Vec<ObjectId>,
    /// The kinds, sorted by object id.
    kinds: Vec<(ObjectId, Kind)>,
    /// The objects outside the pack that serve as delta bases.
    bases: Vec<ObjectId>,
}

impl std::fmt::Debug for NewObjects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} objects", self.entries.len())
    }
}

impl NewObjects {
    /// The kind of an object, if it is in this pack.
    pub(crate) fn kind_of(&self, id: &gix::oid) -> Option<Kind> {
        self.number_of(id).map(|number| self.kinds[number].1)
    }

    /// The number of an object in the order of the ids, if it is in this pack.
    pub(crate) fn number_of(&self, id: &gix::oid) -> Option<usize> {
        self.kinds.binary_search_by(|(one, _)| one.as_ref().cmp(id)).ok()
    }

    /// The object with this number.
    pub(crate) fn id_of(&self, number: usize) -> ObjectId {
        self.kinds[number].0
    }

    /// The number of objects.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether each delta comes after its base. A base that is named by its distance always comes first.
    pub(crate) fn are_in_order(&self) -> bool {
        let mut first_uses = HashMap::new();
        for entry in &self.entries {
            if let EntryData::RefDelta(base) = entry.stored {
                let first: &mut u64 = first_uses.entry(base).or_insert(entry.offset);
                *first = entry.offset.min(*first);
            }
        }
        let is_late = |(entry, id): (&Entry, &ObjectId)| {
            first_uses.get(id).is_some_and(|first| *first < entry.offset)
        };
        first_uses.is_empty() || !self.entries.iter().zip(&self.ids).any(is_late)
    }

    /// The existing objects that the sender used as delta bases.
    pub(crate) fn bases(&self) -> &[ObjectId] {
        &self.bases
    }

    /// Calls `each` once for every object except blobs, bases before their deltas. `fits` is called
    /// with each size before the object is read.
    pub(crate) fn each_but_blobs<E: From<IntakeError>>(
        &self,
        bounds: &Bounds,
        mut fits: impl FnMut(ObjectId, Kind, u64) -> Result<(), E>,
        mut each: impl FnMut(ObjectId, Kind, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let deltas = Deltas::new(&self.file, &self.entries, self.end, bounds, &self.folder);
        // The walk only returns errors of its own type, so the error of the caller is passed in a cell.
        let refused = std::cell::Cell::new(None);
        let stop = |error| {
            refused.set(Some(error));
            IntakeError::Stopped(StopReason::HungUp)
        };
        let walked = deltas.inspect_contents(
            &self.ids,
            &mut |id, kind, size| fits(id, kind, size).map_err(stop),
            &mut |id, kind, data| each(id, kind, data).map_err(stop),
        );
        match refused.take() {
            Some(error) => Err(error),
            None => Ok(walked?),
        }
    }
}

/// The reason why a pack was refused.
#[derive(Debug)]
pub(crate) enum IntakeError {
    /// The pack is invalid; the text completes a sentence that begins with "it".
    Invalid(String),
    /// The stream of the sender broke off.
    Disconnected(io::Error),
    /// The pack is too large, or its objects are; the text is for the user.
    TooLarge(String),
    /// Other packs hold all memory reserved for packs.
    Busy,
    /// The deadline passed, or the client disconnected.
    Stopped(StopReason),
    /// The server failed.
    Failed(GitError),
}

/// An entry of a pack.
struct Entry {
    offset: u64,
    /// The length of the header before the compressed data.
    header: u8,
    /// The size of the data after decompression: of the object, or of the delta.
    size: u64,
    /// The size of the object itself.
    result: u64,
    crc: u32,
    stored: EntryData,
}

enum EntryData {
    Whole(Kind, ObjectId),
    /// A delta on the entry at this offset.
    OffsetDelta(u64),
    /// A delta on the object with this id, in the pack or elsewhere.
    RefDelta(ObjectId),
}

/// Receives a pack and writes its index, in a directory that no reader uses yet. Deltas may be based on objects in
/// `others`; these bases are then added to the pack. Returns `None` if the pack has no objects.
pub(crate) fn index_pack(
    from: &mut dyn Read,
    folder: &Path,
    others: Option<&gix::Repository>,
    bounds: &Bounds,
) -> Result<Option<ReceivedPack>, IntakeError> {
    let data = folder.join("incoming.pack");
    let mut file = new_file(&data)?;
    let (mut entries, mut checksum) = PackReader::new(from, &file, bounds).read_pack()?;
    if entries.is_empty() {
        fs::remove_file(data).map_err(disk_error)?;
        return Ok(None);
    }
    let received = file.metadata().map_err(disk_error)?.len().saturating_sub(CHECKSUM);
    let (ResolvedDeltas { objects: found, wholes }, added) =
        resolve_deltas(&file, &entries, received, others, bounds, folder)?;
    let mut end = received;
    if !added.entries.is_empty() {
        entries.extend(added.entries);
        checksum = complete::seal(&file, added.end, entries.len(), bounds)?;
        end = added.end;
    }
    if !wholes.is_empty() {
        let rewritten = folder.join("rewritten.pack");
        let to = new_file(&rewritten)?;
        checksum = whole::rewrite(&file, end, &to, &mut entries, wholes, &found, bounds)?;
        fs::rename(rewritten, &data).map_err(disk_error)?;
        end = to.metadata().map_err(disk_error)?.len().saturating_sub(CHECKSUM);
        file = to;
    }
    let found = found.into_iter().chain(std::iter::repeat(None));
    let names = entries.iter().zip(found).map(|(entry, found)| match entry.stored {
        EntryData::Whole(kind, id) => Ok((id, kind)),
        _ => found.ok_or_else(|| invalid_pack("has a delta whose base is missing")),
    });
    let mut kinds = names.collect::<Result<Vec<_>, IntakeError>>()?;
    let ids: Vec<ObjectId> = kinds.iter().map(|(id, _)| *id).collect();
    let indexed = |(entry, id): (&Entry, &ObjectId)| Indexed {
        id: *id,
        crc: entry.crc,
        offset: entry.offset,
    };
    let objects = entries.iter().zip(&ids).map(indexed).collect();
    // With a duplicate object, it would be chance which entry a lookup finds: one may be a delta
    // that depends on the other.
    kinds.sort_unstable_by_key(|(id, _)| *id);
    if kinds.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(invalid_pack("has the same object twice"));
    }
    let name = |kind| folder.join(format!("pack-{checksum}.{kind}"));
    let (pack, index) = (name("pack"), name("idx"));
    fs::rename(data, &pack).map_err(disk_error)?;
    let mut to = BufWriter::new(File::create(&index).map_err(disk_error)?);
    pack_index::write(objects, &checksum, &mut to).map_err(disk_error)?;
    to.flush().map_err(disk_error)?;
    let (folder, bases) = (folder.to_owned(), added.bases);
    let objects = NewObjects { file, folder, end, entries, ids, kinds, bases };
    Ok(Some(ReceivedPack { data: pack, index, objects }))
}

/// The length of a pack checksum in bytes.
const CHECKSUM: u64 = 20;

fn new_file(path: &Path) -> Result<File, IntakeError> {
    File::options().read(true).write(true).create_new(true).open(path).map_err(disk_error)
}

/// Resolves all deltas to find their object ids, and adds missing bases to the pack.
fn resolve_deltas(
    file: &File,
    entries: &[Entry],
    end: u64,
    others: Option<&gix::Repository>,
    bounds: &Bounds,
    folder: &Path,
) -> Result<(ResolvedDeltas, AddedBases), IntakeError> {
    let attempt = |in_pack: &HashSet<ObjectId>| {
        let deltas = Deltas::new(file, entries, end, bounds, folder);
        let mut found = deltas.resolve_in_pack()?;
        let added = complete::add_bases(&deltas, others, end, in_pack, &mut found)?;
        Ok((found, added))
    };
    let (found, added) = attempt(&HashSet::new())?;
    if added.entries.is_empty() {
        return Ok((found, added));
    }
    // A base that was added from the repository may also be in the pack, as a delta whose id was not known yet. An
    // object must not be in the pack twice, so the work is repeated once all ids are known.
    let names: HashSet<ObjectId> = found.objects.iter().flatten().map(|(id, _)| *id).collect();
    let is_twice =
        |entry: &Entry| matches!(entry.stored, EntryData::Whole(_, id) if names.contains(&id));
    if added.entries.iter().any(is_twice) { attempt(&names) } else { Ok((found, added)) }
}

fn invalid_pack(what: &str) -> IntakeError {
    IntakeError::Invalid(what.to_owned())
}

fn disk_error(error: io::Error) -> IntakeError {
    IntakeError::Failed(io_failed(error))
}
