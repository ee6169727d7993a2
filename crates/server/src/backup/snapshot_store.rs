//! Stores the snapshots of several backups in one target: a folder or an object store.
//!
//! | Key | Content |
//! |---|---|
//! | `snapshots/<time>` | a backup in which files are named by their SHA-256 |
//! | `content/<2 hex>/<SHA-256>` | the content of files, of all snapshots |
//!
//! A file that did not change between snapshots, such as a pack, is stored once.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use chrono::TimeDelta;
use hexforge_blobs_object_store::{Bucket, ObjectInfo};
use hexforge_domain::hex;
use hexforge_domain::lfs::LfsObject;
use sha2::{Digest, Sha256};

use super::file::{self, Header, Kind};
use crate::{storage, system};

/// The prefix of the keys of snapshots.
const SNAPSHOTS: &str = "snapshots";

/// The prefix of the keys of contents.
const CONTENT: &str = "content";

/// Younger contents that no snapshot uses may belong to a backup that is being made.
const UNFINISHED: TimeDelta = TimeDelta::hours(24);

/// The target of a backup.
pub(super) enum Target {
    /// A single file.
    File(PathBuf),
    /// A store of several snapshots.
    Store(SnapshotStore),
}

impl Target {
    /// Parses the target of a new backup: a URL such as `s3://bucket/prefix`, a folder, or else a
    /// file. A new folder must end with `/`, and is created.
    pub fn for_writing(place: &str) -> Result<Self> {
        if place.ends_with('/') && !place.contains("://") {
            let made = system::make_folders(Path::new(place));
            made.with_context(|| format!("{place} cannot be created"))?;
        }
        Self::for_reading(place)
    }

    /// Parses the target of an existing backup.
    pub fn for_reading(place: &str) -> Result<Self> {
        if place.contains("://") {
            let bucket = storage::open_bucket(place).with_context(|| format!("`{place}`"))?;
            return Ok(Self::Store(SnapshotStore::new(bucket)));
        }
        let path = Path::new(place);
        ensure!(path.is_dir() || !place.ends_with('/'), "there is no folder {place}");
        if !path.is_dir() {
            return Ok(Self::File(path.to_owned()));
        }
        let path = path.canonicalize()?;
        let address = url::Url::from_file_path(&path).ok().context("the folder has no address")?;
        Ok(Self::Store(SnapshotStore::new(storage::open_bucket(address.as_str())?)))
    }
}

/// Snapshots and the contents that they share.
pub(super) struct SnapshotStore {
    bucket: Bucket,
    /// The stored contents, with their lengths.
    contents: HashMap<String, u64>,
    /// The contents of packs and their indexes in the newest snapshot, by path. They never change.
    constant: HashMap<PathBuf, StoredContent>,
}

/// A reference to the content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredContent {
    /// The SHA-256 in hex digits.
    pub name: String,
    pub bytes: u64,
}

impl StoredContent {
    /// The line that represents it in a snapshot.
    pub fn line(&self) -> String {
        format!("{} {}", self.name, self.bytes)
    }

    pub fn parse(line: &str) -> Result<Self> {
        let (name, bytes) = line.split_once(' ').context("a stored file has no length")?;
        ensure!(hex::parse::<32>(name).is_some(), "a stored file has no valid SHA-256");
        Ok(Self {
            name: name.to_owned(),
            bytes: bytes.parse().context("the length of a stored file is invalid")?,
        })
    }

    /// The content of an LFS object, which is named by its SHA-256 too.
    pub fn of_lfs_object(object: LfsObject) -> Self {
        Self { name: object.oid.to_string(), bytes: object.size }
    }

    /// Reads a file, which is then at its start again.
    pub fn of_file(file: &mut File) -> io::Result<Self> {
        let mut digest = Digesting { inner: io::sink(), digest: Sha256::new(), bytes: 0 };
        io::copy(file, &mut digest)?;
        file.rewind()?;
        Ok(Self { name: digest.name(), bytes: digest.bytes })
    }

    fn read(entry: &mut dyn io::BufRead) -> Result<Self> {
        let mut line = String::new();
        entry.read_to_string(&mut line)?;
        Self::parse(&line)
    }

    fn key(&self) -> String {
        format!("{CONTENT}/{}/{}", &self.name[..2], self.name)
    }
}

impl SnapshotStore {
    fn new(bucket: Bucket) -> Self {
        Self { bucket, contents: HashMap::new(), constant: HashMap::new() }
    }

    /// The key of a snapshot.
    fn key(snapshot: &str) -> String {
        format!("{SNAPSHOTS}/{snapshot}")
    }

    /// The name of a snapshot that is made now.
    pub fn new_name() -> String {
        chrono::Utc::now().format("%Y-%m-%dT%H-%M-%S%.6fZ").to_string()
    }

    /// Loads the lists of stored contents and known packs before a backup.
    pub fn prepare(&mut self) -> Result<()> {
        let found = self.bucket.list(CONTENT)?;
        let named = |found: ObjectInfo| Some((file_name(&found.key)?, found.bytes));
        self.contents = found.into_iter().filter_map(named).collect();
        let Some(newest) = self.snapshots()?.pop() else { return Ok(()) };
        let mut constant = HashMap::new();
        self.read(&newest, &mut |header, content| {
            if header.kind == Kind::Stored && header.path.starts_with(storage::PACKS) {
                constant.insert(header.path.clone(), StoredContent::read(content)?);
            }
            Ok(())
        })?;
        self.constant = constant;
        Ok(())
    }

