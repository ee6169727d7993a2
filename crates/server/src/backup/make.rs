//! `hexforge backup`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter};

use anyhow::{Context, Result, bail, ensure};
use hexforge_blobs_object_store::{BucketBuildFiles, BucketLfsFiles, BucketUploads, CachedPacks};
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::backup::{self as database, Snapshot};
use hexforge_persistence_diesel::{DatabaseUrl, store};

use super::Summary;
use super::copy::Copy;
use super::file::Writer;
use super::manifest::{MANIFEST, Manifest};
use super::progress::Progress;
use super::snapshot_store::{SnapshotStore, Target};
use super::staging::StagingFolder;
use crate::config::Config;
use crate::storage::{self, Check};
use crate::system::{self, BackupLock, FsBuildFiles, FsUploads, Trash};

/// The result of a backup.
pub struct BackupResult {
    pub summary: Summary,
    /// The name of the snapshot, if the target holds several.
    pub snapshot: Option<String>,
    /// The number of older snapshots that were removed.
    pub removed: usize,
}

/// Writes a backup into a new file, or as a snapshot into a target that holds several. With `keep`,
/// only the newest snapshots stay.
pub fn make(config: &Config, place: &str, keep: Option<usize>) -> Result<BackupResult> {
    match Target::for_writing(place)? {
        Target::File(file) => {
            ensure!(
                keep.is_none(),
                "a file holds one backup; --keep is for folders and object stores"
            );
            ensure!(!file.exists(), "{} exists already", file.display());
            let staging = StagingFolder::beside(&file)?;
            let finish = |written: &File| staging.finish(written, &file);
            let written = write(config, &staging, None, &finish)?;
            Ok(BackupResult { summary: written.require_whole()?, snapshot: None, removed: 0 })
        }
        Target::Store(mut snapshots) => {
            snapshots.prepare()?;
            let name = SnapshotStore::new_name();
            // The server removes files of an interrupted backup there after a day.
            let scratch = Layout::new(&config.data_dir).scratch();
            system::make_folders(&scratch)?;
            let staging = StagingFolder::beside(&scratch.join("backup"))?;
            let written = write(config, &staging, Some(&mut snapshots), &|_| Ok(()))?;
            snapshots.store_snapshot(&name, &staging.unfinished())?;
            // Older snapshots may have packs that this one lacks, but no LFS objects: those are found by their content.
            let keep = keep.filter(|_| written.missing.is_empty());
            let removed = keep.map(|keep| snapshots.keep_newest(keep, &name)).transpose()?;
            Ok(BackupResult {
                summary: written.require_whole()?,
                snapshot: Some(name),
                removed: removed.unwrap_or_default(),
            })
        }
    }
}

/// What was written.
struct Written {
    summary: Summary,
    missing: Vec<String>,
    missing_objects: Vec<String>,
}

impl Written {
    /// Returns an error if something is missing in the backup, which is stored already.
    fn require_whole(self) -> Result<Summary> {
        let mut problems = Vec::new();
        for (what, names) in [
            ("packs are missing", self.missing),
            ("LFS objects are missing or damaged", self.missing_objects),
        ] {
            if !names.is_empty() {
                problems.push(format!("{} {what}: {}", names.len(), names.join(", ")));
            }
        }
        ensure!(problems.is_empty(), "the backup is made, but {}", problems.join("; "));
        Ok(self.summary)
    }
}

/// Writes the state of one moment. `finish` moves the written file to its destination.
fn write(
    config: &Config,
    staging: &StagingFolder,
    snapshots: Option<&mut SnapshotStore>,
    finish: &dyn Fn(&File) -> Result<()>,
) -> Result<Written> {
    let data = &config.data_dir;
    ensure!(data.is_dir(), "there is no data folder {}", data.display());
    if database::kind(&config.database_url) != "sqlite" || database_file_exists(config) {
        let pending = store::pending_migrations(&config.database_url)?;
        ensure!(
            pending.is_empty(),
            "the database is of an earlier release: make the backup with that release, or start this one first"
        );
    }
    let mut progress = Progress::new();
    let backup_lock =
        BackupLock::take(data).context("the backup lock of the data folder cannot be taken")?;
    let Some(backup_lock) = backup_lock else { bail!("another backup is being made") };
    // The database is copied first: the objects of its refs were stored before the refs.
    progress.step("copying the database");
    let mut snapshot = Snapshot::take(&config.database_url, &staging.folder)?;
    let writer = Writer::begin(BufWriter::with_capacity(256 * 1024, staging.create()?))?;
    let (links, summary) = (HashMap::new(), Summary::default());
    let scratch = &*staging.folder;
    let mut copy = Copy {
        data,
        scratch,
        writer,
        snapshots,
        links,
        summary,
        progress,
        missing: vec![],
        missing_objects: vec![],
    };
    let manifest = Manifest {
        made: chrono::Utc::now().format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        database: database::kind(&config.database_url).to_owned(),
        migrations: snapshot.migrations()?,
        repositories: Some(snapshot.repositories()?),
    };
    copy.summary.repositories = manifest.repositories.unwrap_or_default();
    copy.write_part(MANIFEST, manifest.write().as_bytes())?;
    snapshot.write_parts(&mut copy)?;
    copy.progress.step("copying repositories and files");
    copy.write_keys()?;
    match storage::bucket(config)? {
        None => {
            copy.write_packs(&mut snapshot, &storage::local_packs(config, Check::Lengths), &|| ())?;
            for root in [FsUploads::ROOT, FsBuildFiles::ROOT] {
                copy.write_projects(&mut snapshot, root)?;
            }
            copy.write_lfs_objects(&mut snapshot, None)?;
        }
        Some(bucket) => {
            // A separate cache, which is emptied after each pack.
            let packs = CachedPacks::open(bucket.clone(), staging.folder.join("packs"), 0)?;
            copy.write_packs(&mut snapshot, &packs, &|| drop(packs.evict_unlinked()))?;
            let uploads = BucketUploads::new(bucket.clone(), &staging.folder);
            copy.write_stored_uploads(&mut snapshot, &uploads)?;
            let build_files = BucketBuildFiles::new(bucket.clone(), &staging.folder);
            copy.write_stored_build_files(&mut snapshot, &build_files)?;
            let lfs_files = BucketLfsFiles::new(bucket, &staging.folder);
            copy.write_lfs_objects(&mut snapshot, Some(&lfs_files))?;
        }
    }
    copy.write_unconverted_repositories(&mut snapshot)?;
    copy.write_trash(&mut snapshot)?;
    let Copy { writer, summary, missing, missing_objects, .. } = copy;
    let written = writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    finish(&written)?;
    drop(backup_lock);
    // Removed files stayed in the trash during the backup.
    Trash::new(data).empty().context("the trash cannot be emptied")?;
    Ok(Written { summary, missing, missing_objects })
}

/// Returns whether the SQLite file exists. A query for pending migrations would create it.
fn database_file_exists(config: &Config) -> bool {
    matches!(&config.database_url, DatabaseUrl::Sqlite(file) if file.exists())
}
