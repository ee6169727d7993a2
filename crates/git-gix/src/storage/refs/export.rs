//! Writes refs to files, for operators who inspect the folder of a repository with git. This program never reads them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use hexforge_domain::ports::git::GitError;
use hexforge_domain::refs::{Ref, Snapshot};
use tempfile::NamedTempFile;

use crate::error::io_failed;

/// The first line of `packed-refs`, as git writes it. It declares that the peeled target follows each tag.
const HEADER: &str = "# pack-refs with: peeled fully-peeled sorted \n";

/// Writes HEAD and `packed-refs` into a folder.
pub(crate) fn write(folder: &Path, refs: &Snapshot) -> Result<(), GitError> {
    let mut packed = HEADER.to_owned();
    for Ref { name, target, peeled } in refs.iter() {
        let _ = writeln!(packed, "{target} {name}");
        if let Some(peeled) = peeled {
            let _ = writeln!(packed, "^{peeled}");
        }
    }
    replace(folder, "packed-refs", &packed)?;
    replace(folder, "HEAD", &format!("ref: {}\n", refs.head()))
}

/// Writes a file atomically, and replaces an existing file of that name.
fn replace(folder: &Path, name: &str, content: &str) -> Result<(), GitError> {
    let mut file = NamedTempFile::new_in(folder).map_err(io_failed)?;
    file.write_all(content.as_bytes()).map_err(io_failed)?;
    file.persist(folder.join(name)).map_err(|error| io_failed(error.error))?;
    Ok(())
}
