//! Copies the state of one moment into a backup.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hexforge_blobs_object_store::{BucketBuildFiles, BucketLfsFiles, BucketUploads};
use hexforge_domain::id::{ForkNetworkId, ProjectId};
use hexforge_domain::lfs::LfsObject;
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::files::ProjectFiles;
use hexforge_domain::ports::lfs_files::LfsFiles;
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use hexforge_git_gix::Layout;
use hexforge_pack_store::FolderPacks;
use hexforge_persistence_diesel::backup::{BackupError, Parts, Snapshot};

use super::Summary;
use super::file::{Header, Kind, Writer};
use super::progress::Progress;
use super::snapshot_store::{SnapshotStore, StoredContent};
use crate::storage;
use crate::system::project_folders::{entries, subfolders};
use crate::system::{FsBuildFiles, FsLfsFiles, FsUploads, trash};

/// How many projects one query looks up.
const BATCH: usize = 500;

/// The permission bits of the files of LFS objects.
const LFS_MODE: u32 = 0o600;

/// The identity of a file with several hard links: device, inode, file name and length. An inode may be reused after
/// its file is removed, so the name, which for a pack depends on its content, and the length are part of the identity.
pub(super) type Identity = (u64, u64, OsString, u64);

/// A backup that is being written.
pub(super) struct Copy<'a, W: Write> {
    pub data: &'a Path,
    /// The directory for temporary files.
    pub scratch: &'a Path,
    pub writer: Writer<W>,
    /// The store for file contents, if they do not go into the backup itself.
    pub snapshots: Option<&'a mut SnapshotStore>,
    /// Files with several hard links, with the path of the first copy: forks share packs.
    pub links: HashMap<Identity, PathBuf>,
    pub summary: Summary,
    pub progress: Progress,
    /// The names of missing packs.
    pub missing: Vec<String>,
    /// The paths of missing LFS objects, and of those whose file has another content.
    pub missing_objects: Vec<String>,
}

