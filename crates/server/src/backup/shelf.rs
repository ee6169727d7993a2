//! A place that holds backups of several moments: a folder, or an object store.
//!
//! | Key | Content |
//! |---|---|
//! | `moments/<time>` | a backup in which files are named by their SHA-256 |
//! | `content/<2 hex>/<SHA-256>` | the content of files, of all moments |
//!
//! So a file that did not change, above all a pack, is stored once.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hexforge_blobs_object_store::{Bucket, Stored};
use sha2::{Digest, Sha256};

use super::file::{self, Header, Kind};
use crate::storage;

/// The prefix of moments.
const MOMENTS: &str = "moments";
/// The prefix of contents.
const CONTENT: &str = "content";

/// Where a backup is.
pub(super) enum Target {
    /// In a file of its own.
    File(PathBuf),
    /// Among those of other moments.
    Shelf(Shelf),
}

impl Target {
    /// An address such as `s3://bucket/prefix`, a folder, or else a file. A folder that does not exist ends with `/`.
    pub fn parse(place: &str) -> Result<Self> {
        if place.contains("://") {
            let bucket = storage::open_bucket(place).with_context(|| format!("`{place}`"))?;
            return Ok(Self::Shelf(Shelf::new(bucket)));
        }
        let path = Path::new(place);
        if !path.is_dir() && !place.ends_with('/') {
            return Ok(Self::File(path.to_owned()));
        }
        crate::system::make_folders(path).with_context(|| format!("{place} cannot be made"))?;
        let path = path.canonicalize()?;
        let address = url::Url::from_file_path(&path).ok().context("the folder has no address")?;
        Ok(Self::Shelf(Shelf::new(storage::open_bucket(address.as_str())?)))
    }
}

/// Backups of several moments.
pub(super) struct Shelf {
    bucket: Bucket,
    /// The contents that are stored.
    names: HashSet<String>,
}

/// The content of a file, by which a backup names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredContent {
    /// The SHA-256 in hex digits.
    pub name: String,
    pub bytes: u64,
}

impl StoredContent {
    /// The text in a backup.
    pub fn line(&self) -> String {
        format!("{} {}", self.name, self.bytes)
    }

    pub fn parse(line: &str) -> Result<Self> {
        let (name, bytes) = line.split_once(' ').context("a stored file has no length")?;
        let is_name = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        ensure!(is_name, "a stored file has no name");
        Ok(Self { name: name.to_owned(), bytes: bytes.parse().context("a length is wrong")? })
    }

    fn key(&self) -> String {
        format!("{CONTENT}/{}/{}", &self.name[..2], self.name)
    }
}

impl Shelf {
    fn new(bucket: Bucket) -> Self {
        Self { bucket, names: HashSet::new() }
    }

    pub fn bucket(&self) -> &Bucket {
        &self.bucket
    }

    /// The key of a moment.
    pub fn key(moment: &str) -> String {
        format!("{MOMENTS}/{moment}")
    }

    /// The name of a moment that begins now.
    pub fn new_moment(&self) -> String {
        chrono::Utc::now().format("%Y-%m-%dT%H-%M-%S%.6fZ").to_string()
    }

    /// Learns which contents are stored.
    pub fn read_names(&mut self) -> Result<()> {
        let found = self.bucket.list(CONTENT)?;
        self.names = found.iter().filter_map(|stored| last(&stored.key)).collect();
        Ok(())
    }

    /// The names of all moments, the newest last.
    pub fn moments(&self) -> Result<Vec<String>> {
        let found = self.bucket.list(MOMENTS)?;
        Ok(found.iter().filter_map(|stored| last(&stored.key)).collect())
    }

    /// Stores the content of a file, unless it is stored. The path of a pack tells its name.
    pub fn keep(&mut self, path: &Path, file: &mut File) -> io::Result<StoredContent> {
        let bytes = file.metadata()?.len();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_pack = path.extension().is_some_and(|extension| extension == "pack");
        let content = StoredContent { name: stem.into_owned(), bytes };
        if is_pack && self.names.contains(&content.name) {
            return Ok(content);
        }
        let mut digest = Sha256::new();
        io::copy(file, &mut Digesting(&mut digest))?;
        file.rewind()?;
        let content = StoredContent { name: hex(&digest.finalize()), bytes };
        if !self.names.contains(&content.name) {
            self.bucket.put_open_file(&content.key(), file).map_err(io::Error::from)?;
            self.names.insert(content.name.clone());
        }
        Ok(content)
    }

    /// Reads the entries of a moment.
    pub fn read(
        &self,
        moment: &str,
        visit: &mut dyn FnMut(&Header, &mut dyn io::BufRead) -> Result<()>,
    ) -> Result<()> {
        let found = self.bucket.find(&Self::key(moment))?;
        let found = found.with_context(|| format!("there is no moment {moment}"))?;
        file::read(self.bucket.read(found)?, visit).with_context(|| format!("the moment {moment}"))
    }

    /// Writes the content of a file, and checks it.
    pub fn write(&self, content: &StoredContent, to: &mut dyn Write) -> Result<()> {
        let missing = || format!("the content {} is missing", content.name);
        let found: Stored = self.bucket.find(&content.key())?.with_context(missing)?;
        let mut digest = Sha256::new();
        let mut from = self.bucket.read(found)?;
        let mut chunk = vec![0; 256 * 1024];
        let mut bytes = 0;
        loop {
            let read = from.read(&mut chunk)?;
            if read == 0 {
                break;
            }
            bytes += read as u64;
            digest.update(&chunk[..read]);
            to.write_all(&chunk[..read])?;
        }
        let is_whole = bytes == content.bytes && hex(&digest.finalize()) == content.name;
        ensure!(is_whole, "the content {} is damaged", content.name);
        Ok(())
    }

    /// Removes all but the newest moments, and contents that no other moment has. Returns how many moments are removed.
    pub fn keep_newest(&self, number: usize) -> Result<usize> {
        let moments = self.moments()?;
        let old = &moments[..moments.len().saturating_sub(number)];
        if old.is_empty() {
            return Ok(0);
        }
        // What a stopped backup left goes, too.
        let stored = self.bucket.list(CONTENT)?;
        let mut used = HashSet::new();
        for moment in &moments[old.len()..] {
            self.read(moment, &mut |header, content| {
                if header.kind == Kind::Stored {
                    let mut line = String::new();
                    content.read_to_string(&mut line)?;
                    used.insert(StoredContent::parse(&line)?.name);
                }
                Ok(())
            })?;
        }
        self.bucket.remove(old.iter().map(|moment| Self::key(moment)).collect())?;
        let is_unused =
            |stored: &&Stored| last(&stored.key).is_some_and(|name| !used.contains(&name));
        let unused = stored.iter().filter(is_unused).map(|stored| stored.key.clone()).collect();
        self.bucket.remove(unused)?;
        Ok(old.len())
    }

    /// The moment of this name, or the newest.
    pub fn choose(&self, at: Option<&str>) -> Result<String> {
        let moments = self.moments()?;
        let chosen = match at {
            Some(at) => moments.iter().find(|moment| *moment == at),
            None => moments.last(),
        };
        match (chosen, at) {
            (Some(moment), _) => Ok(moment.clone()),
            (None, Some(at)) => {
                bail!("there is no moment {at}, only {}", moments.join(", "))
            }
            (None, None) => bail!("there is no backup"),
        }
    }
}

/// The last part of a key.
fn last(key: &str) -> Option<String> {
    key.rsplit('/').next().map(str::to_owned)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Digests what is written to it.
struct Digesting<'a>(&'a mut Sha256);

impl Write for Digesting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
