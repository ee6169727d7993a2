//! Computes the SHA-256 of files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hexforge_domain::pack::PackName;
use sha2::{Digest, Sha256};

/// The size of the read buffer in bytes.
const BUFFER: usize = 256 * 1024;

/// Computes the name of a pack, which is the SHA-256 of its bytes, and its size in bytes.
pub(crate) fn hash_pack(file: &Path) -> io::Result<(PackName, u64)> {
    let mut file = File::open(file)?;
    let (mut hasher, mut buffer, mut bytes) = (Sha256::new(), vec![0; BUFFER], 0);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((PackName::from_bytes(hasher.finalize().into()), bytes)),
            Ok(read) => {
                hasher.update(&buffer[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
}
