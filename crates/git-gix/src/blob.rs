//! Contents of files, however large.

use std::io::Write;

use hexforge_domain::ports::git::GitError;

use crate::error::{failed, reader_gone};

/// Writes the content of a blob.
pub(crate) fn write(
    repo: &gix::Repository,
    id: gix::ObjectId,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    let blob = repo.find_blob(id).map_err(failed)?;
    to.write_all(&blob.data).map_err(reader_gone)
}
