//! Writes tar archives: the POSIX format, with the field values of `git archive`.

use std::io::{self, Write};

use hexforge_domain::ports::git::GitError;

use super::counted::CountingWriter;
use super::entry::{ArchivedCommit, Entry, Kind, Sink};
use crate::error::reader_gone;

const RECORD: usize = 512;
/// The archive is padded to a multiple of this size.
const BLOCK: u64 = 20 * RECORD as u64;
/// The largest number that fits into eleven octal digits.
const LARGEST: u64 = 0o77_777_777_777;

/// A tar archive that is being written.
pub(super) struct Tar<W> {
    to: CountingWriter<W>,
    seconds: u64,
}

impl<W: Write> Tar<W> {
    /// Writes the global header with the commit id, which `git get-tar-commit-id` reads.
    pub(super) fn start(to: W, archived: &ArchivedCommit) -> Result<Self, GitError> {
        let mut records = Vec::new();
        push_record(&mut records, "comment", archived.id.to_string().as_bytes());
        let mut seconds = archived.seconds();
        if seconds > LARGEST {
            push_record(&mut records, "mtime", seconds.to_string().as_bytes());
            seconds = LARGEST;
        }
        let mut tar = Self { to: CountingWriter { to, written: 0 }, seconds };
        tar.write_extension(b'g', b"pax_global_header", &records).map_err(reader_gone)?;
        Ok(tar)
    }

    /// Writes two empty records, and padding to the end of the block.
    pub(super) fn finish(mut self) -> Result<W, GitError> {
        let end = (self.to.written + 2 * RECORD as u64).next_multiple_of(BLOCK);
        self.write_zeros(end - self.to.written).map_err(reader_gone)?;
        Ok(self.to.to)
    }

    /// Pads the last record.
    fn pad_record(&mut self) -> io::Result<()> {
        let end = self.to.written.next_multiple_of(RECORD as u64);
        self.write_zeros(end - self.to.written)
    }

    fn write_zeros(&mut self, mut count: u64) -> io::Result<()> {
        while count > 0 {
            let piece = count.min(RECORD as u64);
            self.to.write_all(&[0; RECORD][..piece as usize])?;
            count -= piece;
        }
        Ok(())
    }

    /// Writes a pax header: for the next entry (`x`), or for all entries that follow (`g`).
    fn write_extension(&mut self, flag: u8, name: &[u8], records: &[u8]) -> io::Result<()> {
        let mut header = Header::new(flag, 0o666, records.len() as u64, self.seconds);
        header.set(NAME, name);
        self.to.write_all(&header.finish())?;
        self.to.write_all(records)?;
        self.pad_record()
    }

    fn write_header(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        let (flag, mode, size) = match &entry.kind {
            Kind::Folder => (b'5', 0o775, 0),
            Kind::Link { .. } => (b'2', 0o777, 0),
            Kind::File { executable: true, content } => (b'0', 0o775, content.size()),
            Kind::File { executable: false, content } => (b'0', 0o664, content.size()),
        };
        let mut records = Vec::new();
        let size_in_header = if size > LARGEST { 0 } else { size };
        let mut header = Header::new(flag, mode, size_in_header, self.seconds);
        if entry.path.len() <= NAME.1 {
            header.set(NAME, entry.path);
        } else if let Some((prefix, name)) = split(entry.path) {
            header.set(PREFIX, prefix);
            header.set(NAME, name);
        } else {
            header.set(NAME, format!("{}.data", entry.id).as_bytes());
            push_record(&mut records, "path", entry.path);
        }
        if let Kind::Link { target } = entry.kind {
            if target.len() <= LINK.1 {
                header.set(LINK, target);
            } else {
                header.set(LINK, format!("see {}.paxheader", entry.id).as_bytes());
                push_record(&mut records, "linkpath", target);
            }
        }
        if size > LARGEST {
            push_record(&mut records, "size", size.to_string().as_bytes());
        }
        if !records.is_empty() {
            let name = format!("{}.paxheader", entry.id);
            self.write_extension(b'x', name.as_bytes(), &records)?;
        }
        self.to.write_all(&header.finish())
    }
}

