//! A pack as it is sent.
//!
//! What lies in a pack already is copied as it is there, compressed; a delta stays one if the client gets its
//! base too, or has it. Nothing is held but the [plan](super::plan) of it.

use std::io::{self, Write};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};
use gix::ObjectId;
use gix::objs::Find;
use gix::odb::pack::data;
use gix::odb::pack::data::entry::Header;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::delta;
use super::objects::Had;
use super::output::Output;
use super::packs::Place;
use super::plan::{Entry, Objects};
use crate::blob;
use crate::error::{failed, io as io_failed, reader_gone};

/// Larger objects are not compared with what they were before.
const MOST_COMPARED: u64 = 1 << 20;

/// What a client can make sense of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deltas {
    /// Bases that it has and that are not sent.
    pub(super) thin: bool,
    /// Bases named by where they are in the pack.
    pub(super) by_offset: bool,
}

/// Sends objects.
pub(super) fn write(
    source: &Source,
    plan: &Objects,
    had: &Had,
    deltas: Deltas,
    output: &mut Output<'_>,
) -> Result<(), GitError> {
    let entries = plan.entries();
    let count = u32::try_from(entries.len())
        .map_err(|_| GitError::Failed("more objects than a pack can have".into()))?;
    let checksum = plan.checksum();
    let hasher = checksum.is_none().then(|| gix::hash::hasher(gix::hash::Kind::Sha1));
    let mut writer = Writer {
        source,
        had,
        deltas,
        sink: Sink { output, hasher, written: 0 },
        plan,
        known_places: None,
        buffer: Vec::new(),
    };
    writer.sink.put(&data::header::encode(data::Version::V2, count))?;
    for at in 0..entries.len() {
        plan.sent(at, writer.sink.written);
        writer.entry(at)?;
    }
    let Sink { hasher, output, .. } = writer.sink;
    let checksum = match (checksum, hasher) {
        (Some(checksum), _) => checksum,
        (None, Some(hasher)) => plan.note_checksum(hasher.try_finalize().map_err(failed)?),
        (None, None) => return Err(GitError::Failed("a pack without a checksum".into())),
    };
    output.write_all(checksum.as_slice()).map_err(reader_gone)
}

/// Sends a pack as it is stored.
pub(super) fn copy(source: &Source, pack: u32, output: &mut Output<'_>) -> Result<(), GitError> {
    let all = source.packs.get(pack).data();
    let all = all.and_then(|data| data.entry_slice(0..data.data_len() as u64));
    let all = all.ok_or_else(|| GitError::Corrupt("a pack that ends early".into()))?;
    output.write_all(all).map_err(reader_gone)
}

/// Counts what goes through it, and hashes it if it was never sent before.
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

/// Where objects are in a pack that the client has, in order.
struct KnownPlaces {
    pack: u32,
    places: Vec<(u64, ObjectId)>,
}

struct Writer<'a, 'to> {
    source: &'a Source,
    had: &'a Had,
    deltas: Deltas,
    sink: Sink<'a, 'to>,
    plan: &'a Objects,
    /// Of the pack that is being copied from.
    known_places: Option<KnownPlaces>,
    buffer: Vec<u8>,
}

impl Writer<'_, '_> {
    fn entry(&mut self, at: usize) -> Result<(), GitError> {
        let Entry { place, id, .. } = self.plan.entries()[at];
        let Some(place) = place else { return self.anew(id) };
        let pack = self.source.packs.get(place.pack());
        let stored = pack.data().ok_or_else(|| GitError::Corrupt("a pack that is gone".into()))?;
        let entry = stored.entry(place.offset).map_err(failed)?;
        let header = match entry.header {
            Header::OfsDelta { base_distance } => {
                let base = entry
                    .checked_base_pack_offset(base_distance)
                    .ok_or_else(|| GitError::Corrupt(format!("the base of {id}")))?;
                self.on_base(at, Place::new(place.pack(), base), None)
            }
            Header::RefDelta { base_id } => {
                let base = pack.index.lookup(base_id);
                let offset = base.map_or(0, |base| pack.index.pack_offset_at_index(base));
                self.on_base(at, Place::new(place.pack(), offset), Some(base_id))
            }
            header => Some(header),
        };
        let Some(header) = header else { return self.anew(id) };
        let end = self.end(stored, at, entry.data_offset)?;
        let is_delta = matches!(header, Header::OfsDelta { .. } | Header::RefDelta { .. });
        if !is_delta && self.difference(id, end - entry.data_offset)? {
            return Ok(());
        }
        let compressed = stored
            .entry_slice(entry.data_offset..end)
            .ok_or_else(|| GitError::Corrupt(format!("the entry of {id}")))?;
        let size = entry.decompressed_size;
        header.write_to(size, &mut self.sink).map_err(reader_gone)?;
        self.sink.put(compressed)
    }

