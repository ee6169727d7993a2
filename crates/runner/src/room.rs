//! Room on the disk of the working copies: a job that filled it must not stop the builds of all other projects.

use std::path::Path;

use rustix::fs::statvfs;

use crate::slot::{self, Slot};

/// A build begins with this many free bytes, or this part of a small disk.
const MIN_ROOM: u64 = 64 << 20;
const MIN_PART: u64 = 20;

/// Removes working copies while the disk has little room: first those of this slot, then those of slots that no build
/// uses. What cannot be removed stays.
pub fn make(builds_dir: &Path, slot: &Slot) {
    let clear = |slot: &Slot| {
        let folder = slot.folder.display();
        tracing::warn!(%folder, "the disk has little room: removing working copies");
        if let Err(error) = slot.clear() {
            tracing::warn!(%folder, %error, "working copies cannot be removed");
        }
    };
    clear(slot);
    let Some(slots) = slot.folder.parent().filter(|_| is_little(builds_dir)) else { return };
    for idle in slot::take_idle(slots).unwrap_or_default() {
        if is_little(builds_dir) && idle.folder.exists() {
            clear(&idle);
        }
    }
}

/// Returns whether the disk has little room for the user of the builds.
pub fn is_little(builds_dir: &Path) -> bool {
    // A disk that cannot be asked has room.
    statvfs(builds_dir).is_ok_and(|disk| {
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        free < MIN_ROOM.min(disk.f_blocks.saturating_mul(disk.f_frsize) / MIN_PART)
    })
}