impl<W: Write> Sink for Tar<W> {
    fn add(&mut self, repo: &gix::Repository, entry: &Entry<'_>) -> Result<(), GitError> {
        self.write_header(entry).map_err(reader_gone)?;
        if let Kind::File { content, .. } = &entry.kind {
            content.write(repo, &mut self.to)?;
            self.pad_record().map_err(reader_gone)?;
        }
        Ok(())
    }
}

/// A header field: its offset and its length.
type Field = (usize, usize);
const NAME: Field = (0, 100);
const MODE: Field = (100, 8);
const OWNER: Field = (108, 8);
const GROUP: Field = (116, 8);
const SIZE: Field = (124, 12);
const TIME: Field = (136, 12);
const CHECKSUM: Field = (148, 8);
const FLAG: Field = (156, 1);
const LINK: Field = (157, 100);
const MAGIC: Field = (257, 8);
const OWNER_NAME: Field = (265, 32);
const GROUP_NAME: Field = (297, 32);
const DEVICE_MAJOR: Field = (329, 8);
const DEVICE_MINOR: Field = (337, 8);
const PREFIX: Field = (345, 155);

struct Header([u8; RECORD]);

impl Header {
    fn new(flag: u8, mode: u64, size: u64, seconds: u64) -> Self {
        let mut header = Self([0; RECORD]);
        header.set(FLAG, &[flag]);
        header.set(MAGIC, b"ustar\x0000");
        for name in [OWNER_NAME, GROUP_NAME] {
            header.set(name, b"root");
        }
        for zero in [OWNER, GROUP, DEVICE_MAJOR, DEVICE_MINOR] {
            header.set_octal(zero, 0);
        }
        header.set_octal(MODE, mode);
        header.set_octal(SIZE, size);
        header.set_octal(TIME, seconds);
        header
    }

    fn set(&mut self, (start, _): Field, value: &[u8]) {
        self.0[start..start + value.len()].copy_from_slice(value);
    }

    /// Writes octal digits with leading zeros. The last byte of the field stays zero.
    fn set_octal(&mut self, field: Field, value: u64) {
        let digits = field.1 - 1;
        self.set(field, format!("{value:0digits$o}").as_bytes());
    }

    /// Sets the checksum: the sum of all bytes, with the checksum field counted as blanks.
    fn finish(mut self) -> [u8; RECORD] {
        let sum: u64 = self.0.iter().copied().map(u64::from).sum();
        self.set_octal(CHECKSUM, sum + CHECKSUM.1 as u64 * u64::from(b' '));
        self.0
    }
}

/// Splits a path that is too long for the name field, at the last slash at which the prefix still fits.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = path.strip_suffix(b"/").unwrap_or(path);
    let reachable = &inner[..inner.len().min(PREFIX.1)];
    let slash = reachable.iter().rposition(|byte| *byte == b'/').filter(|at| *at > 0)?;
    let (prefix, name) = (&path[..slash], &path[slash + 1..]);
    (name.len() <= NAME.1).then_some((prefix, name))
}

/// Appends a pax record, `<length> <key>=<value>`. The length includes its own digits.
fn push_record(records: &mut Vec<u8>, key: &str, value: &[u8]) {
    let rest = 1 + key.len() + 1 + value.len() + 1;
    let mut length = rest + 1;
    while rest + length.to_string().len() > length {
        length += 1;
    }
    records.extend_from_slice(format!("{length} {key}=").as_bytes());
    records.extend_from_slice(value);
    records.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_count_their_own_length() {
        for (value, length) in [(2, "9"), (3, "11"), (91, "99"), (92, "101")] {
            let mut records = Vec::new();
            push_record(&mut records, "abc", &vec![b'x'; value]);
            let text = String::from_utf8(records).expect("text");
            assert_eq!(text.split(' ').next(), Some(length), "{text}");
            assert_eq!(text.len().to_string(), length, "{text}");
        }
    }

    #[test]
    fn long_paths_are_split_at_a_slash() {
        let path = |parts: &[usize]| parts.iter().map(|n| "x".repeat(*n)).collect::<Vec<_>>();
        for (parts, prefix) in [
            (vec![60, 60], Some(60)),
            (vec![154, 100], Some(154)),
            (vec![154, 101], None),
            (vec![155, 10], None),
            (vec![50, 50, 50], Some(101)),
        ] {
            let path = path(&parts).join("/").into_bytes();
            assert_eq!(split(&path).map(|(prefix, _)| prefix.len()), prefix, "{parts:?}");
        }
    }
}
