//! Lists the snapshots of backups in a folder or an object store.

use anyhow::{Result, bail};

use super::snapshot_store::Target;

/// Returns the names of all snapshots, the newest last.
pub fn list(place: &str) -> Result<Vec<String>> {
    match Target::for_reading(place)? {
        Target::Store(snapshots) => snapshots.snapshots(),
        Target::File(file) => {
            bail!("{} is one backup; a folder or an object store holds several", file.display())
        }
    }
}
