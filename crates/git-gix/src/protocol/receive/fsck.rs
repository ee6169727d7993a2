//! Checks objects for the errors that `git fsck` reports, with git's names and rules.
//!
//! Programs interpret objects with such errors in different ways: if a tree has two entries with
//! the same name, this service could show one file while a clone checks out the other.

mod faults;
mod ident;
mod modules;
#[cfg(test)]
mod tests;

use gix::bstr::ByteSlice;
use gix::object::Kind;

pub use faults::{AcceptedFaults, Fault};

/// Lines of a `.gitattributes` file must be shorter than this number of bytes.
const LONGEST_ATTRIBUTES_LINE: usize = 2048;

/// The checks, which ignore the accepted faults.
pub(super) struct Fsck<'a> {
    pub(super) accepted: &'a AcceptedFaults,
}

impl Fsck<'_> {
    /// Returns the first fault of an object that is not accepted.
    pub(super) fn check(&self, kind: Kind, data: &[u8]) -> Result<(), Fault> {
        match kind {
            Kind::Commit => self.check_commit(data),
            Kind::Tag => self.check_tag(data),
            Kind::Tree => self.check_tree(data),
            Kind::Blob => Ok(()),
        }
    }

    /// Returns the first fault of a `.gitmodules` file that is not accepted.
    pub(super) fn check_modules(&self, data: &[u8]) -> Result<(), Fault> {
        modules::faults(data).into_iter().try_for_each(|fault| self.report(fault))
    }

    /// Returns the fault of a `.gitattributes` file, unless it is accepted.
    pub(super) fn check_attributes(&self, data: &[u8]) -> Result<(), Fault> {
        let is_long = |line: &[u8]| line.len() >= LONGEST_ATTRIBUTES_LINE;
        match data.split(|&byte| byte == b'\n').any(is_long) {
            true => self.report(Fault::GitattributesLineLength),
            false => Ok(()),
        }
    }

    /// Returns the fault as an error unless it is accepted.
    pub(super) fn report(&self, fault: Fault) -> Result<(), Fault> {
        if self.accepted.contains(fault) { Ok(()) } else { Err(fault) }
    }

    fn check_commit(&self, data: &[u8]) -> Result<(), Fault> {
        self.check_headers(data)?;
        let Some(rest) = data.strip_prefix(b"tree ") else {
            return self.report(Fault::MissingTree);
        };
        let (line, mut rest) = split_line(rest);
        if !is_id(line) {
            self.report(Fault::BadTreeSha1)?;
        }
        while let Some(parent) = rest.strip_prefix(b"parent ") {
            let (line, next) = split_line(parent);
            if !is_id(line) {
                self.report(Fault::BadParentSha1)?;
            }
            rest = next;
        }
        let mut authors = 0;
        while let Some(author) = rest.strip_prefix(b"author ") {
            let (line, next) = split_line(author);
            self.check_ident(line)?;
            rest = next;
            authors += 1;
        }
        match authors {
            0 => self.report(Fault::MissingAuthor)?,
            1 => {}
            _ => self.report(Fault::MultipleAuthors)?,
        }
        match rest.strip_prefix(b"committer ") {
            Some(committer) => self.check_ident(split_line(committer).0),
            None => self.report(Fault::MissingCommitter),
        }
    }

    fn check_tag(&self, data: &[u8]) -> Result<(), Fault> {
        self.check_headers(data)?;
        let Some(rest) = data.strip_prefix(b"object ") else {
            return self.report(Fault::MissingObject);
        };
        let (line, rest) = split_line(rest);
        if !is_id(line) {
            self.report(Fault::BadObjectSha1)?;
        }
        let Some(rest) = rest.strip_prefix(b"type ") else {
            return self.report(Fault::MissingTypeEntry);
        };
        let (line, rest) = split_line(rest);
        if Kind::from_bytes(line).is_err() {
            self.report(Fault::BadType)?;
        }
        let Some(rest) = rest.strip_prefix(b"tag ") else {
            return self.report(Fault::MissingTagEntry);
        };
        // Tags of early versions of git have no tagger.
        match split_line(rest).1.strip_prefix(b"tagger ") {
            Some(tagger) => self.check_ident(split_line(tagger).0),
            None => Ok(()),
        }
    }

    /// Checks that the headers of a commit or tag are terminated and contain no NUL.
    fn check_headers(&self, data: &[u8]) -> Result<(), Fault> {
        let end = data.find(b"\n\n").unwrap_or(data.len());
        if data[..end].contains(&0) {
            return self.report(Fault::NulInHeader);
        }
        match end < data.len() || data.ends_with(b"\n") {
            true => Ok(()),
            false => self.report(Fault::UnterminatedHeader),
        }
    }

    fn check_ident(&self, line: &[u8]) -> Result<(), Fault> {
        ident::fault(line).map_or(Ok(()), |fault| self.report(fault))
    }

    fn check_tree(&self, data: &[u8]) -> Result<(), Fault> {
        let mut rest = data;
        let mut previous: Option<Entry<'_>> = None;
        // Names of files that a directory with the same name can still follow, with other names sorted in between.
        let mut files_before: Vec<&[u8]> = Vec::new();
        while !rest.is_empty() {
            let Some((entry, next)) = Entry::split(rest) else {
                return self.report(Fault::BadTree);
            };
            if entry.name.len() > LONGEST_NAME {
                self.report(Fault::LargePathname)?;
            }
            if let Some(previous) = &previous {
                if previous.name == entry.name {
                    self.report(Fault::DuplicateEntries)?;
                } else if previous.sorted_by().gt(entry.sorted_by()) {
                    self.report(Fault::TreeNotSorted)?;
                }
            }
            if entry.is_tree() {
                while let Some(&file) = files_before.last() {
                    if entry.name == file {
                        self.report(Fault::DuplicateEntries)?;
                    }
                    if entry.name.starts_with(file) {
                        break;
                    }
                    files_before.pop();
                }
            } else {
                while files_before.last().is_some_and(|file| !entry.name.starts_with(file)) {
                    files_before.pop();
                }
                files_before.push(entry.name);
            }
            previous = Some(entry);
            rest = next;
        }
        Ok(())
    }
}

