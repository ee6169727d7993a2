//! The checksum that runners report about a log: CRC-32, as in zip files.

use std::io::Read;

use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::uploads::StoredFile;

use crate::error::Error;

/// The size of the blocks in which logs are read.
const BLOCK: usize = 256 << 10;

/// The checksum of each byte.
const TABLE: [u32; 256] = {
    let (mut table, mut at) = ([0; 256], 0);
    while at < 256 {
        let (mut value, mut bit) = (at as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[at] = value;
        at += 1;
    }
    table
};

/// The checksum of a stored log, as runners write it.
pub(super) fn of(mut log: StoredFile) -> Result<String, Error> {
    let (mut state, mut block) = (u32::MAX, vec![0; BLOCK]);
    loop {
        let read = log.content.read(&mut block);
        let read = read.map_err(|error| {
            FilesError("the log of a build cannot be read".to_owned(), Box::new(error))
        })?;
        if read == 0 {
            return Ok(text(state));
        }
        state = update(state, &block[..read]);
    }
}

/// The checksum of an empty log.
pub(super) fn of_nothing() -> String {
    text(u32::MAX)
}

fn text(state: u32) -> String {
    format!("crc32:{:08x}", !state)
}

fn update(state: u32, block: &[u8]) -> u32 {
    block
        .iter()
        .fold(state, |state, byte| TABLE[usize::from(state.to_le_bytes()[0] ^ byte)] ^ (state >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip() {
        assert_eq!(text(update(u32::MAX, b"123456789")), "crc32:cbf43926");
        assert_eq!(of_nothing(), "crc32:00000000");
    }
}
