//! File permissions: files of the server are accessible only to its own user.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The permission bits of group and others.
const OTHERS: u32 = 0o077;

/// Sets the umask, so that new files of this process are closed to group and others. SQLite creates its log and its
/// index with the permissions of the database, and gix creates its files by the umask.
pub fn restrict_new_files() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(OTHERS));
}

/// Removes the permissions of group and others from a data folder and its direct entries. Deeper files are protected by
/// the closed folder. Links are followed, because the folder does not protect their targets.
pub fn close_folder(folder: &Path) -> Result<()> {
    close(folder)?;
    let reading = || format!("the data folder {} cannot be read", folder.display());
    for entry in fs::read_dir(folder).with_context(reading)? {
        close(&entry.with_context(reading)?.path())?;
    }
    Ok(())
}

/// Removes the permissions of group and others from the files of an SQLite database.
pub fn close_database(file: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        close(&PathBuf::from(name))?;
    }
    Ok(())
}

/// Removes the permissions of group and others, if they have any.
fn close(path: &Path) -> Result<()> {
    let changed = match fs::metadata(path) {
        // Another process removed the file meanwhile, or it is a dangling link.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.permissions().mode() & OTHERS == 0 => Ok(()),
        Ok(found) => {
            let mode = found.permissions().mode() & 0o7777 & !OTHERS;
            match fs::set_permissions(path, Permissions::from_mode(mode)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                outcome => outcome,
            }
        }
    };
    changed.with_context(|| {
        format!(
            "{} is open to other users of this machine and its permissions cannot be changed; run `chmod go= {0}` as its owner",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn a_folder_and_what_is_in_it_are_closed_to_others() {
        let place = tempfile::tempdir().expect("a folder");
        let elsewhere = tempfile::tempdir().expect("another folder");
        let folder = place.path().join("data");
        fs::create_dir(&folder).expect("writable");
        fs::create_dir(folder.join("repositories")).expect("writable");
        fs::write(folder.join("hexforge.db"), b"").expect("writable");
        fs::write(folder.join("run"), b"").expect("writable");
        std::os::unix::fs::symlink(elsewhere.path(), folder.join("uploads")).expect("writable");
        std::os::unix::fs::symlink("nowhere", folder.join("dangling")).expect("writable");
        set(&folder, 0o755);
        set(&folder.join("repositories"), 0o775);
        set(&folder.join("hexforge.db"), 0o644);
        set(&folder.join("run"), 0o500);
        set(elsewhere.path(), 0o755);
        close_folder(&folder).expect("everything is ours");
        let names = ["", "repositories", "hexforge.db", "run", "uploads"];
        let modes = names.map(|name| mode(&folder.join(name)));
        assert_eq!(modes, [0o700, 0o700, 0o600, 0o500, 0o700]);
    }

    #[test]
    fn all_files_of_a_database_are_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = ["x.db", "x.db-wal", "x.db-shm"].map(|name| folder.path().join(name));
        for name in &names {
            fs::write(name, b"").expect("writable");
            set(name, 0o644);
        }
        close_database(&names[0]).expect("they are ours");
        assert_eq!(names.each_ref().map(|name| mode(name)), [0o600; 3]);
        close_database(&folder.path().join("missing.db")).expect("nothing to do");
    }

    #[test]
    fn what_cannot_be_closed_is_named() {
        // The kernel refuses to change permissions there, even for root.
        let folder = Path::new("/proc/self/task");
        let error = close_folder(folder).expect_err("it stays open").to_string();
        assert!(error.contains("/proc/self/task is open to other users"), "{error}");
    }
}
