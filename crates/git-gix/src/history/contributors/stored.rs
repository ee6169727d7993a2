//! Stores the count in the folder of the repository.
//!
//! The file is replaced atomically and ends in a checksum. A damaged file, or one of another version, is ignored:
//! everything can be counted again.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gix::ObjectId;

use super::lines::Lines;
use super::totals::{Author, Totals};

/// The file header. It changes with the file format and with the counting rules.
const MAGIC: &[u8] = b"hexforge contributors 1\n";
const ID: usize = 20;

/// The stored count of a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StoredCount {
    /// The commit up to which everything is counted.
    pub(crate) tip: Option<ObjectId>,
    /// An upper bound in seconds: no ancestor in that history is newer than its descendant by more.
    pub(crate) skew: u64,
    pub(crate) totals: Totals,
    /// The unfinished count beyond `tip`.
    pub(crate) unfinished: Option<UnfinishedCount>,
}

/// An unfinished count of the commits that are reachable from its `tip` and not from [`StoredCount::tip`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnfinishedCount {
    pub(crate) tip: ObjectId,
    /// The number of counted commits, in the order of `git log` without merges.
    pub(crate) done: u64,
    pub(crate) totals: Totals,
}

impl UnfinishedCount {
    pub(crate) fn new(tip: ObjectId) -> Self {
        Self { tip, done: 0, totals: Totals::default() }
    }
}

impl StoredCount {
    /// Reads the stored count of the repository in this folder. Returns an empty count if it is missing or unusable.
    pub(crate) fn read(repository: &Path) -> Self {
        let path = path(repository);
        match fs::read(&path) {
            Ok(bytes) => decode(&bytes).unwrap_or_else(|| {
                let path = path.display();
                tracing::warn!(%path, "the stored count of contributors is unusable");
                Self::default()
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) => {
                let path = path.display();
                tracing::warn!(%path, %error, "the stored count of contributors cannot be read");
                Self::default()
            }
        }
    }

    /// Replaces the stored count.
    pub(crate) fn write(&self, repository: &Path) -> io::Result<()> {
        let path = path(repository);
        let folder = path.parent().unwrap_or(repository);
        // Only this one folder is created, so that a repository removed meanwhile does not come back.
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let mut file = tempfile::Builder::new().prefix("contributors.").tempfile_in(folder)?;
        file.write_all(&encode(self)?)?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        Ok(())
    }
}

fn path(repository: &Path) -> PathBuf {
    repository.join("hexforge").join("contributors")
}

fn checksum(bytes: &[u8]) -> Option<ObjectId> {
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(bytes);
    hasher.try_finalize().ok()
}

fn encode(stored: &StoredCount) -> io::Result<Vec<u8>> {
    let mut out = MAGIC.to_vec();
    put_id(&mut out, stored.tip);
    put_number(&mut out, stored.skew);
    put_totals(&mut out, &stored.totals);
    put_id(&mut out, stored.unfinished.as_ref().map(|unfinished| unfinished.tip));
    if let Some(unfinished) = &stored.unfinished {
        put_number(&mut out, unfinished.done);
        put_totals(&mut out, &unfinished.totals);
    }
    let checksum = checksum(&out).ok_or_else(|| io::Error::other("no checksum"))?;
    out.extend_from_slice(checksum.as_slice());
    Ok(out)
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes an object id, all zeros for `None`.
fn put_id(out: &mut Vec<u8>, id: Option<ObjectId>) {
    let id = id.unwrap_or(ObjectId::null(gix::hash::Kind::Sha1));
    out.extend_from_slice(id.as_slice());
}

fn put_totals(out: &mut Vec<u8>, totals: &Totals) {
    put_number(out, totals.authors().len() as u64);
    for author in totals.authors() {
        put_bytes(out, &author.email);
        put_bytes(out, author.name.as_bytes());
        for number in [author.commits, author.lines.added, author.lines.removed] {
            put_number(out, number);
        }
    }
}

fn decode(bytes: &[u8]) -> Option<StoredCount> {
    let (content, end) = bytes.split_at_checked(bytes.len().checked_sub(ID)?)?;
    if checksum(content)?.as_slice() != end {
        return None;
    }
    let mut from = Reader(content.strip_prefix(MAGIC)?);
    let mut stored = StoredCount {
        tip: from.id()?,
        skew: from.number()?,
        totals: from.totals()?,
        unfinished: None,
    };
    if let Some(tip) = from.id()? {
        stored.unfinished =
            Some(UnfinishedCount { tip, done: from.number()?, totals: from.totals()? });
    }
    from.0.is_empty().then_some(stored)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?.try_into().ok()?;
        self.take(length)
    }

    fn id(&mut self) -> Option<Option<ObjectId>> {
        let id = ObjectId::try_from(self.take(ID)?).ok()?;
        Some((!id.is_null()).then_some(id))
    }

    fn totals(&mut self) -> Option<Totals> {
        let mut totals = Totals::default();
        for _ in 0..self.number()? {
            totals.add(Author {
                email: self.bytes()?.to_vec(),
                name: String::from_utf8(self.bytes()?.to_vec()).ok()?,
                commits: self.number()?,
                lines: Lines { added: self.number()?, removed: self.number()? },
            });
        }
        Some(totals)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    fn example() -> StoredCount {
        let mut totals = Totals::default();
        for (email, name) in [(&b"a@b"[..], "A"), (b"\xff", "")] {
            let lines = Lines { added: 2, removed: u64::MAX };
            totals.add(Author { email: email.into(), name: name.into(), commits: 1, lines });
        }
        let tip = ObjectId::empty_tree(gix::hash::Kind::Sha1);
        let unfinished = Some(UnfinishedCount { tip, done: 3, totals: totals.clone() });
        StoredCount { tip: Some(tip), skew: 4, totals, unfinished }
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(StoredCount::read(folder.path()), StoredCount::default());
        for stored in
            [example(), StoredCount { unfinished: None, ..example() }, StoredCount::default()]
        {
            stored.write(folder.path()).unwrap();
            assert_eq!(StoredCount::read(folder.path()), stored);
        }
        assert_eq!(fs::read_dir(folder.path().join("hexforge")).unwrap().count(), 1);
    }

    #[test]
    fn damage_is_noticed_wherever_it_is() {
        let bytes = encode(&example()).unwrap();
        assert_eq!(decode(&bytes), Some(example()));
        for index in 0..bytes.len() {
            assert_eq!(decode(&bytes[..index]), None, "cut at {index}");
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert_eq!(decode(&changed), None, "changed at {index}");
        }
        assert_eq!(decode(&[&bytes[..], b"more"].concat()), None);
    }

    #[test]
    fn a_removed_repository_does_not_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone.git");
        assert!(example().write(&gone).is_err());
        assert!(!gone.exists());
    }
}
