//! A pack store in a local folder.

use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use hexforge_domain::Timestamp;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::files::is_no_room;
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use quick_cache::sync::Cache;

use crate::digest::name_of;

/// The maximum number of packs that are remembered as verified.
const CHECKED: usize = 100_000;

/// Stores packs as `<first two hex digits>/<name>.pack`, each with its index beside it.
///
/// Each process verifies the SHA-256 of a pack when it uses the pack for the first time.
pub struct FolderPacks {
    folder: PathBuf,
    checked: Cache<PackName, ()>,
    /// Whether the SHA-256 of packs is verified.
    is_thorough: bool,
    /// Folders that were synced by this process, together with their parents.
    synced: Mutex<HashSet<PathBuf>>,
}

impl FolderPacks {
    /// The packs in a folder, which is created with the first pack.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let (folder, checked) = (folder.into(), Cache::new(CHECKED));
        Self { folder, checked, is_thorough: true, synced: Mutex::default() }
    }

    /// Like [`FolderPacks::new`], but checks only the size of packs, not their SHA-256. For read-only inspection.
    pub fn glancing(folder: impl Into<PathBuf>) -> Self {
        Self { is_thorough: false, ..Self::new(folder) }
    }

    /// The path of a pack, whether it is stored or not.
    pub fn path(&self, name: PackName) -> PathBuf {
        let name = name.to_string();
        self.folder.join(&name[..2]).join(format!("{name}.pack"))
    }

    /// Hard-links a file, and replaces an existing file at `to`.
    fn link(from: &Path, to: &Path) -> io::Result<()> {
        match fs::hard_link(from, to) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
            linked => return linked,
        }
        let shelf = to.parent().unwrap_or(Path::new("."));
        let beside = tempfile::tempdir_in(shelf)?;
        let new = beside.path().join("new");
        fs::hard_link(from, &new)?;
        fs::rename(&new, to)
    }

    fn store(&self, name: PackName, data: &Path, index: &Path) -> io::Result<()> {
        let path = self.path(name);
        let shelf = path.parent().unwrap_or(&self.folder);
        self.make_shelf(shelf)?;
        if self.is_there(name, &path)? {
            return Ok(());
        }
        for (from, to) in [(data, path.clone()), (index, path.with_extension("idx"))] {
            fs::set_permissions(from, Permissions::from_mode(0o444))?;
            let file = File::open(from)?;
            // The source may be an old file of an earlier release. The removal of unused packs goes by the time at
            // which a pack was stored.
            file.set_modified(SystemTime::now())?;
            file.sync_all()?;
            match Self::link(from, &to) {
                // The source is on another file system, or the file has too many links.
                Err(error) if error.kind() != ErrorKind::NotFound && !is_no_room(&error) => {
                    copy(from, &to)?;
                }
                linked => linked?,
            }
        }
        File::open(shelf)?.sync_all()
    }

    /// Returns whether a pack is stored and undamaged. If so, its time is set to now. Its file is not replaced, because
    /// repositories have hard links to it.
    fn is_there(&self, name: PackName, path: &Path) -> io::Result<bool> {
        let index = path.with_extension("idx");
        if !path.try_exists()? || !index.try_exists()? || name_of(path)?.0 != name {
            return Ok(false);
        }
        for file in [path, &index] {
            let file = File::open(file)?;
            file.set_modified(SystemTime::now())?;
            file.sync_all()?;
        }
        Ok(true)
    }

    /// Creates the folder of a pack, synced. Each process syncs the parent folders once, because another process may
    /// have created them without syncing them yet.
    fn make_shelf(&self, shelf: &Path) -> io::Result<()> {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if synced.contains(shelf) && shelf.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(shelf)?;
        for above in shelf.ancestors().skip(1).take(2) {
            File::open(above)?.sync_all()?;
        }
        synced.insert(shelf.to_owned());
        Ok(())
    }

    fn check(&self, pack: &Pack, path: &Path) -> Result<(), PackError> {
        let length = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(PackError::Missing(pack.name));
            }
            found => found.map_err(failed)?.len(),
        };
        if length != pack.bytes {
            let reason = format!("it has {length} bytes instead of {}", pack.bytes);
            return Err(PackError::Damaged(pack.name, reason));
        }
        if !self.is_thorough || self.checked.get(&pack.name).is_some() {
            return Ok(());
        }
        let (found, _) = name_of(path).map_err(failed)?;
        if found != pack.name {
            return Err(PackError::Damaged(pack.name, format!("its SHA-256 is {found}")));
        }
        self.checked.insert(pack.name, ());
        Ok(())
    }
}

impl PackStore for FolderPacks {
    fn put(&self, data: &Path, index: &Path, objects: u64) -> Result<Pack, PackError> {
        let (name, bytes) = name_of(data).map_err(failed)?;
        self.store(name, data, index).map_err(failed)?;
        self.checked.insert(name, ());
        Ok(Pack { name, bytes, objects })
    }

    fn local(&self, pack: &Pack) -> Result<PathBuf, PackError> {
        let path = self.path(pack.name);
        self.check(pack, &path)?;
        Ok(path)
    }

    fn stored_since(&self, name: PackName) -> Result<Option<Timestamp>, PackError> {
        let path = self.path(name);
        if !path.with_extension("idx").try_exists().map_err(failed)? {
            return Ok(None);
        }
        match fs::metadata(path).and_then(|found| found.modified()) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            changed => Ok(Some(changed.map_err(failed)?.into())),
        }
    }

    fn each(
        &self,
        visit: &mut dyn FnMut(PackName, Timestamp) -> Result<(), PackError>,
    ) -> Result<(), PackError> {
        for shelf in entries(&self.folder).map_err(failed)? {
            for file in entries(&shelf).map_err(failed)? {
                if file.extension().is_none_or(|extension| extension != "pack") {
                    continue;
                }
                let name = file.file_stem().and_then(|stem| PackName::parse(stem.to_str()?));
                let changed = fs::metadata(&file).and_then(|found| found.modified());
                // The file may have been removed meanwhile.
                if let (Some(name), Ok(changed)) = (name, changed) {
                    visit(name, changed.into())?;
                }
            }
        }
        Ok(())
    }

    fn remove(&self, name: PackName) -> Result<(), PackError> {
        self.checked.remove(&name);
        let path = self.path(name);
        for file in [path.with_extension("idx"), path] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
                Ok(()) | Err(_) => (),
            }
        }
        Ok(())
    }
}

fn failed(error: io::Error) -> PackError {
    if is_no_room(&error) {
        PackError::Full(error.to_string())
    } else {
        PackError::Failed(error.to_string())
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let shelf = to.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(shelf)?;
    io::copy(&mut File::open(from)?, &mut new)?;
    new.as_file().set_permissions(Permissions::from_mode(0o444))?;
    new.as_file().sync_all()?;
    new.persist(to)?;
    Ok(())
}

/// The entries of a folder; empty when it does not exist.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
            Ok(vec![])
        }
        entries => entries?.map(|entry| entry.map(|entry| entry.path())).collect(),
    }
}
