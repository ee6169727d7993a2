//! `hexforge backup`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter};

use anyhow::{Context, Result, bail, ensure};
use hexforge_persistence_diesel::backup::{self as database, Snapshot};
use hexforge_persistence_diesel::{DatabaseUrl, store};

use super::Summary;
use super::copy::Copy;
use super::file::Writer;
use super::manifest::{MANIFEST, Manifest};
use super::place::Place;
use super::progress::Progress;
use super::shelf::{Shelf, Target};
use crate::config::Config;
use crate::storage::{self, Care};
use crate::system::{Hold, Trash};

/// Writes everything of one moment into a new file, or into a place that holds several moments. Returns the name of the
/// moment in such a place.
pub fn make(config: &Config, place: &str) -> Result<(Option<String>, Summary)> {
    match Target::parse(place)? {
        Target::File(file) => {
            ensure!(!file.exists(), "{} is there already", file.display());
            let place = Place::beside(&file)?;
            let summary = write(config, &place, None, &|written| place.finish(written, &file))?;
            Ok((None, summary))
        }
        Target::Shelf(mut shelf) => {
            shelf.read_names()?;
            let moment = shelf.new_moment();
            let place = Place::beside(&std::env::temp_dir().join("hexforge-backup"))?;
            let bucket = shelf.bucket().clone();
            let finish = |_: &File| Ok(bucket.put_file(&Shelf::key(&moment), &place.unfinished())?);
            let summary = write(config, &place, Some(&mut shelf), &finish)?;
            Ok((Some(moment), summary))
        }
    }
}

/// Writes everything of one moment. `finish` puts what was written in its place.
fn write(
    config: &Config,
    place: &Place,
    shelf: Option<&mut Shelf>,
    finish: &dyn Fn(&File) -> Result<()>,
) -> Result<Summary> {
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
    let hold = Hold::take(data).context("the data folder cannot be held on to")?;
    let Some(hold) = hold else { bail!("another backup is being made") };
    // The database comes first: the objects of its refs were stored before the refs.
    progress.step("copying the database");
    let mut snapshot = Snapshot::take(&config.database_url, &place.folder)?;
    let writer = Writer::begin(BufWriter::with_capacity(256 * 1024, place.create()?))?;
    let (links, summary) = (HashMap::new(), Summary::default());
    let mut copy = Copy { data, writer, shelf, links, summary, progress, missing: vec![] };
    let manifest = Manifest {
        made: chrono::Utc::now().format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        database: database::kind(&config.database_url).to_owned(),
        migrations: snapshot.migrations()?,
        repositories: Some(snapshot.repositories()?),
    };
    copy.summary.repositories = manifest.repositories.unwrap_or_default();
    copy.part(MANIFEST, manifest.write().as_bytes())?;
    snapshot.give(&mut copy)?;
    copy.progress.step("copying repositories and files");
    copy.keys()?;
    match storage::stored(config)? {
        None => {
            copy.packs(&mut snapshot, &storage::local_packs(config, Care::Glance), &|| ())?;
            for root in ["uploads", "builds"] {
                copy.projects(&mut snapshot, root)?;
            }
        }
        Some(stored) => {
            let drop_packs = || {
                // What stays is dropped with the next ones.
                let _ = stored.packs.drop_unlinked();
            };
            copy.packs(&mut snapshot, &*stored.packs, &drop_packs)?;
            copy.stored_uploads(&mut snapshot, &stored.uploads)?;
            copy.stored_build_files(&mut snapshot, &stored.build_files)?;
        }
    }
    copy.in_files(&mut snapshot)?;
    copy.thrown_away(&mut snapshot)?;
    let Copy { writer, summary, missing, .. } = copy;
    let written = writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    finish(&written)?;
    drop(hold);
    // What was thrown away meanwhile waited for this.
    Trash::new(data).empty().context("the trash cannot be emptied")?;
    let lost = missing.len();
    ensure!(lost == 0, "the backup is made, but {lost} packs are missing: {}", missing.join(", "));
    Ok(summary)
}

/// Returns whether there is a database in a file: to ask it for migrations would make it.
fn database_file_exists(config: &Config) -> bool {
    matches!(&config.database_url, DatabaseUrl::Sqlite(file) if file.exists())
}
