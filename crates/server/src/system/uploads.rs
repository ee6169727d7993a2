//! Uploaded files on disk: `uploads/<2 hex>/<2 hex>/<project id>/<secret>/` contains the file as
//! `content` and its name in `name`. No path contains text from a request.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::uploads::{NewFile, StoredFile, Uploads};
use hexforge_domain::project::upload::UploadKey;

use super::project_folders::{ProjectFolders, sync_up_to};
use super::trash::Trash;
use super::{make_folders, random_name};

/// Stores uploaded files below a data folder.
pub struct FsUploads {
    folders: ProjectFolders,
    trash: Arc<Trash>,
}

impl FsUploads {
    /// The name of the file with the content.
    pub(crate) const CONTENT: &str = "content";
    /// The name of the file with the original file name.
    pub(crate) const NAME: &str = "name";
    /// The name of the root directory in a data folder.
    pub(crate) const ROOT: &str = "uploads";

    /// Lists the projects that have uploaded files in a data folder, each with its directory.
    pub(crate) fn folders(data_dir: &Path) -> io::Result<Vec<(ProjectId, PathBuf)>> {
        ProjectFolders::new(data_dir.join(Self::ROOT)).folders()
    }

    /// The directory of an uploaded file, relative to the data folder.
    pub(crate) fn folder_of(key: &UploadKey) -> PathBuf {
        let folders = ProjectFolders::new(Self::ROOT.into());
        folders.folder_of(key.project).join(key.secret.as_str())
    }

    /// Creates the store. No directory is created before the first file.
    pub fn new(data_dir: &Path, trash: Arc<Trash>) -> Self {
        Self { folders: ProjectFolders::new(data_dir.join(Self::ROOT)), trash }
    }
}

impl ProjectFiles for FsUploads {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        self.folders.projects().map_err(|error| failed("listed", error))
    }

    fn remove_project(&self, project: ProjectId) {
        if let Err(error) = self.trash.take(&self.folders.folder_of(project)) {
            tracing::warn!(%project, %error, "uploads stay on disk until the next start");
        }
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        self.trash.empty().map_err(|error| failed("removed", error))?;
        self.folders.remove_interrupted().map_err(|error| failed("removed", error))
    }
}

impl Uploads for FsUploads {
    fn begin(&self, key: &UploadKey) -> Result<Box<dyn NewFile>, FilesError> {
        let begun = Receiving::begin(self, key).map_err(|error| failed("begun", error))?;
        Ok(Box::new(begun))
    }

    fn open(&self, key: &UploadKey) -> Result<Option<StoredFile>, FilesError> {
        match open(&self.folders.folder_of(key.project), key) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            outcome => outcome.map_err(|error| failed("read", error)),
        }
    }
}

fn open(project: &Path, key: &UploadKey) -> io::Result<Option<StoredFile>> {
    let folder = project.join(key.secret.as_str());
    if fs::read(folder.join(FsUploads::NAME))? != key.name.as_str().as_bytes() {
        return Ok(None);
    }
    let content = File::open(folder.join(FsUploads::CONTENT))?;
    Ok(Some(StoredFile { size: content.metadata()?.len(), content: Box::new(content) }))
}

/// An upload that is being written in a temporary directory, which is renamed once everything is on disk.
struct Receiving {
    folder: PathBuf,
    content: File,
    name: String,
    project: PathBuf,
    secret: String,
    root: PathBuf,
    trash: Arc<Trash>,
}

impl Receiving {
    fn begin(uploads: &FsUploads, key: &UploadKey) -> io::Result<Self> {
        let receiving = uploads.folders.receiving();
        make_folders(&receiving)?;
        let folder = receiving.join(random_name());
        DirBuilder::new().mode(0o700).create(&folder)?;
        let content = new_file(&folder.join(FsUploads::CONTENT)).inspect_err(|_| {
            let _ = fs::remove_dir_all(&folder);
        })?;
        Ok(Self {
            folder,
            content,
            name: key.name.as_str().to_owned(),
            project: uploads.folders.folder_of(key.project),
            secret: key.secret.as_str().to_owned(),
            root: uploads.folders.root().to_owned(),
            trash: Arc::clone(&uploads.trash),
        })
    }