    /// The content of a pack or an index, if the newest snapshot has it and it is stored.
    pub fn known_content(&self, path: &Path) -> Option<StoredContent> {
        self.constant.get(path).filter(|content| self.is_stored(content)).cloned()
    }

    /// Returns whether the store has a content.
    pub fn is_stored(&self, content: &StoredContent) -> bool {
        self.contents.get(&content.name) == Some(&content.bytes)
    }

    /// Lists the names of all snapshots, the newest last.
    pub fn snapshots(&self) -> Result<Vec<String>> {
        let found = self.bucket.list(SNAPSHOTS)?;
        Ok(found.iter().filter_map(|found| file_name(&found.key)).collect())
    }

    /// Stores the content of a file, unless it is stored already.
    pub fn store_content(&mut self, file: &mut File) -> io::Result<StoredContent> {
        let content = StoredContent::of_file(file)?;
        self.store_known_content(&content, file)?;
        Ok(content)
    }

    /// Stores the content of a file that was read before, unless it is stored already.
    pub fn store_known_content(
        &mut self,
        content: &StoredContent,
        file: &mut File,
    ) -> io::Result<()> {
        if !self.is_stored(content) {
            self.bucket.put_open_file(&content.key(), file).map_err(io::Error::from)?;
            self.contents.insert(content.name.clone(), content.bytes);
        }
        Ok(())
    }

    /// Stores a snapshot from a file.
    pub fn store_snapshot(&self, name: &str, file: &Path) -> Result<()> {
        Ok(self.bucket.put_file(&Self::key(name), file)?)
    }

    /// Reads the entries of a snapshot.
    pub fn read(
        &self,
        snapshot: &str,
        visit: &mut dyn FnMut(&Header, &mut dyn io::BufRead) -> Result<()>,
    ) -> Result<()> {
        let found = self.bucket.find(&Self::key(snapshot))?;
        let found = found.with_context(|| format!("there is no snapshot {snapshot}"))?;
        let read = file::read(self.bucket.read(found)?, visit);
        read.with_context(|| format!("the snapshot {snapshot}"))
    }

    /// Writes the content that an entry references, and verifies it. Returns its length.
    pub fn write_content(&self, entry: &mut dyn io::BufRead, to: &mut dyn Write) -> Result<u64> {
        let content = StoredContent::read(entry)?;
        let missing = || format!("the content {} is missing", content.name);
        let found = self.bucket.find(&content.key())?.with_context(missing)?;
        let mut to = Digesting { inner: to, digest: Sha256::new(), bytes: 0 };
        io::copy(&mut self.bucket.read(found)?, &mut to)?;
        let is_whole = to.bytes == content.bytes && to.name() == content.name;
        ensure!(is_whole, "the content {} is damaged", content.name);
        Ok(content.bytes)
    }

    /// Removes the oldest snapshots until `number` are left, and the contents that only they used.
    /// Never removes the snapshot `own`. Returns the number of removed snapshots.
    pub fn keep_newest(&self, number: usize, own: &str) -> Result<usize> {
        let all = self.snapshots()?;
        let old: Vec<&String> =
            all.iter().filter(|name| *name != own).take(all.len().saturating_sub(number)).collect();
        if old.is_empty() {
            return Ok(0);
        }
        let before = chrono::Utc::now() - UNFINISHED;
        let stored = self.bucket.list(CONTENT)?;
        let kept: Vec<&String> = all.iter().filter(|name| !old.contains(name)).collect();
        let (used, of_old) = (self.contents_of(&kept)?, self.contents_of(&old)?);
        let removed = old.len();
        self.bucket.remove(old.into_iter().map(|name| Self::key(name)).collect())?;
        // Contents that an interrupted backup left are removed after a day.
        let is_unused = |found: &&ObjectInfo| {
            let Some(name) = file_name(&found.key) else { return false };
            !used.contains(&name) && (of_old.contains(&name) || found.since < before)
        };
        let unused = stored.iter().filter(is_unused).map(|found| found.key.clone()).collect();
        self.bucket.remove(unused)?;
        Ok(removed)
    }

    /// The names of the contents that these snapshots use.
    fn contents_of(&self, snapshots: &[&String]) -> Result<HashSet<String>> {
        let mut names = HashSet::new();
        for snapshot in snapshots {
            self.read(snapshot, &mut |header, entry| {
                if header.kind == Kind::Stored {
                    names.insert(StoredContent::read(entry)?.name);
                }
                Ok(())
            })?;
        }
        Ok(names)
    }

    /// Finds the snapshot with this name, or the newest.
    pub fn find(&self, name: Option<&str>) -> Result<String> {
        let all = self.snapshots()?;
        let found = match name {
            Some(name) => all.iter().find(|other| *other == name),
            None => all.last(),
        };
        match (found, name) {
            (Some(found), _) => Ok(found.clone()),
            (None, Some(name)) => bail!("there is no snapshot {name}, only {}", all.join(", ")),
            (None, None) => bail!("there is no backup"),
        }
    }
}

/// The last part of a key.
fn file_name(key: &str) -> Option<String> {
    key.rsplit('/').next().map(str::to_owned)
}

/// Computes the SHA-256 of the bytes written through it.
struct Digesting<W> {
    inner: W,
    digest: Sha256,
    bytes: u64,
}

impl<W> Digesting<W> {
    /// The SHA-256 in hex digits.
    fn name(&self) -> String {
        hex::encode(&self.digest.clone().finalize())
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
