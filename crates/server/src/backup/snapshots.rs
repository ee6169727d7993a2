//! The snapshots in a folder or an object store of backups.

use anyhow::{Result, bail};

use super::snapshot_store::Target;

/// The names of all snapshots, the newest last.
pub fn list(place: &str) -> Result<Vec<String>> {
    match Target::for_reading(place)? {
        Target::Store(snapshots) => snapshots.snapshots(),
        Target::File(file) => {
            bail!("{} is one backup; a folder or an object store holds several", file.display())
        }
    }
}
