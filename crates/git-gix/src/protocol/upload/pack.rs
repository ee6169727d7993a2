//! Writes the pack that is sent to a client.
//!
//! Objects that are stored in a pack are copied in their compressed form. A stored delta is copied
//! if its base is sent too or the client has it. Only the [plan](super::plan) is held in memory.
//!
//! **Why every delta can be resolved.** Each object is taken from the first pack that has it, in a fixed order of the
//! packs. The stored base of an object lies in the same pack as the object, so the base is taken from that pack or
//! from one before it. Stored deltas have no cycles within a pack, so the deltas in the answer have none either, and
//! each base can be written before its deltas. All other bases are objects that the client has and that are not sent.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::objs::Find;
use gix::odb::pack::data;
use gix::odb::pack::data::entry::Header;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::compressed::{self, Compressed};
use super::delta;
use super::known::KnownObjects;
use super::output::Output;
use super::packs::{Pack, Place};
use super::plan::{Entry, Plan};
use super::verify::ClientObjects;
use crate::content::blob;
use crate::error::{failed, io_failed, reader_gone};
use crate::storage::pack_index::header_of;

/// The number of bytes of a pack that are sent and hashed at once.
const PIECE: usize = 1 << 16;

/// Larger objects are not compared with an earlier version, in bytes.
const MOST_COMPARED: u64 = 1 << 20;

/// The kinds of deltas that the client accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deltas {
    /// Thin packs: deltas whose base the client has and that is not sent.
    pub(super) thin: bool,
    /// `ofs-delta`: a base named by its distance in the pack.
    pub(super) by_offset: bool,
}

/// The objects that the client has.
#[derive(Clone, Copy)]
pub(super) struct ClientState<'a> {
    /// Objects that can serve as delta bases.
    pub(super) known: &'a KnownObjects,
    /// All objects of the client, only present if answers are verified.
    pub(super) all_objects: Option<&'a ClientObjects>,
}

/// Writes a pack with the objects of a plan.
pub(super) fn write(
    source: &Source,
    plan: &Plan,
    client: ClientState<'_>,
    deltas: Deltas,
    output: &mut Output<'_>,
) -> Result<(), GitError> {
    let (entries, packs) = (plan.entries(), &source.packs);
    let count = u32::try_from(plan.count(packs))
        .map_err(|_| GitError::Failed("more objects than a pack can have".into()))?;
    let checksum = plan.checksum();
    let hasher = checksum.is_none().then(|| gix::hash::hasher(gix::hash::Kind::Sha1));
    let mut writer = Writer {
        source,
        known: client.known,
        all_client_objects: client.all_objects,
        deltas,
        sink: Sink { output, hasher, written: 0 },
        plan,
        sent: vec![false; entries.len()],
        begun: 0,
        buffer: Vec::new(),
    };
    writer.sink.put(&data::header::encode(data::Version::V2, count))?;
    if let Some(pack) = plan.whole_pack(packs) {
        writer.write_pack(pack)?;
    }
    for at in 0..entries.len() {
        writer.write_after_bases(at)?;
    }
    if writer.begun != count {
        return Err(GitError::Failed(format!("{} objects were sent, not {count}", writer.begun)));
    }
    let Sink { hasher, output, .. } = writer.sink;
    let checksum = match (checksum, hasher) {
        (Some(checksum), _) => checksum,
        (None, Some(hasher)) => plan.note_checksum(hasher.try_finalize().map_err(failed)?),
        (None, None) => {
            return Err(GitError::Failed("the checksum of the pack was not computed".into()));
        }
    };
    output.write_all(checksum.as_slice()).map_err(reader_gone)
}

/// Counts the written bytes, and hashes them unless the plan already has a checksum.
struct Sink<'a, 'to> {
    output: &'a mut Output<'to>,
    hasher: Option<gix::hash::Hasher>,
    written: u64,
}

impl Sink<'_, '_> {
    fn put(&mut self, data: &[u8]) -> Result<(), GitError> {
        self.write_all(data).map_err(reader_gone)
    }
}

impl Write for Sink<'_, '_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.output.write_all(data)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(data);
        }
        self.written += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The stored form of an object.
struct Stored {
    /// `None` if the object is in no pack.
    entry: Option<data::Entry>,
    base: Base,
}

/// The base of a stored delta.
#[derive(Clone, Copy)]
enum Base {
    /// The object is stored whole.
    None,
    /// The base is sent too; its index in the plan.
    Sent(usize),
    /// The base is in the pack that is sent as it is stored, at this offset.
    InWholePack(u64),
    /// The client has the base, and it is not sent.
    Known(ObjectId),
    /// The client cannot be relied on to have the base.
    Missing,
}

