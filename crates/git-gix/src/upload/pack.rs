//! A pack as it is sent.
//!
//! What lies in a pack already is copied as it is there, compressed; a delta stays one if the client gets its
//! base too, or has it. Nothing is held but where the objects are.

use std::io::{self, Write};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};
use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::objs::Find;
use gix::odb::pack::data;
use gix::odb::pack::data::entry::Header;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::output::Output;
use super::packs::Place;
use crate::blob;
use crate::error::{failed, reader_gone};

/// What a client can make sense of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deltas {
    /// Bases that it has and that are not sent.
    pub(super) thin: bool,
    /// Bases named by where they are in the pack.
    pub(super) by_offset: bool,
}

/// An object that is sent. Sorted by place, bases come before most of what is based on them.
struct Entry {
    place: Option<Place>,
    id: ObjectId,
    /// Where it is in what was sent, once it was.
    sent_at: u64,
}

/// Sends objects.
pub(super) fn write(
    source: &Source,
    ids: Vec<ObjectId>,
    known: &HashSet<ObjectId>,
    deltas: Deltas,
    output: &mut Output<'_>,
) -> Result<(), GitError> {
    let count = u32::try_from(ids.len())
        .map_err(|_| GitError::Failed("more objects than a pack can have".into()))?;
    let mut entries: Vec<Entry> =
        ids.into_iter().map(|id| Entry { place: source.packs.find(id), id, sent_at: 0 }).collect();
    // What is in no pack comes first.
    entries.sort_by_key(|entry| entry.place);
    let mut writer = Writer {
        source,
        known,
        deltas,
        sink: Sink { output, hasher: gix::hash::hasher(gix::hash::Kind::Sha1), written: 0 },
        entries,
        current: None,
        buffer: Vec::new(),
    };
    writer.sink.put(&data::header::encode(data::Version::V2, count))?;
    for at in 0..writer.entries.len() {
        writer.entries[at].sent_at = writer.sink.written;
        writer.entry(at)?;
    }
    let Sink { hasher, output, .. } = writer.sink;
    let checksum = hasher.try_finalize().map_err(failed)?;
    output.write_all(checksum.as_slice()).map_err(reader_gone)
}

/// Sends a pack as it is stored.
pub(super) fn copy(source: &Source, pack: u32, output: &mut Output<'_>) -> Result<(), GitError> {
    let all = source.packs.get(pack).data();
    let all = all.and_then(|data| data.entry_slice(0..data.data_len() as u64));
    let all = all.ok_or_else(|| GitError::Corrupt("a pack that ends early".into()))?;
    output.write_all(all).map_err(reader_gone)
}

/// Counts and hashes what goes through it.
struct Sink<'a, 'to> {
    output: &'a mut Output<'to>,
    hasher: gix::hash::Hasher,
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
        self.hasher.update(data);
        self.written += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is known of the pack that is being copied from.
struct Current {
    pack: u32,
    /// Where its entries begin, when so many are copied that it is worth to know all.
    offsets: Option<Vec<u64>>,
    /// Where objects are that the client has, in order.
    known: Option<Vec<(u64, ObjectId)>>,
}

struct Writer<'a, 'to> {
    source: &'a Source,
    known: &'a HashSet<ObjectId>,
    deltas: Deltas,
    sink: Sink<'a, 'to>,
    entries: Vec<Entry>,
    current: Option<Current>,
    buffer: Vec<u8>,
}

impl Writer<'_, '_> {
    fn entry(&mut self, at: usize) -> Result<(), GitError> {
        let Entry { place: Some(place), id, .. } = self.entries[at] else {
            return self.whole(self.entries[at].id);
        };
        let pack = self.source.packs.get(place.pack);
        let Some(stored) = pack.data() else { return self.whole(id) };
        let entry = stored.entry(place.offset).map_err(failed)?;
        let header = match entry.header {
            Header::OfsDelta { base_distance } => {
                let base = entry
                    .checked_base_pack_offset(base_distance)
                    .ok_or_else(|| GitError::Corrupt(format!("the base of {id}")))?;
                self.on_base(Place { offset: base, ..place }, None)
            }
            Header::RefDelta { base_id } => {
                let base = pack.index.lookup(base_id);
                let offset = base.map_or(0, |base| pack.index.pack_offset_at_index(base));
                self.on_base(Place { offset, ..place }, Some(base_id))
            }
            header => Some(header),
        };
        let Some(header) = header else { return self.whole(id) };
        let end = self.end(stored, place, entry.data_offset)?;
        let compressed = stored
            .entry_slice(entry.data_offset..end)
            .ok_or_else(|| GitError::Corrupt(format!("the entry of {id}")))?;
        let size = entry.decompressed_size;
        header.write_to(size, &mut self.sink).map_err(reader_gone)?;
        self.sink.put(compressed)
    }

