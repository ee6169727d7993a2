//! Archives of artifacts and caches: zip files, written from and unpacked into a project folder. Neither follows
//! symbolic links, because jobs control both the folder and the archive.

pub mod packing;
pub mod selection;
pub mod unpacking;

use crate::error::Error;

/// The maximum number of files of an archive.
const MAX_FILES: usize = 500_000;

/// The maximum number of bytes that are read of the list of files in an archive. A file takes some hundred bytes of
/// memory and at least 46 bytes of the list, so a short archive could fill the memory otherwise.
const MAX_LISTING: u64 = 64 << 20;

/// The maximum size of all files that an archive unpacks to.
pub const MAX_UNPACKED: u64 = 32 << 30;

/// The size of the blocks in which files are packed and unpacked. After each it is asked whether to go on.
const BLOCK: u64 = 4 << 20;

/// Fails once `goes_on` is false.
fn require_time_left(goes_on: &dyn Fn() -> bool) -> Result<(), Error> {
    match goes_on() {
        true => Ok(()),
        false => Err(Error::step("it took too long, or the build was canceled")),
    }
}

#[cfg(test)]
mod testing {
    //! A project folder for the tests of the modules below.

    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use crate::glob::Pattern;
    use crate::plan::Selection;

    pub fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, content) in
            [("bin/app", "program"), ("bin/lib/a.o", "object"), ("README", "text"), (".git/x", "")]
        {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("has one")).expect("made");
            fs::write(path, content).expect("written");
        }
        fs::set_permissions(folder.path().join("bin/app"), fs::Permissions::from_mode(0o755))
            .expect("changed");
        std::os::unix::fs::symlink("app", folder.path().join("bin/link")).expect("linked");
        std::os::unix::fs::symlink("/etc", folder.path().join("etc")).expect("linked");
        folder
    }

    pub fn chosen(patterns: &[&str]) -> Selection {
        let patterns = patterns.iter().map(|pattern| Pattern::parse(pattern).expect("valid"));
        Selection { patterns: patterns.collect(), ..Selection::default() }
    }
}