/// The longest name of a tree entry. `git fsck` only warns of longer ones, but no file system has them, and a list of
/// paths would take very much memory.
const LONGEST_NAME: usize = 4096;

/// An entry of a tree, as it is stored.
struct Entry<'a> {
    mode: u32,
    name: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Splits off the first entry. Returns `None` if the data is not a valid tree.
    fn split(data: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (mode, rest) = data.split_at(data.find_byte(b' ')?);
        let is_octal = mode.iter().all(|digit| matches!(digit, b'0'..=b'7'));
        if mode.is_empty() || !is_octal {
            return None;
        }
        let mode = mode.iter().fold(0u32, |mode, digit| mode << 3 | u32::from(digit - b'0'));
        let (name, rest) = rest[1..].split_at(rest[1..].find_byte(0)?);
        let next = rest[1..].get(gix::hash::Kind::Sha1.len_in_bytes()..)?;
        (!name.is_empty()).then_some((Self { mode, name }, next))
    }

    fn is_tree(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    /// The sort key of a tree entry: the name of a directory is compared as if it ended with a slash.
    fn sorted_by(&self) -> impl Iterator<Item = &'a u8> {
        let slash: &[u8] = if self.is_tree() { b"/" } else { b"" };
        self.name.iter().chain(slash)
    }
}

/// Splits the data at the first line break.
fn split_line(data: &[u8]) -> (&[u8], &[u8]) {
    match data.find_byte(b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &[]),
    }
}

fn is_id(text: &[u8]) -> bool {
    gix::ObjectId::from_hex(text).is_ok()
}
