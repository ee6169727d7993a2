//! Merges several packs into one.
//!
//! Entries are copied in compressed form. Each pack contains the bases of its deltas, and an object that several packs
//! contain is taken from the first of them. So a base comes from the same pack or an earlier one, and no delta can
//! become its own base.
//!
//! A merge can lengthen delta chains: a base that is whole in its own pack may be a delta in an earlier one. An object
//! whose chain would exceed the limit for pushes is stored whole.

use std::path::Path;

use flate2::Crc;
use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use gix::object::Kind;
use gix::odb::pack::data::entry::Header;
use hexforge_domain::ports::git::GitError;

use super::chains::{self, LIMITS};
use crate::error::failed;
use crate::protocol::upload::packs::Pack;
use crate::storage::pack_file::{PackFiles, PackWriter};

/// Reads an object by id.
pub(super) type Read<'a> = &'a dyn Fn(ObjectId) -> Result<(Kind, Vec<u8>), GitError>;

/// Writes one pack with all objects of these packs into a folder.
pub(super) fn merge(packs: &[Pack], folder: &Path, read: Read<'_>) -> Result<PackFiles, GitError> {
    let too_long = chains::too_long(packs, LIMITS)?;
    let to = PackWriter::new(folder, count_objects(packs)?)?;
    let mut writer = Writer { to, places: HashMap::default(), too_long, read };
    for pack in packs {
        writer.copy(pack)?;
    }
    writer.to.finish()
}

/// The number of distinct objects in these packs.
fn count_objects(packs: &[Pack]) -> Result<u32, GitError> {
    let mut ids = HashSet::default();
    for pack in packs {
        ids.extend((0..pack.index.num_objects()).map(|at| pack.index.oid_at_index(at).to_owned()));
    }
    u32::try_from(ids.len())
        .map_err(|_| GitError::Failed("more objects than a pack can have".into()))
}

struct Writer<'a> {
    to: PackWriter,
    /// The offsets of objects in the new pack.
    places: HashMap<ObjectId, u64>,
    /// The objects to store whole.
    too_long: HashSet<ObjectId>,
    read: Read<'a>,
}

impl Writer<'_> {
    /// Copies the objects of a pack that the new pack does not have yet.
    fn copy(&mut self, pack: &Pack) -> Result<(), GitError> {
        let broken =
            || GitError::Corrupt(format!("the pack {} cannot be read", pack.path().display()));
        let data = pack.data().ok_or_else(broken)?;
        let index = &pack.index;
        let mut entries: Vec<(u64, u32)> =
            (0..index.num_objects()).map(|at| (index.pack_offset_at_index(at), at)).collect();
        entries.sort_unstable();
        let ends = entries.iter().skip(1).map(|&(offset, _)| offset);
        let ends = ends.chain([data.pack_end() as u64]);
        for (&(offset, at), end) in entries.iter().zip(ends) {
            let id = index.oid_at_index(at).to_owned();
            if self.places.contains_key(&id) {
                continue;
            }
            let stored = data.entry_slice(offset..end).ok_or_else(broken)?;
            if index.crc32_at_index(at).is_some_and(|crc| crc != crc_of(stored)) {
                return Err(broken());
            }
            if self.too_long.contains(&id) {
                self.put_whole(id)?;
                continue;
            }
            let entry = data.entry(offset).map_err(failed)?;
            let header = match entry.header {
                Header::OfsDelta { base_distance } => {
                    let base = entry.checked_base_pack_offset(base_distance).ok_or_else(broken)?;
                    let found = entries.binary_search_by_key(&base, |&(offset, _)| offset);
                    let (_, base) = entries[found.map_err(|_| broken())?];
                    let place = self.places.get(index.oid_at_index(base)).ok_or_else(broken)?;
                    Header::OfsDelta { base_distance: self.to.offset() - place }
                }
                Header::RefDelta { base_id } => match self.places.get(&base_id) {
                    Some(place) => Header::OfsDelta { base_distance: self.to.offset() - place },
                    // The base follows later in this pack.
                    None => Header::RefDelta { base_id },
                },
                header => header,
            };
            let compressed = data.entry_slice(entry.data_offset..end).ok_or_else(broken)?;
            self.places.insert(id, self.to.offset());
            self.to.put_entry(id, header, entry.decompressed_size, compressed)?;
        }
        Ok(())
    }

    fn put_whole(&mut self, id: ObjectId) -> Result<(), GitError> {
        let (kind, data) = (self.read)(id)?;
        self.places.insert(id, self.to.offset());
        self.to.put_object(id, kind, &data)
    }
}

fn crc_of(data: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(data);
    crc.sum()
}
