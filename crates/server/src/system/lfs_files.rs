//! LFS objects on disk: `lfs/<network>/<2 hex>/<oid>`. No path contains text from a request.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hexforge_domain::id::{self, ForkNetworkId};
use hexforge_domain::lfs::LfsOid;
use hexforge_domain::lfs::reservation::LfsReservations;
use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::lfs_files::{LfsFiles, NewLfsFile};
use hexforge_domain::ports::uploads::StoredFile;
use sha2::{Digest, Sha256};

use super::project_folders::{RECEIVING, entries, remove_interrupted, subfolders, sync_up_to};
use super::trash::Trash;
use super::{make_folders, random_name};

/// Stores LFS objects below a data folder.
pub struct FsLfsFiles {
    root: PathBuf,
    trash: Arc<Trash>,
    reservations: LfsReservations,
}

impl FsLfsFiles {
    /// The name of the root directory in a data folder.
    pub(crate) const ROOT: &str = "lfs";

    /// Creates the store. No directory is created before the first file.
    pub fn new(data_dir: &Path, trash: Arc<Trash>) -> Self {
        Self { root: data_dir.join(Self::ROOT), trash, reservations: LfsReservations::default() }
    }

    /// Lists the objects in a data folder, each with its path.
    pub(crate) fn objects(data_dir: &Path) -> io::Result<Vec<(ForkNetworkId, LfsOid, PathBuf)>> {
        let mut found = Vec::new();
        for_each::<io::Error>(&data_dir.join(Self::ROOT), &mut |network, oid, path| {
            found.push((network, oid, path));
            Ok(())
        })?;
        Ok(found)
    }

    /// The path of an object, relative to the data folder.
    pub(crate) fn path_in_data(network: ForkNetworkId, oid: LfsOid) -> PathBuf {
        path(Path::new(Self::ROOT), network, oid)
    }
}

/// The directory of a network.
fn folder(root: &Path, network: ForkNetworkId) -> PathBuf {
    root.join(network.to_string())
}

fn path(root: &Path, network: ForkNetworkId, oid: LfsOid) -> PathBuf {
    let name = oid.to_string();
    folder(root, network).join(&name[..2]).join(name)
}

/// Visits each object below the root, with its path. Reads one directory at a time.
fn for_each<E: From<io::Error>>(
    root: &Path,
    visit: &mut dyn FnMut(ForkNetworkId, LfsOid, PathBuf) -> Result<(), E>,
) -> Result<(), E> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    for folder in entries(root)? {
        // The other folder is that of unfinished files.
        let network = name(&folder).and_then(|name| id::parse(&name)).map(ForkNetworkId);
        let Some(network) = network else { continue };
        for inner in subfolders(&folder)? {
            for path in entries(&inner)? {
                if let Some(oid) = name(&path).and_then(|name| LfsOid::parse(&name)) {
                    visit(network, oid, path)?;
                }
            }
        }
    }
    Ok(())
}

/// The size of a file; `None` if it does not exist.
fn size(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?.len())),
    }
}

/// Why a visit of all objects ended early.
enum VisitError {
    /// A directory cannot be read.
    Io(io::Error),
    /// The visitor failed.
    Visitor(FilesError),
}

impl From<io::Error> for VisitError {
    fn from(error: io::Error) -> Self {
        VisitError::Io(error)
    }
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> FilesError {
    move |error| FilesError(format!("an LFS object could not be {what}"), Box::new(error))
}

fn open(path: &Path, from: u64) -> io::Result<Option<StoredFile>> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => {
            let mut file = file?;
            file.seek(SeekFrom::Start(from))?;
            Ok(Some(StoredFile { size: file.metadata()?.len(), content: Box::new(file) }))
        }
    }
}

impl LfsFiles for FsLfsFiles {
    fn begin(
        &self,
        network: ForkNetworkId,
        oid: LfsOid,
    ) -> Result<Box<dyn NewLfsFile>, FilesError> {
        let path = path(&self.root, network, oid);
        Ok(Box::new(Receiving::begin(&self.root, path).map_err(failed("begun"))?))
    }

    fn reservations(&self) -> &LfsReservations {
        &self.reservations
    }

    fn sizes(
        &self,
        network: ForkNetworkId,
        oids: &[LfsOid],
    ) -> Result<Vec<Option<u64>>, FilesError> {
        let sizes = oids.iter().map(|oid| size(&path(&self.root, network, *oid)));
        sizes.collect::<io::Result<_>>().map_err(failed("looked for"))
    }