struct Writer<'a, 'to> {
    source: &'a Source,
    known: &'a KnownObjects,
    all_client_objects: Option<&'a ClientObjects>,
    deltas: Deltas,
    sink: Sink<'a, 'to>,
    plan: &'a Plan,
    /// For each object of the plan, whether it was sent.
    sent: Vec<bool>,
    /// The number of objects whose header was written.
    begun: u32,
    buffer: Vec<u8>,
}

impl Writer<'_, '_> {
    /// Sends all entries of a pack as they are stored. The distances between them stay the same, so each delta finds
    /// its base.
    fn write_pack(&mut self, pack: &Pack) -> Result<(), GitError> {
        let stored = pack
            .data()
            .and_then(|data| data.entry_slice(self.sink.written..data.pack_end() as u64));
        let corrupt =
            || GitError::Corrupt(format!("the pack {} is too short", pack.path().display()));
        for piece in stored.ok_or_else(corrupt)?.chunks(PIECE) {
            self.sink.put(piece)?;
        }
        self.begun += pack.index.num_objects();
        Ok(())
    }

    /// Sends an object, and before it the bases that it needs and that were not sent yet: a delta never comes before
    /// its base. Some clients fail on packs in which one does, if they have that base already.
    fn write_after_bases(&mut self, at: usize) -> Result<(), GitError> {
        let mut open = vec![at];
        while let Some(&next) = open.last() {
            if self.sent[next] {
                open.pop();
                continue;
            }
            let stored = self.find_stored(next)?;
            match stored.base {
                Base::Sent(base) if !self.sent[base] => {
                    if open.len() > self.sent.len() {
                        return Err(GitError::Corrupt(format!(
                            "delta cycle at object {}",
                            self.plan.entries()[next].id
                        )));
                    }
                    open.push(base);
                }
                Base::None
                | Base::Sent(_)
                | Base::InWholePack(_)
                | Base::Known(_)
                | Base::Missing => {
                    self.plan.record_offset(next, self.sink.written);
                    self.write_entry(next, stored)?;
                    self.sent[next] = true;
                    open.pop();
                }
            }
        }
        Ok(())
    }

    /// Finds the stored form of an object, and whether its base is sent or with the client.
    fn find_stored(&self, at: usize) -> Result<Stored, GitError> {
        let Entry { place, id, .. } = self.plan.entries()[at];
        let Some(place) = place else { return Ok(Stored { entry: None, base: Base::Missing }) };
        let pack = self.source.packs.get(place.pack());
        let data = pack.data().ok_or_else(|| GitError::Corrupt("a pack is missing".into()))?;
        let entry = data.entry(place.offset).map_err(failed)?;
        let base = match entry.header {
            Header::OfsDelta { base_distance } => {
                let offset = entry.checked_base_pack_offset(base_distance).ok_or_else(|| {
                    GitError::Corrupt(format!("the delta base of {id} is outside its pack"))
                })?;
                match self.plan.find(Place::new(place.pack(), offset)) {
                    Some(sent) => Base::Sent(sent),
                    None => pack.id_at(offset).map_or(Base::Missing, |id| self.classify_base(id)),
                }
            }
            Header::RefDelta { base_id } => self.classify_base(base_id),
            Header::Commit | Header::Tree | Header::Blob | Header::Tag => Base::None,
        };
        Ok(Stored { entry: Some(entry), base })
    }

    /// Decides whether the base of a delta is in this pack, with the client, or unavailable.
    fn classify_base(&self, id: ObjectId) -> Base {
        if let Some(offset) = self.plan.offset_in_whole_pack(&self.source.packs, id) {
            Base::InWholePack(offset)
        } else if let Some(sent) = self.plan.find_id(&self.source.packs, id) {
            Base::Sent(sent)
        } else if self.deltas.thin && self.known.ids.contains(&id) {
            Base::Known(id)
        } else {
            Base::Missing
        }
    }

    /// Writes an object whose base, if any, was written before.
    fn write_entry(&mut self, at: usize, stored: Stored) -> Result<(), GitError> {
        let Some(entry) = stored.entry else { return self.write_recompressed(at) };
        let header = match stored.base {
            Base::None => entry.header,
            Base::Sent(base) if self.deltas.by_offset => Header::OfsDelta {
                base_distance: self.sink.written - self.plan.recorded_offset(base),
            },
            Base::Sent(base) => Header::RefDelta { base_id: self.plan.entries()[base].id },
            Base::InWholePack(offset) => {
                Header::OfsDelta { base_distance: self.sink.written - offset }
            }
            Base::Known(base_id) => Header::RefDelta { base_id },
            Base::Missing => return self.write_recompressed(at),
        };
        let Entry { place, id, .. } = self.plan.entries()[at];
        let corrupt = || GitError::Corrupt(format!("the pack entry of {id} cannot be read"));
        let pack = self.source.packs.get(place.ok_or_else(corrupt)?.pack());
        let end = self.end_of_entry(pack, at)?;
        if matches!(stored.base, Base::None) && self.try_write_delta(at, end - entry.data_offset)? {
            return Ok(());
        }
        let data = pack.data().and_then(|data| data.entry_slice(entry.data_offset..end));
        self.write_header(at, header, entry.decompressed_size)?;
        self.sink.put(data.ok_or_else(corrupt)?)
    }

