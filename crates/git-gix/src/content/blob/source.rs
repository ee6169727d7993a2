//! Opens blobs as decompressing streams.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;
use gix::odb::pack;
use hexforge_domain::ports::git::GitError;

use super::{PIECE, damaged, unreadable};
use crate::error::{failed, io_failed};

/// A stream at the start of a blob's content.
pub(super) type Source = BufReader<ZlibDecoder<BufReader<File>>>;

/// Opens a blob that is not stored as a delta. Returns `None` for a delta.
pub(super) fn open(repo: &gix::Repository, id: gix::ObjectId) -> Result<Option<Source>, GitError> {
    for folder in object_folders(repo)? {
        if let Some(source) = open_loose(&folder, id)? {
            return Ok(Some(source));
        }
        if let Some(source) = open_packed(&folder.join("pack"), id)? {
            return Ok(Some(source));
        }
    }
    Ok(None)
}

/// The object folder of the repository, then those of its alternates.
fn object_folders(repo: &gix::Repository) -> Result<Vec<PathBuf>, GitError> {
    let own = repo.objects.store_ref().path().to_owned();
    let here = std::env::current_dir().map_err(io_failed)?;
    let borrowed = gix::odb::alternate::resolve(own.clone(), &here).map_err(failed)?;
    Ok([own].into_iter().chain(borrowed).collect())
}

fn open_loose(folder: &Path, id: gix::ObjectId) -> Result<Option<Source>, GitError> {
    let name = id.to_hex().to_string();
    let Some(file) = open_file(&folder.join(&name[..2]).join(&name[2..]))? else {
        return Ok(None);
    };
    let mut source = inflate(BufReader::with_capacity(PIECE, file));
    // A loose object starts with `blob <size>` and a zero byte.
    let mut header = Vec::new();
    let read = source.by_ref().take(32).read_until(0, &mut header);
    read.map_err(|error| unreadable(error, id))?;
    if header.starts_with(b"blob ") && header.ends_with(b"\0") {
        Ok(Some(source))
    } else {
        Err(damaged(id))
    }
}

fn open_packed(folder: &Path, id: gix::ObjectId) -> Result<Option<Source>, GitError> {
    let packs = match folder.read_dir() {
        Ok(packs) => packs,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_failed(error)),
    };
    for pack in packs {
        let path = pack.map_err(io_failed)?.path();
        if path.extension().is_none_or(|extension| extension != "idx") {
            continue;
        }
        // An unreadable pack may just have been removed; the object is then in another one.
        let Ok(index) = pack::index::File::at(&path, id.kind()) else { continue };
        let Some(entry) = index.lookup(id) else { continue };
        let offset = index.pack_offset_at_index(entry);
        if let Some(source) = open_entry(&path.with_extension("pack"), offset, id)? {
            return Ok(Some(source));
        }
    }
    Ok(None)
}

/// Opens an entry of a pack, unless it is a delta.
fn open_entry(path: &Path, offset: u64, id: gix::ObjectId) -> Result<Option<Source>, GitError> {
    let Some(file) = open_file(path)? else { return Ok(None) };
    let mut file = BufReader::with_capacity(PIECE, file);
    file.seek(SeekFrom::Start(offset)).map_err(io_failed)?;
    let entry = pack::data::Entry::from_read(&mut file, offset, id.kind().len_in_bytes())
        .map_err(|_| damaged(id))?;
    match entry.header {
        pack::data::entry::Header::Blob => Ok(Some(inflate(file))),
        header if header.is_delta() => Ok(None),
        _ => Err(damaged(id)),
    }
}

fn inflate(file: BufReader<File>) -> Source {
    BufReader::with_capacity(64, ZlibDecoder::new(file))
}

fn open_file(path: &Path) -> Result<Option<File>, GitError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_failed(error)),
    }
}
