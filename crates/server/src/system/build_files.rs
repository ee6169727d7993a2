//! Build logs and artifacts on disk: `builds/<2 hex>/<2 hex>/<project id>/<build id>.log` and
//! `.artifacts`. No path contains text from a request.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::uploads::{NewFile, StoredFile};

use super::project_folders::{self, ProjectFolders};
use super::trash::Trash;
use super::{make_folders, random_name};

const TRACE: &str = "log";
const ARTIFACTS: &str = "artifacts";

/// Stores logs and artifacts below a data folder.
pub struct FsBuildFiles {
    folders: ProjectFolders,
    trash: Arc<Trash>,
}

impl FsBuildFiles {
    /// The name of the root directory in a data folder.
    pub(crate) const ROOT: &str = "builds";

    /// Lists the projects that have logs or artifacts in a data folder, each with its directory.
    pub(crate) fn folders(data_dir: &Path) -> io::Result<Vec<(ProjectId, PathBuf)>> {
        ProjectFolders::new(data_dir.join(Self::ROOT)).folders()
    }

    /// Creates the store. No directory is created before the first file.
    pub fn new(data_dir: &Path, trash: Arc<Trash>) -> Self {
        Self { folders: ProjectFolders::new(data_dir.join(Self::ROOT)), trash }
    }

    /// The path of a log, relative to the data folder.
    pub(crate) fn trace_path(project: ProjectId, build: BuildId) -> PathBuf {
        path(&ProjectFolders::new(Self::ROOT.into()), project, build, TRACE)
    }

    /// The path of the artifacts, relative to the data folder.
    pub(crate) fn artifacts_path(project: ProjectId, build: BuildId) -> PathBuf {
        path(&ProjectFolders::new(Self::ROOT.into()), project, build, ARTIFACTS)
    }

    fn path(&self, project: ProjectId, build: BuildId, kind: &str) -> PathBuf {
        path(&self.folders, project, build, kind)
    }

    /// Writes a complete file under a temporary name, and renames it once it is on disk.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut new = Receiving::begin(&self.folders, path)?;
        new.file.write_all(content)?;
        new.place()
    }
}

fn path(folders: &ProjectFolders, project: ProjectId, build: BuildId, kind: &str) -> PathBuf {
    folders.folder_of(project).join(format!("{build}.{kind}"))
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> FilesError {
    move |error| FilesError(format!("a file of a build could not be {what}"), Box::new(error))
}

fn open(path: &Path) -> io::Result<Option<StoredFile>> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => {
            let file = file?;
            Ok(Some(StoredFile { size: file.metadata()?.len(), content: Box::new(file) }))
        }
    }
}

/// Reads the end of a file. Returns no bytes if the file does not exist.
fn tail(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut tail = Vec::new();
    file.take(bytes).read_to_end(&mut tail)?;
    Ok(tail)
}

impl ProjectFiles for FsBuildFiles {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        self.folders.projects().map_err(failed("listed"))
    }

    fn remove_project(&self, project: ProjectId) {
        if let Err(error) = self.trash.take(&self.folders.folder_of(project)) {
            tracing::warn!(%project, %error, "build files stay on disk until the next start");
        }
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        self.folders.remove_interrupted().map_err(failed("removed"))
    }
}

impl BuildFiles for FsBuildFiles {
    fn trace_size(&self, project: ProjectId, build: BuildId) -> Result<u64, FilesError> {
        let found = self.open_trace(project, build)?;
        Ok(found.map_or(0, |trace| trace.size))
    }

    fn open_trace(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredFile>, FilesError> {
        open(&self.path(project, build, TRACE)).map_err(failed("read"))
    }

    fn trace_tail(
        &self,
        project: ProjectId,
        build: BuildId,
        bytes: u64,
    ) -> Result<Vec<u8>, FilesError> {
        tail(&self.path(project, build, TRACE), bytes).map_err(failed("read"))
    }

    fn append_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        at: u64,
        chunk: &[u8],
    ) -> Result<(), FilesError> {
        let path = self.path(project, build, TRACE);
        let append = || {
            make_folders(&self.folders.folder_of(project))?;
            let options = || OpenOptions::new().write(true).mode(0o600).clone();
            let (mut file, new) = match options().open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    (options().create(true).truncate(false).open(&path)?, true)
                }
                file => (file?, false),
            };
            file.set_len(at)?;
            file.seek(SeekFrom::Start(at))?;
            file.write_all(chunk)?;
            file.sync_data()?;
            if new { self.folders.sync(project) } else { Ok(()) }
        };
        append().map_err(failed("written"))
    }

    fn replace_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        content: &[u8],
    ) -> Result<(), FilesError> {
        self.replace(&self.path(project, build, TRACE), content).map_err(failed("written"))
    }

    fn begin_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Box<dyn NewFile>, FilesError> {
        let path = self.path(project, build, ARTIFACTS);
        Ok(Box::new(Receiving::begin(&self.folders, &path).map_err(failed("begun"))?))
    }

    fn open_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredFile>, FilesError> {
        open(&self.path(project, build, ARTIFACTS)).map_err(failed("read"))
    }

    fn remove_trace(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError> {
        let path = self.path(project, build, TRACE);
        self.trash.remove_file(&path).map_err(failed("removed"))
    }

    fn remove_artifacts(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError> {
        let path = self.path(project, build, ARTIFACTS);
        self.trash.remove_file(&path).map_err(failed("removed"))
    }
}

/// A file that is being written under a temporary name.
struct Receiving {
    folders: ProjectFolders,
    file: File,
    beside: PathBuf,
    path: PathBuf,
}

impl Receiving {
    fn begin(folders: &ProjectFolders, path: &Path) -> io::Result<Self> {
        let folder = folders.receiving();
        make_folders(&folder)?;
        let beside = folder.join(random_name());
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        Ok(Self { folders: folders.clone(), file, beside, path: path.to_owned() })
    }

    /// Syncs the file, renames it, then syncs the directories, so that a crash leaves no incomplete file.
    fn place(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let folder = self.path.parent().unwrap_or(&self.path);
        make_folders(folder)?;
        fs::rename(&self.beside, &self.path)?;
        project_folders::sync_up_to(folder, self.folders.root())
    }
}

impl NewFile for Receiving {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        self.file.write_all(chunk).map_err(failed("written"))
    }

    fn finish(mut self: Box<Self>) -> Result<(), FilesError> {
        self.place().map_err(failed("finished"))
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        // After the rename there is no file under the temporary name.
        let _ = fs::remove_file(&self.beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexforge_domain_testing::build_files_contract::CASES;

    #[test]
    fn files_on_disk_keep_the_contract() {
        for case in CASES {
            let folder = tempfile::tempdir().expect("a folder for temporary files exists");
            let trash = Arc::new(Trash::new(folder.path()));
            case(&FsBuildFiles::new(folder.path(), trash));
        }
    }
}