    /// Writes the header of an object. Refuses a delta whose base is neither in the pack nor with the client.
    fn write_header(&mut self, at: usize, header: Header, size: u64) -> Result<(), GitError> {
        if let Header::RefDelta { base_id } = header
            && self.plan.find_id(&self.source.packs, base_id).is_none()
        {
            if !self.deltas.thin || !self.known.ids.contains(&base_id) {
                let id = self.plan.entries()[at].id;
                return Err(GitError::Failed(format!(
                    "delta base {base_id} of {id} is neither in the pack nor with the client"
                )));
            }
            if let Some(client) = self.all_client_objects {
                client.check_base(base_id)?;
            }
        }
        self.begun += 1;
        header.write_to(size, &mut self.sink).map_err(reader_gone)?;
        Ok(())
    }

    /// The offset at which an entry ends in its pack.
    fn end_of_entry(&self, pack: &Pack, at: usize) -> Result<u64, GitError> {
        let entry = &self.plan.entries()[at];
        let end = entry.end().or_else(|| pack.end_of(entry.place?.offset));
        end.ok_or_else(|| {
            GitError::Corrupt(format!("the pack entry of {} cannot be read", entry.id))
        })
    }

    /// Writes an object whose stored form cannot be copied: as a delta on an object of the client, or else whole.
    fn write_recompressed(&mut self, at: usize) -> Result<(), GitError> {
        if self.try_write_delta(at, u64::MAX)? { Ok(()) } else { self.write_whole(at) }
    }

    /// Writes an object as a delta on a version that the client has, if there is one and the delta
    /// takes less than `most_bytes`. Returns whether the object was written.
    fn try_write_delta(&mut self, at: usize, most_bytes: u64) -> Result<bool, GitError> {
        let id = self.plan.entries()[at].id;
        let version = self.deltas.thin.then(|| self.known.version_of(id)).flatten();
        let Some(base_id) = version else { return Ok(false) };
        let repo = self.source.repo()?;
        let read = |id: ObjectId| -> Result<Option<Vec<u8>>, GitError> {
            // An object of the client may no longer exist in the repository.
            let header = repo.try_find_header(id).map_err(failed)?;
            if header.is_none_or(|header| header.size() > MOST_COMPARED) {
                return Ok(None);
            }
            let mut data = Vec::new();
            let found = repo.objects.try_find(&id, &mut data).map_err(failed)?;
            Ok(found.is_some().then_some(data))
        };
        let Some(target) = read(id)? else { return Ok(false) };
        let Some(base) = read(base_id)? else { return Ok(false) };
        let Some(delta) = delta::encode(&base, &target, target.len() / 2) else { return Ok(false) };
        let compressed = compress(&delta)?;
        if compressed.len() as u64 >= most_bytes {
            return Ok(false);
        }
        let header = Header::RefDelta { base_id };
        self.write_header(at, header, delta.len() as u64)?;
        self.sink.put(&compressed)?;
        Ok(true)
    }

    /// Writes an object without a delta.
    fn write_whole(&mut self, at: usize) -> Result<(), GitError> {
        let id = self.plan.entries()[at].id;
        let cache = &self.source.shared.compressed;
        if let Some(cached) = cache.get(id) {
            self.write_header(at, cached.header, cached.size)?;
            return self.sink.put(&cached.data);
        }
        let repo = self.source.repo()?;
        let stored = repo.find_header(id).map_err(failed)?;
        let (header, size) = (header_of(stored.kind()), stored.size());
        if stored.kind() == gix::object::Kind::Blob && size > blob::SMALL {
            self.write_header(at, header, size)?;
            let mut encoder = ZlibEncoder::new(&mut self.sink, Compression::default());
            blob::write(repo, id, &mut encoder)?;
            encoder.finish().map_err(reader_gone)?;
            return Ok(());
        }
        let found = repo.objects.try_find(&id, &mut self.buffer).map_err(failed)?;
        let data =
            found.ok_or_else(|| GitError::Corrupt(format!("the object {id} is missing")))?.data;
        if data.len() as u64 != size {
            return Err(GitError::Corrupt(format!(
                "the object {id} has another size than its pack entry"
            )));
        }
        let data = compress(data)?;
        if size > compressed::LARGEST {
            self.write_header(at, header, size)?;
            return self.sink.put(&data);
        }
        let cached = cache.insert(id, Compressed { header, size, data });
        self.write_header(at, header, size)?;
        self.sink.put(&cached.data)
    }
}

fn compress(data: &[u8]) -> Result<Vec<u8>, GitError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).and_then(|()| encoder.finish()).map_err(io_failed)
}