    /// How a delta is sent whose base is there, if it can be sent as one.
    fn on_base(&mut self, base: Place, base_id: Option<ObjectId>) -> Option<Header> {
        // A base that is sent from another pack may itself be based on what is based on it.
        if let Ok(sent) = self.entries.binary_search_by_key(&Some(base), |entry| entry.place) {
            let sent = &self.entries[sent];
            return Some(if self.deltas.by_offset && sent.sent_at != 0 {
                Header::OfsDelta { base_distance: self.sink.written - sent.sent_at }
            } else {
                Header::RefDelta { base_id: sent.id }
            });
        }
        if !self.deltas.thin {
            return None;
        }
        let base_id = match base_id {
            Some(base_id) => Some(base_id).filter(|id| self.known.contains(id)),
            None => self.known_at(base),
        };
        base_id.map(|base_id| Header::RefDelta { base_id })
    }

    fn known_at(&mut self, place: Place) -> Option<ObjectId> {
        let all = self.known;
        let pack = self.source.packs.get(place.pack);
        let known = self.current(place.pack).known.get_or_insert_with(|| {
            let offset = |id: &ObjectId| {
                let entry = pack.index.lookup(*id)?;
                Some((pack.index.pack_offset_at_index(entry), *id))
            };
            let mut known: Vec<_> = all.iter().filter_map(offset).collect();
            known.sort_unstable();
            known
        });
        let at = known.binary_search_by_key(&place.offset, |(offset, _)| *offset).ok()?;
        Some(known[at].1)
    }

    fn current(&mut self, pack: u32) -> &mut Current {
        if self.current.as_ref().is_none_or(|current| current.pack != pack) {
            let index = &self.source.packs.get(pack).index;
            let before = |entry: &Entry, pack| entry.place.is_none_or(|place| place.pack < pack);
            let start = self.entries.partition_point(|entry| before(entry, pack));
            let copied = self.entries[start..].partition_point(|entry| before(entry, pack + 1));
            // Sorting all offsets costs less than to inflate some of the entries.
            let many = copied >= 20 && copied >= index.num_objects() as usize / 50;
            let offsets = many.then(|| index.sorted_offsets());
            self.current = Some(Current { pack, offsets, known: None });
        }
        self.current.as_mut().expect("it was made above")
    }

    /// Where an entry ends whose data begins there.
    fn end(&mut self, pack: &data::File, place: Place, data: u64) -> Result<u64, GitError> {
        if let Some(offsets) = &self.current(place.pack).offsets {
            let next = offsets.partition_point(|&offset| offset <= place.offset);
            return Ok(offsets.get(next).copied().unwrap_or(pack.pack_end() as u64));
        }
        let compressed = pack.entry_slice(data..pack.pack_end() as u64);
        let length =
            compressed.and_then(|compressed| inflated_length(compressed, &mut self.buffer));
        let length = length.ok_or_else(|| GitError::Corrupt("an entry of a pack".into()))?;
        Ok(data + length)
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
