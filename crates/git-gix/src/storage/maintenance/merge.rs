//! Several packs made one.
//!
//! Entries are copied as they are, compressed. Each pack has the bases of its deltas in itself; of an object that
//! several packs have the first one's entry is taken. So a base comes from the same pack or from one before, and
//! no delta can end up being its own base.
//!
//! Chains of deltas can become longer by that: the base of a delta, whole in its own pack, may be a delta in another
//! one. An object whose chain would be longer than that of a push may be is stored whole.

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

/// Reads an object.
pub(super) type Read<'a> = &'a dyn Fn(ObjectId) -> Result<(Kind, Vec<u8>), GitError>;

/// Writes into a folder one pack with everything that these have.
pub(super) fn merge(packs: &[Pack], folder: &Path, read: Read<'_>) -> Result<PackFiles, GitError> {
    let too_long = chains::too_long(packs, LIMITS)?;
    let to = PackWriter::new(folder, count(packs)?)?;
    let mut writer = Writer { to, places: HashMap::default(), too_long, read };
    for pack in packs {
        writer.copy(pack)?;
    }
    writer.to.finish()
}

/// How many objects there are, each counted once.
fn count(packs: &[Pack]) -> Result<u32, GitError> {
    let mut ids = HashSet::default();
    for pack in packs {
        ids.extend((0..pack.index.num_objects()).map(|at| pack.index.oid_at_index(at).to_owned()));
    }
    u32::try_from(ids.len())
        .map_err(|_| GitError::Failed("more objects than a pack can have".into()))
}

struct Writer<'a> {
    to: PackWriter,
    /// Where objects are in the new pack.
    places: HashMap<ObjectId, u64>,
    /// What is to be stored whole.
    too_long: HashSet<ObjectId>,
    read: Read<'a>,
}

impl Writer<'_> {
    /// Copies what is not there yet.
    fn copy(&mut self, pack: &Pack) -> Result<(), GitError> {
        let broken = || GitError::Corrupt(format!("the pack {}", pack.path().display()));
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
                    // It comes later in this pack.
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
