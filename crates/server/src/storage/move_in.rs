//! Moves packs and files of a data folder into an object store, once.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use hexforge_domain::ports::uploads::{NewUpload, Uploads};
use hexforge_domain::project::upload::{UploadName, UploadPlace, UploadSecret};

use super::{Care, PACKS, Stored, local_packs};
use crate::config::Config;
use crate::system::{FsBuildFiles, FsUploads};

/// The time between two progress lines.
const BETWEEN: Duration = Duration::from_secs(5);

/// The number of bytes that are read at once.
const CHUNK: usize = 256 * 1024;

/// What the folder of something is called that was moved into an object store.
fn moved(data: &Path, folder: &str) -> PathBuf {
    data.join(format!("{folder}-before-object-store"))
}

/// Copies packs, uploads, logs and artifacts that an installation without an object store left in its data folder into
/// the object store. Their folders are renamed after all are copied; an interrupted move begins again. Returns the
/// renamed folders.
pub fn move_in(config: &Config, stored: &Stored, terminal: &mut dyn Write) -> Result<Vec<PathBuf>> {
    let data = &config.data_dir;
    let mut folders = Vec::new();
    let mut progress = Progress { terminal, done: 0, told: Instant::now() };
    for (folder, copy) in [
        (PACKS, copy_packs as fn(&Config, &Stored, &mut Progress<'_>) -> Result<()>),
        (FsUploads::ROOT, copy_uploads),
        (FsBuildFiles::ROOT, copy_build_files),
    ] {
        if !data.join(folder).exists() {
            continue;
        }
        writeln!(progress.terminal, "Moving {folder} into the object store.")?;
        copy(config, stored, &mut progress)?;
        let target = moved(data, folder);
        fs::rename(data.join(folder), &target)
            .with_context(|| format!("{} cannot be made", target.display()))?;
        File::open(data)?.sync_all()?;
        folders.push(target);
    }
    Ok(folders)
}

struct Progress<'a> {
    terminal: &'a mut dyn Write,
    done: u64,
    told: Instant,
}

impl Progress<'_> {
    fn step(&mut self) -> Result<()> {
        self.done += 1;
        if self.told.elapsed() > BETWEEN {
            self.told = Instant::now();
            writeln!(self.terminal, "{} files are done.", self.done)?;
        }
        Ok(())
    }
}

fn copy_packs(config: &Config, stored: &Stored, progress: &mut Progress<'_>) -> Result<()> {
    let packs = local_packs(config, Care::Glance);
    let mut failure = None;
    let copied = packs.each(&mut |name, _| {
        let data = packs.path(name);
        stored.packs.upload(name, &data, &data.with_extension("idx"))?;
        progress.step().map_err(|error| {
            failure = Some(error);
            PackError::Failed("nobody can be told".into())
        })
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(copied?),
    }
}

fn copy_uploads(config: &Config, stored: &Stored, progress: &mut Progress<'_>) -> Result<()> {
    for (project, folder) in FsUploads::folders(&config.data_dir)? {
        for upload in entries(&folder)? {
            let name = upload.file_name().and_then(|name| name.to_str());
            let secret = name.and_then(UploadSecret::parse);
            let name = fs::read_to_string(upload.join(FsUploads::NAME)).ok();
            let (Some(secret), Some(name)) = (secret, name) else { continue };
            let place = UploadPlace { project, secret, name: UploadName::from_given(&name) };
            copy_file(&upload.join(FsUploads::CONTENT), stored.uploads.begin(&place)?)?;
            progress.step()?;
        }
    }
    Ok(())
}

fn copy_build_files(config: &Config, stored: &Stored, progress: &mut Progress<'_>) -> Result<()> {
    for (project, folder) in FsBuildFiles::folders(&config.data_dir)? {
        for file in entries(&folder)? {
            let build = file.file_stem().and_then(|name| name.to_str()?.parse().ok()).map(BuildId);
            let Some(build) = build else { continue };
            copy_build_file(stored, project, build, &file)?;
            progress.step()?;
        }
    }
    Ok(())
}

fn copy_build_file(stored: &Stored, project: ProjectId, build: BuildId, file: &Path) -> Result<()> {
    let name = file.file_name();
    if name == FsBuildFiles::trace_path(project, build).file_name() {
        // The program limits the length of logs.
        stored.build_files.replace_trace(project, build, &fs::read(file)?)?;
    } else if name == FsBuildFiles::artifacts_path(project, build).file_name() {
        copy_file(file, stored.build_files.begin_artifacts(project, build)?)?;
    }
    Ok(())
}

fn copy_file(from: &Path, mut to: Box<dyn NewUpload>) -> Result<()> {
    let (mut file, mut chunk) = (File::open(from)?, vec![0; CHUNK]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(to.finish()?),
            read => to.append(&chunk[..read])?,
        }
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
}
