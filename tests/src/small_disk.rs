//! A disk that is soon full.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A file system in memory of a few megabytes, gone when dropped.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// One of so many megabytes. `None` where this process may not mount, which is said loudly.
    pub fn of(megabytes: usize) -> Option<Self> {
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
                // Past the capture of test output, so that nobody takes a skipped test for a passed one.
                let _ = writeln!(
                    std::io::stderr(),
                    "\n!!! SKIPPED, NOT TESTED ON A FULL DISK: mounting needs root ({reason:?}).\n"
                );
                None
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }

    /// Leaves no more than so many bytes.
    pub fn fill_but(&self, room: usize) {
        let mut filler = File::create(self.filler()).expect("a file without content needs no room");
        let block = [1; 4096];
        while filler.write_all(&block).is_ok() {}
        let length = filler.metadata().expect("it is open").len();
        let kept = length.saturating_sub(room as u64);
        filler.set_len(kept).expect("a file can be made shorter");
    }

    /// Makes room again.
    pub fn free(&self) {
        fs::remove_file(self.filler()).expect("it was filled");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whatever still has files open there must not keep it from going.
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}
