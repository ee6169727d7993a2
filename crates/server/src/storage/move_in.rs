//! Moves packs and files from a data folder into an object store, once.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hexforge_domain::id::{BuildId, ForkNetworkId, ProjectId};
use hexforge_domain::lfs::LfsOid;
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::lfs_files::LfsFiles;
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use hexforge_domain::ports::uploads::{NewFile, Uploads};
use hexforge_domain::project::upload::{UploadKey, UploadName, UploadSecret};

use super::{Check, ObjectStorage, PACKS, local_packs, object_storage};
use crate::config::Config;
use crate::system::project_folders::entries;
use crate::system::{FsBuildFiles, FsLfsFiles, FsUploads};

/// The time between two progress lines.
const BETWEEN: Duration = Duration::from_secs(5);

/// The size of the read buffer in bytes.
const CHUNK: usize = 256 * 1024;

/// The new name of a folder after its content was copied to the object store.
fn moved_path(data: &Path, folder: &str) -> Result<PathBuf> {
    let name = |number: u32| match number {
        1 => data.join(format!("{folder}-before-object-store")),
        number => data.join(format!("{folder}-before-object-store-{number}")),
    };
    let free = (1..1000).map(name).find(|path| !path.exists());
    free.with_context(|| format!("no free name like {} is left", name(1).display()))
}

/// Copies packs, uploads, logs, artifacts and LFS objects from the data folder into the object store, when an
/// installation begins to use one. The directories are renamed after everything is copied; an
/// interrupted move begins again. Returns the renamed directories.
pub fn move_in(config: &Config, terminal: &mut dyn Write) -> Result<Vec<PathBuf>> {
    let (data, mut folders) = (&config.data_dir, Vec::new());
    let roots = [PACKS, FsUploads::ROOT, FsBuildFiles::ROOT, FsLfsFiles::ROOT];
    if config.object_store_url.is_none() || roots.iter().all(|root| !data.join(root).exists()) {
        return Ok(folders);
    }
    let Some(to) = &object_storage(config)? else { return Ok(folders) };
    let mut progress = Progress { terminal, done: 0, last_report: Instant::now() };
    for (folder, copy) in [
        (PACKS, copy_packs as fn(&Config, &ObjectStorage, &mut Progress<'_>) -> Result<()>),
        (FsUploads::ROOT, copy_uploads),
        (FsBuildFiles::ROOT, copy_build_files),
        (FsLfsFiles::ROOT, copy_lfs_objects),
    ] {
        if !data.join(folder).exists() {
            continue;
        }
        writeln!(progress.terminal, "Moving {folder} into the object store.")?;
        copy(config, to, &mut progress)?;
        let target = moved_path(data, folder)?;
        fs::rename(data.join(folder), &target)
            .with_context(|| format!("{} cannot be created", target.display()))?;
        File::open(data)?.sync_all()?;
        folders.push(target);
    }
    Ok(folders)
}

struct Progress<'a> {
    terminal: &'a mut dyn Write,
    done: u64,
    last_report: Instant,
}

impl Progress<'_> {
    fn step(&mut self) -> Result<()> {
        self.done += 1;
        if self.last_report.elapsed() > BETWEEN {
            self.last_report = Instant::now();
            writeln!(self.terminal, "{} files are done.", self.done)?;
        }
        Ok(())
    }
}

fn copy_packs(config: &Config, to: &ObjectStorage, progress: &mut Progress<'_>) -> Result<()> {
    let packs = local_packs(config, Check::Lengths);
    let mut failure = None;
    let copied = packs.for_each_pack(&mut |name, _| {
        let data = packs.path(name);
        match packs.stored_at(name)? {
            Some(_) => to.packs.upload(name, &data, &data.with_extension("idx"))?,
            None => tracing::warn!(%name, "an incomplete pack is not moved"),
        }
        progress.step().map_err(|error| {
            failure = Some(error);
            PackError::Failed("progress cannot be written".into())
        })
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(copied?),
    }
}

fn copy_uploads(config: &Config, to: &ObjectStorage, progress: &mut Progress<'_>) -> Result<()> {
    for (project, folder) in FsUploads::folders(&config.data_dir)? {
        for upload in entries(&folder)? {
            let name = upload.file_name().and_then(|name| name.to_str());
            let secret = name.and_then(UploadSecret::parse);
            let name = fs::read_to_string(upload.join(FsUploads::NAME)).ok();
            let (Some(secret), Some(name)) = (secret, name) else { continue };
            let key = UploadKey { project, secret, name: UploadName::from_client(&name) };
            if to.uploads.open(&key)?.is_none() {
                copy_file(&upload.join(FsUploads::CONTENT), to.uploads.begin(&key)?)?;
            }
            progress.step()?;
        }
    }
    Ok(())
}

fn copy_build_files(
    config: &Config,
    to: &ObjectStorage,
    progress: &mut Progress<'_>,
) -> Result<()> {
    for (project, folder) in FsBuildFiles::folders(&config.data_dir)? {
        for file in entries(&folder)? {
            let build = file.file_stem().and_then(|name| name.to_str()?.parse().ok()).map(BuildId);
            let Some(build) = build else { continue };
            copy_build_file(to, project, build, &file)?;
            progress.step()?;
        }
    }
    Ok(())
}

fn copy_lfs_objects(
    config: &Config,
    to: &ObjectStorage,
    progress: &mut Progress<'_>,
) -> Result<()> {
    for (network, oid, file) in FsLfsFiles::objects(&config.data_dir)? {
        if to.lfs_files.open(network, oid, 0)?.is_none() {
            copy_lfs_object(to, (network, oid), &file)?;
        }
        progress.step()?;
    }
    Ok(())
}

fn copy_lfs_object(
    to: &ObjectStorage,
    (network, oid): (ForkNetworkId, LfsOid),
    file: &Path,
) -> Result<()> {
    let mut new = to.lfs_files.begin(network, oid)?;
    for_each_chunk(file, &mut |chunk| Ok(new.append(chunk)?))?;
    if new.seal()? == oid {
        return Ok(new.finish()?);
    }
    tracing::warn!(file = %file.display(), "a damaged LFS object is not moved");
    Ok(())
}

fn copy_build_file(
    to: &ObjectStorage,
    project: ProjectId,
    build: BuildId,
    file: &Path,
) -> Result<()> {
    let name = file.file_name();
    let (is_log, is_artifacts) = (
        name == FsBuildFiles::trace_path(project, build).file_name(),
        name == FsBuildFiles::artifacts_path(project, build).file_name(),
    );
    // An existing file in the object store may be newer, so it is kept.
    if is_log && to.build_files.trace_size(project, build)? == 0 {
        // The length of logs is limited, so a log fits into memory.
        to.build_files.replace_trace(project, build, &fs::read(file)?)?;
    } else if is_artifacts && to.build_files.open_artifacts(project, build)?.is_none() {
        copy_file(file, to.build_files.begin_artifacts(project, build)?)?;
    }
    Ok(())
}

fn copy_file(from: &Path, mut to: Box<dyn NewFile>) -> Result<()> {
    for_each_chunk(from, &mut |chunk| Ok(to.append(chunk)?))?;
    Ok(to.finish()?)
}

/// Reads a file in chunks.
fn for_each_chunk(from: &Path, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let (mut file, mut chunk) = (File::open(from)?, vec![0; CHUNK]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(()),
            read => visit(&chunk[..read])?,
        }
    }
}