    /// How a delta is sent whose base is there, if it can be sent as one.
    fn on_base(&mut self, at: usize, base: Place, base_id: Option<ObjectId>) -> Option<Header> {
        // A base that is sent from another pack may itself be based on what is based on it.
        if let Some(sent) = self.plan.find(base) {
            return Some(if self.deltas.by_offset && sent < at {
                Header::OfsDelta { base_distance: self.sink.written - self.plan.sent_at(sent) }
            } else {
                Header::RefDelta { base_id: self.plan.entries()[sent].id }
            });
        }
        if !self.deltas.thin {
            return None;
        }
        let base_id = match base_id {
            Some(base_id) => Some(base_id).filter(|id| self.had.known.contains(id)),
            None => self.known_at(base),
        };
        base_id.map(|base_id| Header::RefDelta { base_id })
    }

    fn known_at(&mut self, place: Place) -> Option<ObjectId> {
        if self.known_places.as_ref().is_none_or(|known| known.pack != place.pack()) {
            let index = &self.source.packs.get(place.pack()).index;
            let offset = |id: &ObjectId| {
                let entry = index.lookup(*id)?;
                Some((index.pack_offset_at_index(entry), *id))
            };
            let mut places: Vec<_> = self.had.known.iter().filter_map(offset).collect();
            places.sort_unstable();
            self.known_places = Some(KnownPlaces { pack: place.pack(), places });
        }
        let places = &self.known_places.as_ref()?.places;
        let at = places.binary_search_by_key(&place.offset, |(offset, _)| *offset).ok()?;
        Some(places[at].1)
    }

    /// Where an entry ends whose data begins there.
    fn end(&mut self, pack: &data::File, at: usize, data: u64) -> Result<u64, GitError> {
        if let Some(end) = self.plan.entries()[at].end() {
            return Ok(end);
        }
        let compressed = pack.entry_slice(data..pack.pack_end() as u64);
        let length =
            compressed.and_then(|compressed| inflated_length(compressed, &mut self.buffer));
        let length = length.ok_or_else(|| GitError::Corrupt("an entry of a pack".into()))?;
        Ok(data + length)
    }

    /// Sends an object that is not stored in a form that can be sent.
    fn anew(&mut self, id: ObjectId) -> Result<(), GitError> {
        if self.difference(id, u64::MAX)? { Ok(()) } else { self.whole(id) }
    }

    /// Sends an object as what differs from a version that the client has, if there is one and that takes less
    /// than so many bytes. Whether it was sent.
    fn difference(&mut self, id: ObjectId, limit: u64) -> Result<bool, GitError> {
        let version = self.deltas.thin.then(|| self.had.version_of(id)).flatten();
        let Some(base_id) = version else { return Ok(false) };
        let repo = self.source.repo()?;
        let read = |id: ObjectId| -> Result<Option<Vec<u8>>, GitError> {
            let header = repo.find_header(id).map_err(failed)?;
            if header.size() > MOST_COMPARED {
                return Ok(None);
            }
            let mut data = Vec::new();
            let found = repo.objects.try_find(&id, &mut data).map_err(failed)?;
            Ok(found.is_some().then_some(data))
        };
        let Some(target) = read(id)? else { return Ok(false) };
        let Some(base) = read(base_id)? else { return Ok(false) };
        let Some(delta) = delta::encode(&base, &target, target.len() / 2) else { return Ok(false) };
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        let compressed = encoder.write_all(&delta).and_then(|()| encoder.finish());
        let compressed = compressed.map_err(io_failed)?;
        if compressed.len() as u64 >= limit {
            return Ok(false);
        }
        let header = Header::RefDelta { base_id };
        header.write_to(delta.len() as u64, &mut self.sink).map_err(reader_gone)?;
        self.sink.put(&compressed)?;
        Ok(true)
    }

    /// Sends an object by itself.
    fn whole(&mut self, id: ObjectId) -> Result<(), GitError> {
        let repo = self.source.repo()?;
        let header = repo.find_header(id).map_err(failed)?;
        let kind = match header.kind() {
            gix::object::Kind::Commit => Header::Commit,
            gix::object::Kind::Tree => Header::Tree,
            gix::object::Kind::Blob => Header::Blob,
            gix::object::Kind::Tag => Header::Tag,
        };
        kind.write_to(header.size(), &mut self.sink).map_err(reader_gone)?;
        let mut encoder = ZlibEncoder::new(&mut self.sink, Compression::default());
        if header.kind() == gix::object::Kind::Blob && header.size() > blob::SMALL {
            blob::write(repo, id, &mut encoder)?;
        } else {
            let found = repo.objects.try_find(&id, &mut self.buffer).map_err(failed)?;
            let data = found.ok_or_else(|| GitError::Corrupt(format!("no object {id}")))?.data;
            if data.len() as u64 != header.size() {
                return Err(GitError::Corrupt(format!("the size of {id}")));
            }
            encoder.write_all(data).map_err(reader_gone)?;
        }
        encoder.finish().map_err(reader_gone)?;
        Ok(())
    }
}

/// How many bytes a compressed stream has that begins there.
fn inflated_length(compressed: &[u8], buffer: &mut Vec<u8>) -> Option<u64> {
    buffer.resize(32 << 10, 0);
    let mut inflate = Decompress::new(true);
    loop {
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let from = &compressed[usize::try_from(read).ok()?..];
        match inflate.decompress(from, buffer, FlushDecompress::None).ok()? {
            Status::StreamEnd => return Some(inflate.total_in()),
            _ if (read, written) == (inflate.total_in(), inflate.total_out()) => return None,
            _ => {}
        }
    }
}
