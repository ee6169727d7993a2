//! Summarizes a stored pack by reading all of its objects.

use gix::ObjectId;
use gix::object::Kind;
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use gix::odb::pack::data::decode::{entry, header};
use gix::odb::pack::data::entry::Header;
use gix::odb::pack::data::{Entry, File};
use hexforge_domain::ports::git::GitError;

use super::{PackSummary, SummaryBuilder};
use crate::content::links::each_link_in;
use crate::error::failed;
use crate::protocol::upload::packs::Pack;

/// The size of the cache of delta bases, in bytes.
const DELTA_BASE_CACHE_BYTES: usize = 32 << 20;

/// Reads all objects of a pack but blobs, and summarizes it. The pack must contain the bases of its deltas. Returns
/// `None` if the summary would have too many ids. Does not check the order of deltas.
pub(crate) fn read(pack: &Pack) -> Result<Option<PackSummary>, GitError> {
    let index = &pack.index;
    let unreadable = || corrupt(pack);
    let data = pack.data().ok_or_else(unreadable)?;
    let mut links = SummaryBuilder::new(index.num_objects() as usize);
    let mut reader = Reader {
        pack,
        data,
        inflate: gix::zlib::Inflate::default(),
        bases: MemoryCappedHashmap::new(DELTA_BASE_CACHE_BYTES),
        buffer: Vec::new(),
    };
    // Neighbours in the pack have bases in common.
    for &at in pack.by_offset() {
        let Some(kind) = reader.read(index.pack_offset_at_index(at))? else { continue };
        let id = index.oid_at_index(at).to_owned();
        each_link_in(id, kind, &reader.buffer, |id, _| match index.lookup(id) {
            Some(at) => links.link(at as usize),
            None => links.link_outside(id),
        })?;
    }
    // An index has less than 2^32 objects.
    Ok(links.finish(|number| index.oid_at_index(number as u32).to_owned(), false))
}

/// Returns whether each delta of a pack comes after its base. Returns `None` if the pack cannot be read.
pub(crate) fn is_in_order(pack: &Pack) -> Option<bool> {
    let data = pack.data()?;
    for &at in pack.by_offset() {
        let offset = pack.index.pack_offset_at_index(at);
        if let Header::RefDelta { base_id } = data.entry(offset).ok()?.header
            && pack.index.pack_offset_at_index(pack.index.lookup(base_id)?) > offset
        {
            return Some(false);
        }
    }
    Some(true)
}

fn corrupt(pack: &Pack) -> GitError {
    GitError::Corrupt(format!("the pack {} cannot be read", pack.path().display()))
}

/// Decodes entries of one pack.
struct Reader<'a> {
    pack: &'a Pack,
    data: &'a File,
    inflate: gix::zlib::Inflate,
    bases: MemoryCappedHashmap,
    buffer: Vec<u8>,
}

impl Reader<'_> {
    /// Decodes the object at this offset into the buffer. Returns `None` for a blob, which is not decoded.
    fn read(&mut self, offset: u64) -> Result<Option<Kind>, GitError> {
        let Self { pack, data, inflate, bases, buffer } = self;
        let entry = data.entry(offset).map_err(failed)?;
        let base_entry = |id: &gix::oid| -> Result<Option<Entry>, gix::Error> {
            let found = pack.index.lookup(ObjectId::from(id));
            found.map(|at| data.entry(pack.index.pack_offset_at_index(at))).transpose()
        };
        let resolve = |id: &gix::oid| Ok(base_entry(id)?.map(header::ResolvedBase::InPack));
        let kind = data.decode_header(entry.clone(), inflate, &resolve).map_err(failed)?.kind;
        if kind == Kind::Blob {
            return Ok(None);
        }
        let resolve =
            |id: &gix::oid, _: &mut Vec<u8>| Ok(base_entry(id)?.map(entry::ResolvedBase::InPack));
        let decoded = data.decode_entry(entry, buffer, inflate, &resolve, bases).map_err(failed)?;
        let size = usize::try_from(decoded.object_size).map_err(|_| corrupt(pack))?;
        buffer.truncate(size);
        Ok(Some(kind))
    }
}
