//! `hexforge restore`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::{Layout, rewind};
use hexforge_persistence_diesel::backup::{self as database, Restore};

use super::Summary;
use super::file::{Header, Kind};
use super::manifest::{MANIFEST, REWINDS};
use super::progress::Progress;
use super::verify::{Source, is_repository, verify_source};
use crate::config::Config;
use crate::wiring::Wired;
use crate::{storage, system, upgrade, wiring};

/// The directory for restored files until all of them are complete.
const UNFINISHED: &str = ".restoring";

/// The settings file, which may be in an otherwise empty data folder.
const SETTINGS: &str = "hexforge.toml";

/// Verifies a backup and restores it into an empty data folder and an empty database. Until the end
/// both stay as they were.
pub fn restore(config: &Config, place: &str, at: Option<&str>) -> Result<Summary> {
    let data = &config.data_dir;
    ensure_empty(data)?;
    storage::ensure_unclaimed(config)?;
    let source = Source::open(place, at)?;
    let (manifest, summary) = verify_source(&source)?;
    let here = database::kind(&config.database_url);
    if manifest.database != here {
        bail!("the backup is of a {} database, and this is {here}", manifest.database);
    }
    wiring::prepare_data_dir(config)?;
    let mut restore = Restore::begin(&config.database_url, &manifest.migrations)?;
    let mut progress = Progress::new();
    progress.step("restoring");
    let mut files = Files::begin(data)?;
    let mut done = Summary::default();
    source.read(&mut |header, content| {
        done.files += 1;
        progress.done(&done);
        match header.kind {
            Kind::Part if header.path == Path::new(MANIFEST) => Ok(()),
            Kind::Part if header.path == Path::new(REWINDS) => files.rewind(content),
            Kind::Part => {
                let name = header.path.to_str().context("a part has no name")?;
                Ok(restore.restore_part(name, content)?)
            }
            Kind::File => files.file(header, &mut |file| Ok(io::copy(content, file)?)),
            Kind::Stored => files.file(header, &mut |file| source.write(content, file)),
            Kind::Link => files.link(header, content),
        }
    })?;
    progress.step("writing to the disk");
    files.finish(data)?;
    restore.finish(&config.database_url)?;
    finish(config).context(
        "everything is in the data folder and the database; `hexforge serve` goes on with this",
    )?;
    Ok(summary)
}

/// Runs the steps that a server start would run: storage, claims and upgrades.
fn finish(config: &Config) -> Result<()> {
    let Wired { app, store, .. } = wiring::wire(config, None)?;
    storage::forget_claim(&store)?;
    storage::claim(config, &store)?;
    for folder in storage::move_in(config, &mut io::stderr())? {
        fs::remove_dir_all(folder)?;
    }
    upgrade::run(config, &app, &mut io::stderr())
}

fn ensure_empty(data: &Path) -> Result<()> {
    let entries = match fs::read_dir(data) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| format!("{} cannot be read", data.display()))?,
    };
    for entry in entries {
        let name = entry?.file_name();
        // The rest of an interrupted restore is overwritten.
        ensure!(
            name == SETTINGS || name == UNFINISHED,
            "the data folder {} is not empty: it has {}",
            data.display(),
            name.to_string_lossy()
        );
    }
    Ok(())
}

/// The restored files, in a directory beside their final paths.
struct Files {
    folder: PathBuf,
}

impl Files {
    fn begin(data: &Path) -> Result<Self> {
        let folder = data.join(UNFINISHED);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        system::make_folders(&folder)?;
        Ok(Self { folder })
    }

    /// Returns the temporary path of an entry. Refuses paths that leave the directory.
    fn place(&self, path: &Path) -> Result<PathBuf> {
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(
            is_inside && path.iter().next().is_some(),
            "{} is not a valid path in a backup",
            path.display()
        );
        Ok(self.folder.join(path))
    }

    /// Returns the temporary path of a new file. If a path occurs twice in the backup, the last entry wins.
    fn new_place(&self, path: &Path) -> Result<PathBuf> {
        let place = self.place(path)?;
        let folder = place.parent().context("a restored file has no folder")?;
        system::make_folders(folder)?;
        match fs::remove_file(&place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            Ok(()) | Err(_) => Ok(place),
        }
    }

    fn file(
        &mut self,
        header: &Header,
        write: &mut dyn FnMut(&mut File) -> Result<u64>,
    ) -> Result<()> {
        let place = self.new_place(&header.path)?;
        let mut options = File::options();
        options.write(true).create_new(true).mode(header.mode & 0o777);
        let mut file = options.open(&place)?;
        write(&mut file)?;
        if let (true, Some(repository)) = (is_repository(header), place.parent()) {
            // Empty directories are not in the backup, but every repository needs these.
            for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
                system::make_folders(&repository.join(folder))?;
            }
        }
        Ok(())
    }

    fn link(&mut self, header: &Header, content: &mut dyn BufRead) -> Result<()> {
        let mut same = Vec::new();
        content.read_to_end(&mut same)?;
        let same = self.place(Path::new(OsStr::from_bytes(&same)))?;
        let place = self.new_place(&header.path)?;
        // If the file system has no hard links, the file is copied.
        fs::hard_link(&same, &place).or_else(|_| fs::copy(&same, &place).map(drop))?;
        Ok(())
    }

    /// Reverts changes of ref files that were made after the moment of a backup of an earlier
    /// release. The entry comes last.
    fn rewind(&mut self, content: &mut dyn BufRead) -> Result<()> {
        let layout = Layout::new(&self.folder);
        let mut project = None;
        let mut refs = BTreeMap::new();
        let take_back = |project: Option<ProjectId>, refs: &mut BTreeMap<_, _>| -> Result<()> {
            let folder = project.map(|project| layout.repository(project));
            if let Some(folder) = folder.filter(|folder| folder.exists()) {
                rewind::rewind(&folder, refs)?;
            }
            refs.clear();
            Ok(())
        };
        // The lines of one project follow each other.
        for line in content.lines() {
            let line = line?;
            let mut parts = line.splitn(3, ' ');
            let (of, old, name) = (parts.next(), parts.next(), parts.next());
            let of = of.and_then(|id| id.parse().ok()).map(ProjectId);
            let (Some(of), Some(old), Some(name)) = (of, old, name) else {
                bail!("the earlier values of refs cannot be parsed");
            };
            if project != Some(of) {
                take_back(project, &mut refs)?;
                project = Some(of);
            }
            let old = match old {
                "none" => None,
                id => Some(
                    ObjectId::parse(id).context("the earlier values of refs cannot be parsed")?,
                ),
            };
            refs.insert(name.to_owned(), old);
        }
        take_back(project, &mut refs)
    }

    /// Syncs all files, then moves them to their final paths.
    fn finish(self, data: &Path) -> Result<()> {
        rustix::fs::syncfs(File::open(&self.folder)?)?;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            fs::rename(entry.path(), data.join(entry.file_name()))?;
        }
        fs::remove_dir(&self.folder)?;
        Ok(File::open(data)?.sync_all()?)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // After all files were moved, the directory does not exist.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
