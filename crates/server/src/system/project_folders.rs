//! Directories of projects on disk, spread over two levels of subdirectories so that none has too many entries.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hexforge_domain::hex;
use hexforge_domain::id::{self, ProjectId};

/// The directory for files that are still being written.
pub(super) const RECEIVING: &str = "receiving";
/// The age from which on an unfinished file counts as interrupted, in this process or another one.
/// No upload takes as long.
pub(super) const INTERRUPTED: Duration = Duration::from_secs(24 * 60 * 60);

/// A root directory with a directory for each project.
#[derive(Clone, Debug)]
pub(super) struct ProjectFolders(PathBuf);

impl ProjectFolders {
    /// Uses this root directory. It is created with the first file.
    pub fn new(root: PathBuf) -> Self {
        Self(root)
    }

    /// The root directory.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// The directory of a project, below two levels named by the last two bytes of its id.
    pub fn folder_of(&self, project: ProjectId) -> PathBuf {
        let [.., second, first] = project.0.to_be_bytes();
        let subfolder = self.0.join(format!("{first:02x}")).join(format!("{second:02x}"));
        subfolder.join(project.0.to_string())
    }

    /// The directory for unfinished files.
    pub fn receiving(&self) -> PathBuf {
        self.0.join(RECEIVING)
    }

    /// Lists the projects that have a directory.
    pub fn projects(&self) -> io::Result<Box<dyn Iterator<Item = ProjectId>>> {
        let outer = subfolders(&self.0)?;
        let inner = outer.into_iter().flat_map(|subfolder| read_or_warn(&subfolder, subfolders));
        Ok(Box::new(inner.flat_map(|subfolder| read_or_warn(&subfolder, ids))))
    }

    /// Lists the projects that have a directory, each with its path.
    pub fn folders(&self) -> io::Result<Vec<(ProjectId, PathBuf)>> {
        Ok(self.projects()?.map(|project| (project, self.folder_of(project))).collect())
    }

    /// Removes unfinished files that are older than [`INTERRUPTED`].
    pub fn remove_interrupted(&self) -> io::Result<()> {
        remove_interrupted(&self.receiving())
    }

    /// Syncs the directories of a project, so that the names in them survive a crash.
    pub fn sync(&self, project: ProjectId) -> io::Result<()> {
        sync_up_to(&self.folder_of(project), &self.0)
    }
}

/// Removes unfinished files in a directory that are older than [`INTERRUPTED`].
pub(super) fn remove_interrupted(receiving: &Path) -> io::Result<()> {
    for path in entries(receiving)? {
        let begun = fs::metadata(&path).and_then(|found| found.modified());
        let age = begun.ok().and_then(|begun| begun.elapsed().ok());
        if age.is_some_and(|age| age > INTERRUPTED) {
            match path.is_dir() {
                true => fs::remove_dir_all(&path)?,
                false => fs::remove_file(&path)?,
            }
        }
    }
    Ok(())
}

/// Syncs a directory and its parents, up to the one above the root, so that their names survive a crash.
pub(super) fn sync_up_to(folder: &Path, root: &Path) -> io::Result<()> {
    let above = root.parent().unwrap_or(root);
    for folder in folder.ancestors().take_while(|folder| folder.starts_with(above)) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Lists a directory. Empty if it does not exist.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
        found => found?.map(|entry| entry.map(|entry| entry.path())).collect(),
    }
}

/// Lists the subdirectories above the directories of projects: their names are two hex digits.
pub(crate) fn subfolders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = entries(folder)?;
    found.retain(|path| name(path).is_some_and(|name| hex::parse::<1>(name).is_some()));
    Ok(found)
}

fn ids(subfolder: &Path) -> io::Result<Vec<ProjectId>> {
    let found = entries(subfolder)?;
    Ok(found.iter().filter_map(|path| id::parse(name(path)?)).map(ProjectId).collect())
}

fn name(path: &Path) -> Option<&str> {
    path.file_name().and_then(OsStr::to_str)
}

/// Logs a warning for a directory that cannot be read, so that the others are still listed.
fn read_or_warn<T>(folder: &Path, read: fn(&Path) -> io::Result<Vec<T>>) -> Vec<T> {
    read(folder).unwrap_or_else(|error| {
        tracing::warn!(folder = %folder.display(), %error, "files of projects cannot be listed");
        Vec::new()
    })
}
