//! The files of one commit in one file, byte by byte as `git archive` writes them where that is possible.

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

/// Whether the same archive would have the same bytes tomorrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// All of it comes from the commit.
    Yes,
    /// A file asked to be told about refs, or for names as short as the repository allows them now.
    No,
}

/// Writes the files of a commit.
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
            // Neither a time nor the system that this was built for may show in the header.
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
