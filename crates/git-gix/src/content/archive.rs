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

use self::eager::EagerWriter;
use self::entry::ArchivedCommit;
use crate::error::reader_gone;

/// Whether the same archive request always yields the same bytes, so that the archive may be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cacheable {
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
) -> Result<Cacheable, GitError> {
    let archived = ArchivedCommit::read(repo, refs, archive)?;
    match archive.format {
        ArchiveFormat::Tar => {
            let (to, cacheable) = write_tar(repo, &archived, EagerWriter::new(to))?;
            finish(to.finish())?;
            Ok(cacheable)
        }
        ArchiveFormat::TarGz => {
            // The gzip header must not depend on the time or on the operating system of the build.
            let header = GzBuilder::new().mtime(0).operating_system(3);
            let gzip = header.write(EagerWriter::new(to), flate2::Compression::new(6));
            let (gzip, cacheable) = write_tar(repo, &archived, gzip)?;
            finish(gzip.finish().and_then(EagerWriter::finish))?;
            Ok(cacheable)
        }
        ArchiveFormat::TarBz2 => {
            let bzip2 = bzip2::write::BzEncoder::new(to, bzip2::Compression::best());
            let (bzip2, cacheable) = write_tar(repo, &archived, bzip2)?;
            finish(bzip2.finish())?;
            Ok(cacheable)
        }
        ArchiveFormat::Zip => {
            let mut zip = zip::Zip::new(EagerWriter::new(to), &archived);
            let cacheable = walk::walk(repo, &archived, &mut zip)?;
            let to = zip.finish()?;
            finish(to.finish())?;
            Ok(cacheable)
        }
    }
}

fn write_tar<W: Write>(
    repo: &gix::Repository,
    archived: &ArchivedCommit,
    to: W,
) -> Result<(W, Cacheable), GitError> {
    let mut tar = tar::Tar::start(to, archived)?;
    let cacheable = walk::walk(repo, archived, &mut tar)?;
    Ok((tar.finish()?, cacheable))
}

fn finish(to: std::io::Result<&mut dyn Write>) -> Result<(), GitError> {
    to.and_then(Write::flush).map_err(reader_gone)
}
