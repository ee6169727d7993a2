//! `hexforge verify`.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::Summary;
use super::file::{self, Header, Kind};
use super::manifest::{MANIFEST, Manifest};
use super::progress::Progress;
use super::snapshot_store::{SnapshotStore, Target};

/// Reads a complete backup and verifies that nothing is damaged or missing. Returns the time of the
/// backup and its size.
pub fn verify(place: &str, at: Option<&str>) -> Result<(String, Summary)> {
    let (manifest, summary) = verify_source(&Source::open(place, at)?)?;
    Ok((manifest.made, summary))
}

/// An open backup.
pub(super) enum Source {
    File(PathBuf),
    /// A snapshot in a store.
    Snapshot(SnapshotStore, String),
}

impl Source {
    /// Opens the backup in a file, or a snapshot: the newest one unless `at` names another.
    pub fn open(place: &str, at: Option<&str>) -> Result<Self> {
        match (Target::for_reading(place)?, at) {
            (Target::File(file), None) => Ok(Self::File(file)),
            (Target::File(file), Some(_)) => {
                bail!("{} is one backup and has no snapshots", file.display())
            }
            (Target::Store(snapshots), at) => {
                let name = snapshots.find(at)?;
                Ok(Self::Snapshot(snapshots, name))
            }
        }
    }

    /// Reads the entries.
    pub fn read(
        &self,
        visit: &mut dyn FnMut(&Header, &mut dyn BufRead) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::File(path) => read(path, visit),
            Self::Snapshot(snapshots, name) => snapshots.read(name, visit),
        }
    }

    /// Writes the content that an entry references. Returns its length.
    pub fn write(&self, entry: &mut dyn BufRead, to: &mut dyn Write) -> Result<u64> {
        match self {
            Self::Snapshot(snapshots, _) => snapshots.write_content(entry, to),
            Self::File(_) => {
                bail!("an entry refers to content that is stored outside the backup file")
            }
        }
    }
}

/// Verifies a backup, and returns its manifest and size.
pub(super) fn verify_source(source: &Source) -> Result<(Manifest, Summary)> {
    let mut progress = Progress::new();
    progress.step("checking the backup");
    let mut manifest = None;
    let mut summary = Summary::default();
    source.read(&mut |header, content| {
        if manifest.is_none() {
            manifest = Some(read_manifest(header, content)?);
        }
        summary.files += 1;
        summary.repositories += u64::from(is_repository(header));
        summary.bytes += match header.kind {
            Kind::Stored => source
                .write(content, &mut io::sink())
                .with_context(|| format!("{} cannot be used", header.path.display()))?,
            Kind::Part | Kind::File | Kind::Link => read_to_end(content)?,
        };
        progress.done(&summary);
        Ok(())
    })?;
    let manifest = manifest.context("the backup is empty")?;
    summary.repositories = manifest.repositories.unwrap_or(summary.repositories);
    Ok((manifest, summary))
}

/// Reads the entries of a backup file.
fn read(path: &Path, visit: &mut dyn FnMut(&Header, &mut dyn BufRead) -> Result<()>) -> Result<()> {
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    ensure!(file.metadata()?.is_file(), "{} is not a file", path.display());
    file::read(file, visit).with_context(|| format!("{} cannot be used", path.display()))
}

fn read_manifest(header: &Header, content: &mut dyn BufRead) -> Result<Manifest> {
    if header.kind != Kind::Part || header.path != Path::new(MANIFEST) {
        bail!("the backup does not begin with its manifest");
    }
    let mut text = String::new();
    content.read_to_string(&mut text)?;
    Manifest::parse(&text)
}

/// Whether an entry is the HEAD file of a repository, of which each has one:
/// `repositories/<2 hex>/<2 hex>/<project id>.git/HEAD`.
pub(super) fn is_repository(header: &Header) -> bool {
    let is_head = header.path.file_name().is_some_and(|name| name == "HEAD");
    let roots = ["repositories", "repositories-before-upgrade"];
    let is_there = roots.iter().any(|root| header.path.starts_with(root));
    let is_there = is_there && header.path.iter().count() == 5;
    header.kind == Kind::File && is_head && is_there
}

/// Reads the content to its end, which verifies it. Returns its length.
fn read_to_end(content: &mut dyn BufRead) -> Result<u64> {
    let mut length = 0;
    loop {
        let chunk = content.fill_buf()?.len();
        if chunk == 0 {
            return Ok(length);
        }
        length += chunk as u64;
        content.consume(chunk);
    }
}