    /// Syncs the files, renames the directory, then syncs the parents, so that a crash leaves no incomplete upload.
    fn place(&mut self) -> io::Result<()> {
        self.content.sync_all()?;
        let mut name = new_file(&self.folder.join(FsUploads::NAME))?;
        name.write_all(self.name.as_bytes())?;
        name.sync_all()?;
        sync_folder(&self.folder)?;
        make_folders(&self.project)?;
        fs::rename(&self.folder, self.project.join(&self.secret))?;
        sync_up_to(&self.project, &self.root)
    }
}

impl NewFile for Receiving {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        self.content.write_all(chunk).map_err(|error| failed("written", error))
    }

    fn finish(mut self: Box<Self>) -> Result<(), FilesError> {
        self.place().map_err(|error| failed("finished", error))
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        // After the rename there is nothing under the temporary name. Before it, the file may be
        // large, so the trash deletes it.
        if let Err(error) = self.trash.take(&self.folder) {
            tracing::warn!(%error, "an unfinished upload stays on disk until a later start");
        }
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn failed(what: &str, error: io::Error) -> FilesError {
    FilesError(format!("an uploaded file could not be {what}"), Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::project_folders::INTERRUPTED;
    use hexforge_domain::project::upload::{UploadName, UploadSecret};
    use hexforge_domain_testing::uploads_contract::CASES;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};
    use tempfile::TempDir;

    fn fresh() -> (TempDir, FsUploads) {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let uploads = FsUploads::new(folder.path(), Arc::new(Trash::new(folder.path())));
        (folder, uploads)
    }

    fn a_place() -> UploadKey {
        UploadKey {
            project: ProjectId(0x1234),
            secret: UploadSecret::new([0xab; 16]),
            name: UploadName::from_client("a.txt"),
        }
    }

    #[test]
    fn files_on_disk_keep_the_contract() {
        for case in CASES {
            let (_folder, uploads) = fresh();
            case(&uploads);
        }
    }

    #[test]
    fn paths_are_made_of_ids_and_random_names_and_others_cannot_read_them() {
        let (folder, uploads) = fresh();
        let mut file = uploads.begin(&a_place()).expect("a file can be begun");
        file.append(b"x").expect("a file can be added to");
        file.finish().expect("a file can be finished");
        let path = folder.path().join("uploads/34/12/4660").join("ab".repeat(16));
        let mode = |path: &Path| fs::metadata(path).expect("made").permissions().mode() & 0o777;
        assert_eq!(fs::read(path.join("content")).expect("made"), b"x");
        assert_eq!((mode(&path), mode(&path.join("content"))), (0o700, 0o600));
        assert_eq!(mode(&folder.path().join("uploads")), 0o700);
    }

    #[test]
    fn a_start_removes_what_was_interrupted_and_nothing_that_may_be_under_way() {
        let (folder, uploads) = fresh();
        let under_way = uploads.begin(&a_place()).expect("a file can be begun");
        let old = folder.path().join("uploads/receiving/old");
        let trashed = folder.path().join("trash/half/removed");
        for path in [&old, &trashed] {
            fs::create_dir_all(path).expect("a folder can be made");
            fs::write(path.join("x"), b"x").expect("a file can be written");
        }
        let yesterday = SystemTime::now() - INTERRUPTED - Duration::from_secs(60);
        let opened = File::open(&old).expect("made");
        opened.set_modified(yesterday).expect("times can be set");
        uploads.remove_leftovers().expect("it can be tidied");
        assert!(!old.exists() && !trashed.exists());
        under_way.finish().expect("it was left alone");
        assert!(uploads.open(&a_place()).expect("readable").is_some());
    }
}
