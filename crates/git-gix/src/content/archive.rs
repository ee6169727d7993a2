//! Writes archives of a commit's files, byte for byte like `git archive` where possible.

mod attributes;
pub(crate) mod cache;
mod counted;
mod eager;
mod entry;
#[cfg(test)]
pub(crate) mod sandbox;
mod subst;
mod tar;
#[cfg(test)]
mod tests;
mod walk;
mod zip;

use std::io::Write;
use std::sync::Arc;

use flate2::GzBuilder;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::refs;
use hexforge_domain::repository::{Archive, ArchiveFormat};

use self::eager::Eager;
use self::entry::Snapshot;
use crate::error::reader_gone;

/// Whether the same archive request always yields the same bytes, so that the archive may be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// All content comes from the commit.
    Yes,
    /// A file contains placeholders for refs or abbreviated ids, which change with the repository.
    No,
}

/// Writes an archive of a commit.
pub(crate) fn write(
    repo: &gix::Repository,
    refs: &Arc<refs::Snapshot>,
    archive: &Archive,
    to: &mut dyn Write,
) -> Result<Lasting, GitError> {
    let snapshot = Snapshot::read(repo, refs, archive)?;
    match archive.format {
        ArchiveFormat::Tar => {
            let (to, lasting) = write_tar(repo, &snapshot, Eager::new(to))?;
            finish(to.finish())?;
            Ok(lasting)
        }
        ArchiveFormat::TarGz => {
            // The gzip header must not depend on the time or on the operating system of the build.
            let header = GzBuilder::new().mtime(0).operating_system(3);
            let gzip = header.write(Eager::new(to), flate2::Compression::new(6));
            let (gzip, lasting) = write_tar(repo, &snapshot, gzip)?;
            finish(gzip.finish().and_then(Eager::finish))?;
            Ok(lasting)
        }
        ArchiveFormat::TarBz2 => {
            let bzip2 = bzip2::write::BzEncoder::new(to, bzip2::Compression::best());
            let (bzip2, lasting) = write_tar(repo, &snapshot, bzip2)?;
            finish(bzip2.finish())?;
            Ok(lasting)
        }
        ArchiveFormat::Zip => {
            let mut zip = zip::Zip::new(Eager::new(to), &snapshot);
            let lasting = walk::walk(repo, &snapshot, &mut zip)?;
            let to = zip.finish()?;
            finish(to.finish())?;
            Ok(lasting)
        }
    }
}

fn write_tar<W: Write>(
    repo: &gix::Repository,
    snapshot: &Snapshot,
    to: W,
) -> Result<(W, Lasting), GitError> {
    let mut tar = tar::Tar::start(to, snapshot)?;
    let lasting = walk::walk(repo, snapshot, &mut tar)?;
    Ok((tar.finish()?, lasting))
}

fn finish(to: std::io::Result<&mut dyn Write>) -> Result<(), GitError> {
    to.and_then(Write::flush).map_err(reader_gone)
}
