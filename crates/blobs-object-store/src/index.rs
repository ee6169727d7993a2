//! Checks whether a pack index is undamaged and belongs to a pack.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use sha1::{Digest, Sha1};

/// The length of a git checksum.
const CHECKSUM: usize = 20;

/// The first bytes of a version 2 index.
const MAGIC: [u8; 4] = *b"\xfftOc";

/// Returns whether the index contains the checksum of the pack, and ends in its own checksum. A file that is not a
/// version 2 index is not checked.
pub(crate) fn belongs_to(index: &Path, pack: &Path) -> io::Result<bool> {
    let index = fs::read(index)?;
    if !index.starts_with(&MAGIC) || index.len() < 2 * CHECKSUM {
        return Ok(true);
    }
    let (rest, own) = index.split_at(index.len() - CHECKSUM);
    let mut pack = File::open(pack)?;
    let mut checksum = [0; CHECKSUM];
    pack.seek(SeekFrom::End(-(CHECKSUM as i64)))?;
    pack.read_exact(&mut checksum)?;
    Ok(rest.ends_with(&checksum) && Sha1::digest(rest).as_slice() == own)
}
