//! A small file system that tests can fill.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A file system of a few megabytes in memory. It is unmounted when dropped.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts a file system of this size. Returns `None` with a warning if this process may not mount.
    pub fn mount(megabytes: usize) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let size = format!("size={megabytes}m,mode=0755");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "hexforge-small-disk"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self { folder }),
            outcome => {
                let reason =
                    outcome.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
                // The warning bypasses the capture of test output, so that nobody takes a skipped test for a passed
                // one.
                let _ = writeln!(
                    std::io::stderr(),
                    "\n!!! SKIPPED, NOT TESTED ON A FULL DISK: mounting needs root ({reason:?}).\n"
                );
                None
            }
        }
    }

    /// The mount point.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }

    /// Fills the disk, but leaves `room` bytes.
    pub fn fill_except(&self, room: usize) {
        let mut filler = File::create(self.filler()).expect("a file without content needs no room");
        let block = [1; 4096];
        while filler.write_all(&block).is_ok() {}
        let length = filler.metadata().expect("it is open").len();
        let kept = length.saturating_sub(room as u64);
        filler.set_len(kept).expect("a file can be made shorter");
    }

    /// Removes the filling.
    pub fn remove_filling(&self) {
        fs::remove_file(self.filler()).expect("it was filled");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Open files must not prevent unmounting.
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}
