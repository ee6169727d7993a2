//! Writes pack files and their indexes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use gix::ObjectId;
use gix::object::Kind;
use gix::odb::pack::data;
use gix::odb::pack::data::entry::Header;
use hexforge_domain::ports::git::GitError;

use crate::error::{failed, io_failed};
use crate::storage::pack_index::{self, Hashed, Indexed, header_of};

/// The size of the write buffer in bytes.
const BUFFER: usize = 256 * 1024;

/// The files of a new pack and its index. They are not synced yet.
pub(crate) struct PackFiles {
    pub(crate) data: PathBuf,
    pub(crate) index: PathBuf,
    /// The number of objects.
    pub(crate) objects: usize,
    /// Whether each delta comes after its base.
    pub(crate) is_in_order: bool,
}

/// Writes one pack file.
pub(crate) struct PackWriter {
    to: Hashed<BufWriter<File>>,
    data: PathBuf,
    written: u64,
    objects: Vec<Indexed>,
    is_in_order: bool,
}

impl PackWriter {
    /// Starts a pack with this number of objects in a folder that has no `pack-new.pack` yet.
    pub(crate) fn new(folder: &Path, objects: u32) -> Result<Self, GitError> {
        let data = folder.join("pack-new.pack");
        let file = BufWriter::with_capacity(BUFFER, File::create_new(&data).map_err(io_failed)?);
        let to = Hashed { inner: file, hasher: gix::hash::hasher(gix::hash::Kind::Sha1) };
        let mut writer = Self { to, data, written: 0, objects: Vec::new(), is_in_order: true };
        writer.put(&data::header::encode(data::Version::V2, objects))?;
        Ok(writer)
    }

    /// The offset of the next entry.
    pub(crate) fn offset(&self) -> u64 {
        self.written
    }

    /// Compresses and writes an object without delta.
    pub(crate) fn put_object(
        &mut self,
        id: ObjectId,
        kind: Kind,
        data: &[u8],
    ) -> Result<(), GitError> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        let compressed =
            encoder.write_all(data).and_then(|()| encoder.finish()).map_err(io_failed)?;
        self.put_entry(id, header_of(kind), data.len() as u64, &compressed)
    }

    /// Writes an entry whose data is already compressed. The base of a delta is named by its id only if it follows.
    pub(crate) fn put_entry(
        &mut self,
        id: ObjectId,
        header: Header,
        size: u64,
        compressed: &[u8],
    ) -> Result<(), GitError> {
        self.is_in_order &= !matches!(header, Header::RefDelta { .. });
        let mut bytes = Vec::with_capacity(32);
        header.write_to(size, &mut bytes).map_err(io_failed)?;
        let mut crc = Crc::new();
        crc.update(&bytes);
        crc.update(compressed);
        self.objects.push(Indexed { id, crc: crc.sum(), offset: self.written });
        self.put(&bytes)?;
        self.put(compressed)
    }

    /// Writes the checksum of the pack, and then its index.
    pub(crate) fn finish(self) -> Result<PackFiles, GitError> {
        let Self { to, data, objects, is_in_order, .. } = self;
        let count = objects.len();
        let checksum = to.hasher.try_finalize().map_err(failed)?;
        let mut file = to.inner;
        file.write_all(checksum.as_slice()).and_then(|()| file.flush()).map_err(io_failed)?;
        let index = data.with_extension("idx");
        let mut file = BufWriter::new(File::create_new(&index).map_err(io_failed)?);
        pack_index::write(objects, &checksum, &mut file)
            .and_then(|()| file.flush())
            .map_err(io_failed)?;
        Ok(PackFiles { data, index, objects: count, is_in_order })
    }

    fn put(&mut self, data: &[u8]) -> Result<(), GitError> {
        self.written += data.len() as u64;
        self.to.write_all(data).map_err(io_failed)
    }
}