impl<W: Write> Copy<'_, W> {
    pub fn write_part(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let header = Header { kind: Kind::Part, path: name.into(), mode: 0o600 };
        let mut entry = self.writer.entry(&header)?;
        entry.write_all(content)?;
        entry.finish()?;
        self.count(content.len() as u64);
        Ok(())
    }

    fn count(&mut self, bytes: u64) {
        self.summary.files += 1;
        self.summary.bytes += bytes;
        self.progress.done(&self.summary);
    }

    /// Writes an open file under its path in the data folder.
    fn write_open_file(&mut self, path: &Path, file: &mut File) -> io::Result<()> {
        let found = file.metadata()?;
        let mut header =
            Header { kind: Kind::File, path: path.to_owned(), mode: found.mode() & 0o777 };
        let name = path.file_name().unwrap_or_default().to_owned();
        let identity = (found.dev(), found.ino(), name, found.len());
        if found.nlink() > 1 {
            if let Some(same) = self.links.get(&identity) {
                header.kind = Kind::Link;
                let mut entry = self.writer.entry(&header)?;
                entry.write_all(same.as_os_str().as_encoded_bytes())?;
                entry.finish()?;
                self.count(0);
                return Ok(());
            }
            self.links.insert(identity, path.to_owned());
        }
        let bytes = match &mut self.snapshots {
            Some(snapshots) => {
                let content = snapshots.store_content(file)?;
                header.kind = Kind::Stored;
                write_entry(&mut self.writer, &header, content.line().as_bytes())?;
                content.bytes
            }
            None => {
                let mut entry = self.writer.entry(&header)?;
                let bytes = io::copy(file, &mut entry)?;
                entry.finish()?;
                bytes
            }
        };
        self.count(bytes);
        Ok(())
    }

    /// Writes a file, if it exists.
    fn write_file(&mut self, from: &Path, path: &Path) -> io::Result<()> {
        match File::open(from) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            file => self.write_open_file(path, &mut file?),
        }
    }

    /// Writes all files in a directory, recursively.
    fn write_tree(&mut self, from: &Path, path: &Path) -> io::Result<()> {
        for entry in entries(from)? {
            let Some(name) = entry.file_name() else { continue };
            let (inner, kind) = (path.join(name), fs::symlink_metadata(&entry));
            match kind.map(|found| found.file_type()) {
                Ok(kind) if kind.is_dir() => self.write_tree(&entry, &inner)?,
                Ok(kind) if kind.is_file() => self.write_file(&entry, &inner)?,
                // Neither a file nor a directory, or removed meanwhile.
                Ok(_) | Err(_) => (),
            }
        }
        Ok(())
    }

    /// Writes the installation key and the SSH host keys.
    pub fn write_keys(&mut self) -> Result<()> {
        let data = self.data;
        self.write_file(&data.join("secret.key"), Path::new("secret.key"))?;
        self.write_tree(&data.join("ssh"), Path::new("ssh"))?;
        Ok(())
    }

    /// Writes the directories of all projects below a root directory, if the database has the project.
    pub fn write_projects(&mut self, snapshot: &mut Snapshot, root: &str) -> Result<()> {
        let data = self.data;
        let folders = subfolders(&data.join(root))?.into_iter();
        let folders = folders.flat_map(|folder| subfolders(&folder).unwrap_or_default());
        let folders = folders.flat_map(|folder| entries(&folder).unwrap_or_default());
        let mut folders = folders.filter_map(|folder| Some((project_of(&folder)?, folder)));
        loop {
            let batch: Vec<(ProjectId, PathBuf)> = folders.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let ids: Vec<ProjectId> = batch.iter().map(|(id, _)| *id).collect();
            let known = snapshot.projects(&ids)?;
            for (_, folder) in batch.iter().filter(|(id, _)| known.contains(id)) {
                self.write_tree(folder, folder.strip_prefix(data)?)?;
            }
        }
    }

    /// Writes the packs of all repositories, each with its index. Calls `copied` after each.
    pub fn write_packs(
        &mut self,
        snapshot: &mut Snapshot,
        packs: &dyn PackStore,
        copied: &dyn Fn(),
    ) -> Result<()> {
        let mut last = None;
        loop {
            let batch = snapshot.packs(last, BATCH as i64)?;
            let Some(end) = batch.last() else { return Ok(()) };
            last = Some(end.name);
            for pack in batch {
                let path = FolderPacks::new(storage::PACKS).path(pack.name);
                if self.write_known_pack(&path)? {
                    continue;
                }
                let open = |file: PathBuf| -> io::Result<[File; 2]> {
                    Ok([File::open(file.with_extension("idx"))?, File::open(&file)?])
                };
                let mut opened = match packs.local_path(&pack).map(open) {
                    Ok(Ok(opened)) => opened,
                    Ok(Err(error)) if error.kind() != ErrorKind::NotFound => {
                        return Err(error).with_context(|| format!("the pack {}", pack.name));
                    }
                    // A missing pack does not stop the backup of everything else.
                    Ok(Err(_)) | Err(PackError::Missing(_) | PackError::Damaged(..)) => {
                        self.missing.push(pack.name.to_string());
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                };
                for (file, opened) in [path.with_extension("idx"), path].iter().zip(&mut opened) {
                    self.write_open_file(file, opened)?;
                }
                copied();
            }
        }
    }

    /// Writes a pack and its index as references to their stored contents, if the newest snapshot has both. Then their
    /// bytes are not read. Returns whether it has.
    fn write_known_pack(&mut self, path: &Path) -> Result<bool> {
        let Some(snapshots) = &self.snapshots else { return Ok(false) };
        let files = [path.with_extension("idx"), path.to_owned()];
        let known: Option<Vec<_>> =
            files.iter().map(|file| snapshots.known_content(file)).collect();
        let Some(known) = known else { return Ok(false) };
        for (file, content) in files.into_iter().zip(known) {
            self.write_reference(file, 0o444, &content)?;
        }
        Ok(true)
    }

    /// Writes a file as a reference to its stored content.
    fn write_reference(
        &mut self,
        path: PathBuf,
        mode: u32,
        content: &StoredContent,
    ) -> io::Result<()> {
        let header = Header { kind: Kind::Stored, path, mode };
        write_entry(&mut self.writer, &header, content.line().as_bytes())?;
        self.count(content.bytes);
        Ok(())
    }

    /// Writes the LFS objects that have a row, from the object store or the data folder.
    pub fn write_lfs_objects(
        &mut self,
        snapshot: &mut Snapshot,
        stored: Option<&BucketLfsFiles>,
    ) -> Result<()> {
        for network in snapshot.lfs_networks()? {
            let mut last = None;
            loop {
                let batch = snapshot.lfs_objects(network, last, BATCH as i64)?;
                let Some(end) = batch.last() else { break };
                last = Some(end.oid);
                for object in batch {
                    self.write_lfs_object(network, object, stored)?;
                }
            }
        }
        Ok(())
    }

    /// Writes an LFS object. It is not looked up by its path, because a damaged file may be replaced by an upload.
    fn write_lfs_object(
        &mut self,
        network: ForkNetworkId,
        object: LfsObject,
        stored: Option<&BucketLfsFiles>,
    ) -> Result<()> {
        let path = FsLfsFiles::path_in_data(network, object.oid);
        let content = StoredContent::of_lfs_object(object);
        if self.snapshots.as_ref().is_some_and(|snapshots| snapshots.is_stored(&content)) {
            return Ok(self.write_reference(path, LFS_MODE, &content)?);
        }
        let opened = match stored {
            Some(files) => match files.open(network, object.oid, 0)? {
                Some(mut found) => Some(self.receive(&mut found.content)?),
                None => None,
            },
            None => open_lfs_object(self.data, &path)?,
        };
        let Some(mut file) = opened else {
            // A missing object does not stop the backup of everything else.
            self.missing_objects.push(path.display().to_string());
            return Ok(());
        };
        // A damaged object is left out, so that after a restore an upload replaces it.
        if StoredContent::of_file(&mut file)? != content {
            self.missing_objects.push(format!("{} (damaged)", path.display()));
            return Ok(());
        }
        match &mut self.snapshots {
            Some(snapshots) => {
                snapshots.store_known_content(&content, &mut file)?;
                self.write_reference(path, LFS_MODE, &content)?;
            }
            None => self.write_open_file(&path, &mut file)?,
        }
        Ok(())
    }

    /// Writes the uploaded files of an object store, under their paths in a data folder.
    pub fn write_stored_uploads(
        &mut self,
        snapshot: &mut Snapshot,
        uploads: &BucketUploads,
    ) -> Result<()> {
        for project in self.existing_projects(snapshot, uploads.projects()?)? {
            uploads.each::<anyhow::Error>(project, &mut |place, mut file| {
                let folder = FsUploads::folder_of(&place);
                self.write_stream(&folder.join(FsUploads::CONTENT), &mut file.content)?;
                self.write_stream(
                    &folder.join(FsUploads::NAME),
                    &mut place.name.as_str().as_bytes(),
                )
            })?;
        }
        Ok(())
    }

    /// Writes the logs and artifacts of an object store, under their paths in a data folder.
    pub fn write_stored_build_files(
        &mut self,
        snapshot: &mut Snapshot,
        files: &BucketBuildFiles,
    ) -> Result<()> {
        for project in self.existing_projects(snapshot, files.projects()?)? {
            for build in files.builds(project)? {
                if let Some(mut log) = files.open_trace(project, build)? {
                    self.write_stream(&FsBuildFiles::trace_path(project, build), &mut log.content)?;
                }
                if let Some(mut found) = files.open_artifacts(project, build)? {
                    let path = FsBuildFiles::artifacts_path(project, build);
                    self.write_stream(&path, &mut found.content)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the projects that the database has.
    fn existing_projects(
        &self,
        snapshot: &mut Snapshot,
        projects: impl Iterator<Item = ProjectId>,
    ) -> Result<Vec<ProjectId>> {
        let (all, mut known) = (projects.collect::<Vec<_>>(), Vec::new());
        for batch in all.chunks(BATCH) {
            known.extend(snapshot.projects(batch)?);
        }
        Ok(known)
    }

    /// Writes a file of the data folder from a stream.
    fn write_stream(&mut self, path: &Path, content: &mut dyn io::Read) -> Result<()> {
        let mut file = self.receive(content)?;
        Ok(self.write_open_file(path, &mut file)?)
    }

    /// Receives a stream into a temporary file.
    fn receive(&self, content: &mut dyn io::Read) -> io::Result<File> {
        let mut file = tempfile::tempfile_in(self.scratch)?;
        io::copy(content, &mut file)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.rewind()?;
        Ok(file)
    }

    /// Writes the repositories that an upgrade could not convert, with all their files.
    pub fn write_unconverted_repositories(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let (data, layout) = (self.data, Layout::new(self.data));
        for project in snapshot.projects_in_files()? {
            for folder in [layout.repository(project), layout.earlier_repository(project)] {
                self.write_tree(&folder, folder.strip_prefix(data)?)?;
            }
        }
        Ok(())
    }

    /// Writes the files that were moved to the trash since the moment of the backup.
    pub fn write_trash(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        for (place, was) in trash::contents(self.data)? {
            if was.starts_with(FsLfsFiles::ROOT) {
                // LFS objects are written with the others, wherever they are.
                continue;
            }
            // The entry is the directory of a project, or a file in it.
            let of = was.iter().nth(3).map(Path::new).and_then(project_of);
            let Some(project) = of else { continue };
            if snapshot.projects(&[project])?.is_empty() {
                continue;
            }
            // Repository directories can be rebuilt from rows and packs.
            match place.is_dir() {
                _ if was.starts_with("repositories") => (),
                true => self.write_tree(&place, &was)?,
                false => self.write_file(&place, &was)?,
            }
        }
        Ok(())
    }
}

impl<W: Write> Parts for Copy<'_, W> {
    fn receive_part(
        &mut self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), BackupError>,
    ) -> Result<(), BackupError> {
        let header = Header { kind: Kind::Part, path: name.into(), mode: 0o600 };
        let mut entry = Counted { inner: self.writer.entry(&header)?, bytes: 0 };
        write(&mut entry)?;
        let bytes = entry.bytes;
        entry.inner.finish()?;
        self.count(bytes);
        Ok(())
    }
}

fn write_entry<W: Write>(
    writer: &mut Writer<W>,
    header: &Header,
    content: &[u8],
) -> io::Result<()> {
    let mut entry = writer.entry(header)?;
    entry.write_all(content)?;
    entry.finish()
}

/// Opens an LFS object in a data folder, or in the trash if its network was removed since the moment of the backup.
fn open_lfs_object(data: &Path, path: &Path) -> Result<Option<File>> {
    let open = |path: PathBuf| match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        file => file.map(Some),
    };
    if let Some(file) = open(data.join(path))? {
        return Ok(Some(file));
    }
    for (place, was) in trash::contents(data)? {
        // The entry is the directory of the network, or the file itself.
        let inside = path.strip_prefix(&was).ok().map(|rest| match rest.as_os_str().is_empty() {
            true => place.clone(),
            false => place.join(rest),
        });
        if let Some(inside) = inside
            && let Some(file) = open(inside)?
        {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Parses the project id from the name of a directory.
fn project_of(folder: &Path) -> Option<ProjectId> {
    let name = folder.file_name()?.to_str()?;
    name.strip_suffix(".git").unwrap_or(name).parse().ok().map(ProjectId)
}