    fn for_each(
        &self,
        visit: &mut dyn FnMut(ForkNetworkId, LfsOid) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        for_each(&self.root, &mut |network, oid, _| {
            visit(network, oid).map_err(VisitError::Visitor)
        })
        .map_err(|error| match error {
            VisitError::Io(error) => failed("listed")(error),
            VisitError::Visitor(error) => error,
        })
    }

    fn open(
        &self,
        network: ForkNetworkId,
        oid: LfsOid,
        from: u64,
    ) -> Result<Option<StoredFile>, FilesError> {
        open(&path(&self.root, network, oid), from).map_err(failed("read"))
    }

    fn remove(&self, network: ForkNetworkId, oid: LfsOid) -> Result<(), FilesError> {
        self.trash.remove_file(&path(&self.root, network, oid)).map_err(failed("removed"))
    }

    fn remove_network(&self, network: ForkNetworkId) -> Result<(), FilesError> {
        self.trash.take(&folder(&self.root, network)).map_err(failed("removed"))
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        remove_interrupted(&self.root.join(RECEIVING)).map_err(failed("removed"))
    }
}

/// An object that is being written under a temporary name.
struct Receiving {
    root: PathBuf,
    file: File,
    digest: Sha256,
    beside: PathBuf,
    path: PathBuf,
}

impl Receiving {
    fn begin(root: &Path, path: PathBuf) -> io::Result<Self> {
        let folder = root.join(RECEIVING);
        make_folders(&folder)?;
        let beside = folder.join(random_name());
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        Ok(Self { root: root.to_owned(), file, digest: Sha256::new(), beside, path })
    }

    /// Renames the file, then syncs the directories, so that a crash leaves no incomplete file.
    fn place(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        make_folders(folder)?;
        fs::rename(&self.beside, &self.path)?;
        sync_up_to(folder, &self.root)
    }
}

impl NewLfsFile for Receiving {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        self.digest.update(chunk);
        self.file.write_all(chunk).map_err(failed("written"))
    }

    fn seal(&mut self) -> Result<LfsOid, FilesError> {
        self.file.sync_all().map_err(failed("written"))?;
        Ok(LfsOid::from_bytes(self.digest.finalize_reset().into()))
    }

    fn finish(self: Box<Self>) -> Result<(), FilesError> {
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
    use crate::system::project_folders::INTERRUPTED;
    use hexforge_domain_testing::lfs_files_contract::CASES;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};
    use tempfile::TempDir;

    fn fresh() -> (TempDir, FsLfsFiles) {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let files = FsLfsFiles::new(folder.path(), Arc::new(Trash::new(folder.path())));
        (folder, files)
    }

    #[test]
    fn files_on_disk_keep_the_contract() {
        for case in CASES {
            let (_folder, files) = fresh();
            case(&files);
        }
    }

    #[test]
    fn interrupted_uploads_are_removed_and_running_ones_are_kept() {
        let (folder, files) = fresh();
        let (network, oid) = (ForkNetworkId(5), LfsOid::from_bytes([0xab; 32]));
        let mut running = files.begin(network, oid).expect("an upload can be begun");
        running.append(b"x").expect("it can be added to");
        let old = folder.path().join("lfs/receiving/old");
        fs::write(&old, b"x").expect("a file can be written");
        let yesterday = SystemTime::now() - INTERRUPTED - Duration::from_secs(60);
        File::options()
            .write(true)
            .open(&old)
            .and_then(|file| file.set_modified(yesterday))
            .expect("times can be set");
        files.remove_leftovers().expect("it can be tidied");
        assert!(!old.exists());
        running.seal().expect("it can be sealed");
        running.finish().expect("it was left alone");
        let path = folder.path().join("lfs/5/ab").join("ab".repeat(32));
        let mode = |path: &Path| fs::metadata(path).expect("made").permissions().mode() & 0o777;
        assert_eq!(fs::read(&path).expect("made"), b"x");
        assert_eq!((mode(&path), mode(&folder.path().join("lfs/5"))), (0o600, 0o700));
        let left = fs::read_dir(folder.path().join("lfs/receiving")).expect("made").count();
        assert_eq!(left, 0);
    }
}
