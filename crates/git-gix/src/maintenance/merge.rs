//! Several packs made one.
//!
//! Entries are copied as they are, compressed. Each pack has the bases of its deltas in itself; of an object that
//! several packs have the first one's entry is taken. So a base comes from the same pack or from one before, and
//! no delta can end up being its own base.
//!
//! Chains of deltas can become longer by that: the base of a delta, whole in its own pack, may be a delta in another
//! one. An object whose chain would be longer than that of a push may be is stored whole.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use gix::object::Kind;
use gix::odb::pack::data;
use gix::odb::pack::data::entry::Header;
use hexforge_domain::ports::git::GitError;

use super::chains::{self, LIMITS};
use crate::error::{failed, io};
use crate::pack_index::{self, Hashed, Indexed, header_of};
use crate::upload::packs::Pack;

/// A pack and its index, not yet on disk for sure.
pub(super) struct Merged {
    pub(super) data: PathBuf,
    pub(super) index: PathBuf,
    /// The name of the pack's file.
    pub(super) name: String,
}

/// Reads an object.
pub(super) type Read<'a> = &'a dyn Fn(ObjectId) -> Result<(Kind, Vec<u8>), GitError>;

/// Writes into a folder one pack with everything that these have.
pub(super) fn merge(packs: &[Pack], folder: &Path, read: Read<'_>) -> Result<Merged, GitError> {
    let too_long = chains::too_long(packs, LIMITS)?;
    let data = folder.join("new.pack");
    let file = BufWriter::with_capacity(256 * 1024, File::create_new(&data).map_err(io)?);
    let mut writer = Writer {
        to: Hashed { inner: file, hasher: gix::hash::hasher(gix::hash::Kind::Sha1) },
        written: 0,
        places: HashMap::default(),
        objects: Vec::new(),
        too_long,
        read,
    };
    writer.put(&data::header::encode(data::Version::V2, count(packs)?))?;
    for pack in packs {
        writer.copy(pack)?;
    }
    let checksum = writer.to.hasher.try_finalize().map_err(failed)?;
    let mut file = writer.to.inner;
    file.write_all(checksum.as_slice()).and_then(|()| file.flush()).map_err(io)?;
    let index = folder.join("new.idx");
    let mut file = BufWriter::new(File::create_new(&index).map_err(io)?);
    pack_index::write(writer.objects, &checksum, &mut file)
        .and_then(|()| file.flush())
        .map_err(io)?;
    let name = format!("pack-{checksum}.pack");
    let [data, index] = [(data, name.clone()), (index, format!("pack-{checksum}.idx"))]
        .map(|(file, name)| (file, folder.join(name)));
    for (from, to) in [&data, &index] {
        std::fs::rename(from, to).map_err(io)?;
    }
    Ok(Merged { data: data.1, index: index.1, name })
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
    to: Hashed<BufWriter<File>>,
    written: u64,
    /// Where objects are in the new pack.
    places: HashMap<ObjectId, u64>,
    objects: Vec<Indexed>,
    /// What is to be stored whole.
    too_long: HashSet<ObjectId>,
    read: Read<'a>,
}

impl Writer<'_> {
    fn put(&mut self, data: &[u8]) -> Result<(), GitError> {
        self.written += data.len() as u64;
        self.to.write_all(data).map_err(io)
    }

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
                    Header::OfsDelta { base_distance: self.written - place }
                }
                Header::RefDelta { base_id } => match self.places.get(&base_id) {
                    Some(place) => Header::OfsDelta { base_distance: self.written - place },
                    // It comes later in this pack.
                    None => Header::RefDelta { base_id },
                },
                header => header,
            };
            let compressed = data.entry_slice(entry.data_offset..end).ok_or_else(broken)?;
            self.put_entry(id, header, entry.decompressed_size, compressed)?;
        }
        Ok(())
    }

    fn put_whole(&mut self, id: ObjectId) -> Result<(), GitError> {
        let (kind, data) = (self.read)(id)?;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        let compressed = encoder.write_all(&data).and_then(|()| encoder.finish()).map_err(io)?;
        self.put_entry(id, header_of(kind), data.len() as u64, &compressed)
    }

    fn put_entry(
        &mut self,
        id: ObjectId,
        header: Header,
        size: u64,
        compressed: &[u8],
    ) -> Result<(), GitError> {
        let mut bytes = Vec::with_capacity(32);
        header.write_to(size, &mut bytes).map_err(io)?;
        let mut crc = Crc::new();
        crc.update(&bytes);
        crc.update(compressed);
        self.places.insert(id, self.written);
        self.objects.push(Indexed { id, crc: crc.sum(), offset: self.written });
        self.put(&bytes)?;
        self.put(compressed)
    }
}

fn crc_of(data: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(data);
    crc.sum()
}
