//! A pack as it is sent.
//!
//! What lies in a pack already is copied as it is there, compressed; a delta stays one if the client gets its
//! base too, or has it. Nothing is held but the [plan](super::plan) of it.
//!
//! **Why every delta can be resolved.** Each object is taken from the first pack that has it, in a fixed order of the
//! packs. The stored base of an object lies in the same pack as the object, so the base is taken from that pack or
//! from one before it. Within a pack, stored deltas form no circle; so neither do those that are sent. All other
//! bases are objects that the client has and that are not sent.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::objs::Find;
use gix::odb::pack::data;
use gix::odb::pack::data::entry::Header;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::delta;
use super::known::Known;
use super::output::Output;
use super::packs::{Pack, Place};
use super::plan::{Entry, Objects};
use super::verify::ClientObjects;
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

/// What the client has.
#[derive(Clone, Copy)]
pub(super) struct Has<'a> {
    /// Bases of deltas can be among these.
    pub(super) known: &'a Known,
    /// Everything that it has, where answers are verified.
    pub(super) verified: Option<&'a ClientObjects>,
}

/// Sends objects.
pub(super) fn write(
    source: &Source,
    plan: &Objects,
    has: Has<'_>,
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
        known: has.known,
        client: has.verified,
        deltas,
        sink: Sink { output, hasher, written: 0 },
        plan,
        begun: 0,
        buffer: Vec::new(),
    };
    writer.sink.put(&data::header::encode(data::Version::V2, count))?;
    for at in 0..entries.len() {
        plan.sent(at, writer.sink.written);
        writer.entry(at)?;
    }
    if writer.begun != count {
        return Err(GitError::Failed(format!("{} objects were sent, not {count}", writer.begun)));
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

/// The stored base of a delta.
struct Base {
    place: Place,
    /// Known where the pack names it.
    id: Option<ObjectId>,
}

struct Writer<'a, 'to> {
    source: &'a Source,
    known: &'a Known,
    client: Option<&'a ClientObjects>,
    deltas: Deltas,
    sink: Sink<'a, 'to>,
    plan: &'a Objects,
    /// How many objects were begun.
    begun: u32,
    buffer: Vec<u8>,
}

impl Writer<'_, '_> {
    fn entry(&mut self, at: usize) -> Result<(), GitError> {
        let Entry { place, id, .. } = self.plan.entries()[at];
        let Some(place) = place else { return self.anew(at) };
        let pack = self.source.packs.get(place.pack());
        let stored = pack.data().ok_or_else(|| GitError::Corrupt("a pack that is gone".into()))?;
        let entry = stored.entry(place.offset).map_err(failed)?;
        let header = match entry.header {
            Header::OfsDelta { base_distance } => {
                let base = entry
                    .checked_base_pack_offset(base_distance)
                    .ok_or_else(|| GitError::Corrupt(format!("the base of {id}")))?;
                self.on_base(at, Base { place: Place::new(place.pack(), base), id: None })
            }
            Header::RefDelta { base_id } => {
                let base = pack.index.lookup(base_id);
                let offset = base.map_or(0, |base| pack.index.pack_offset_at_index(base));
                let place = Place::new(place.pack(), offset);
                self.on_base(at, Base { place, id: Some(base_id) })
            }
            header => Some(header),
        };
        let Some(header) = header else { return self.anew(at) };
        let end = self.end(pack, at)?;
        let is_delta = matches!(header, Header::OfsDelta { .. } | Header::RefDelta { .. });
        if !is_delta && self.difference(at, end - entry.data_offset)? {
            return Ok(());
        }
        let compressed = stored
            .entry_slice(entry.data_offset..end)
            .ok_or_else(|| GitError::Corrupt(format!("the entry of {id}")))?;
        let size = entry.decompressed_size;
        self.begin(at, header, size)?;
        self.sink.put(compressed)
    }

    /// Begins an object in the pack. Refuses a delta whose base is neither in the pack nor with the client.
    fn begin(&mut self, at: usize, header: Header, size: u64) -> Result<(), GitError> {
        if let Header::RefDelta { base_id } = header
            && !self.plan.contains(&self.source.packs, base_id)
        {
            if !self.deltas.thin || !self.known.ids.contains(&base_id) {
                let id = self.plan.entries()[at].id;
                return Err(GitError::Failed(format!("the base {base_id} of {id} is elsewhere")));
            }
            if let Some(client) = self.client {
                client.check_base(base_id)?;
            }
        }
        self.begun += 1;
        header.write_to(size, &mut self.sink).map_err(reader_gone)?;
        Ok(())
    }

    /// How a delta on a stored base is sent, if it can be sent as one.
    fn on_base(&self, at: usize, base: Base) -> Option<Header> {
        let packs = &self.source.packs;
        if let Some(sent) = self.plan.find(base.place) {
            return Some(self.on_sent(at, sent));
        }
        let id = base.id.or_else(|| packs.get(base.place.pack()).id_at(base.place.offset))?;
        // The base may be sent too, from a pack before this one.
        if let Some(sent) = packs.find_open(id).and_then(|place| self.plan.find(place)) {
            return Some(self.on_sent(at, sent));
        }
        let known = self.deltas.thin && self.known.ids.contains(&id);
        known.then_some(Header::RefDelta { base_id: id })
    }

    /// How a delta on an object that is sent too is sent.
    fn on_sent(&self, at: usize, base: usize) -> Header {
        if self.deltas.by_offset && base < at {
            Header::OfsDelta { base_distance: self.sink.written - self.plan.sent_at(base) }
        } else {
            Header::RefDelta { base_id: self.plan.entries()[base].id }
        }
    }

    /// Where an entry ends in its pack.
    fn end(&self, pack: &Pack, at: usize) -> Result<u64, GitError> {
        let entry = &self.plan.entries()[at];
        let end = entry.end().or_else(|| pack.end_of(entry.place?.offset));
        end.ok_or_else(|| GitError::Corrupt(format!("the entry of {}", entry.id)))
    }

    /// Sends an object that is not stored in a form that can be sent.
    fn anew(&mut self, at: usize) -> Result<(), GitError> {
        if self.difference(at, u64::MAX)? { Ok(()) } else { self.whole(at) }
    }

    /// Sends an object as what differs from a version that the client has, if there is one and that takes less
    /// than so many bytes. Whether it was sent.
    fn difference(&mut self, at: usize, limit: u64) -> Result<bool, GitError> {
        let id = self.plan.entries()[at].id;
        let version = self.deltas.thin.then(|| self.known.version_of(id)).flatten();
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
        self.begin(at, header, delta.len() as u64)?;
        self.sink.put(&compressed)?;
        Ok(true)
    }

    /// Sends an object by itself.
    fn whole(&mut self, at: usize) -> Result<(), GitError> {
        let id = self.plan.entries()[at].id;
        let repo = self.source.repo()?;
        let header = repo.find_header(id).map_err(failed)?;
        let kind = match header.kind() {
            gix::object::Kind::Commit => Header::Commit,
            gix::object::Kind::Tree => Header::Tree,
            gix::object::Kind::Blob => Header::Blob,
            gix::object::Kind::Tag => Header::Tag,
        };
        self.begin(at, kind, header.size())?;
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
