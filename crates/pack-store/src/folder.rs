//! A pack store in a local folder.

use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use hexforge_domain::Timestamp;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::files::is_storage_full;
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use quick_cache::sync::Cache;

use crate::digest::hash_pack;

/// The maximum number of packs that are remembered as verified.
const MAX_VERIFIED: usize = 100_000;

/// The extension of summaries.
const SUMMARY: &str = "summary";

/// Stores packs as `<first two hex digits>/<name>.pack`, each with its index and its summary beside it.
///
/// Each process verifies the SHA-256 of a pack when it uses the pack for the first time.
pub struct FolderPacks {
    folder: PathBuf,
    verified: Cache<PackName, ()>,
    /// True if the SHA-256 of packs is verified, false if only their size is.
    verifies_digests: bool,
    /// Folders that were synced by this process, together with their parents.
    synced: Mutex<HashSet<PathBuf>>,
}

impl FolderPacks {
    /// The number of bytes that are read of a summary at most.
    pub const MAX_SUMMARY: u64 = 8 << 20;

    /// Creates a store on a folder. The folder is created when the first pack is stored.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let (folder, verified) = (folder.into(), Cache::new(MAX_VERIFIED));
        Self { folder, verified, verifies_digests: true, synced: Mutex::default() }
    }

    /// Like [`FolderPacks::new`], but checks only the size of packs, not their SHA-256. For read-only inspection.
    pub fn with_size_check_only(folder: impl Into<PathBuf>) -> Self {
        Self { verifies_digests: false, ..Self::new(folder) }
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
        let subfolder = to.parent().unwrap_or(Path::new("."));
        let beside = tempfile::tempdir_in(subfolder)?;
        let new = beside.path().join("new");
        fs::hard_link(from, &new)?;
        fs::rename(&new, to)
    }

    /// Links or copies a pack and its index into the store, unless both are stored and intact already.
    fn store_files(&self, name: PackName, data: &Path, index: &Path) -> io::Result<()> {
        let path = self.path(name);
        let subfolder = path.parent().unwrap_or(&self.folder);
        self.create_subfolder(subfolder)?;
        if self.refresh_if_intact(name, &path)? {
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
                // A hard link fails if the source is on another file system or has too many links. A copy works then.
                Err(error) if error.kind() != ErrorKind::NotFound && !is_storage_full(&error) => {
                    copy(from, &to)?;
                }
                linked => linked?,
            }
        }
        File::open(subfolder)?.sync_all()
    }

    /// Returns whether a pack is stored and undamaged. If so, its time is set to now. Its file is not replaced, because
    /// repositories have hard links to it.
    fn refresh_if_intact(&self, name: PackName, path: &Path) -> io::Result<bool> {
        let index = path.with_extension("idx");
        if !path.try_exists()? || !index.try_exists()? || hash_pack(path)?.0 != name {
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
    fn create_subfolder(&self, subfolder: &Path) -> io::Result<()> {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if synced.contains(subfolder) && subfolder.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(subfolder)?;
        for parent in subfolder.ancestors().skip(1).take(2) {
            File::open(parent)?.sync_all()?;
        }
        synced.insert(subfolder.to_owned());
        Ok(())
    }

    /// Verifies the size of a pack, and its SHA-256 unless this process has verified it before.
    fn verify(&self, pack: &Pack, path: &Path) -> Result<(), PackError> {
        let length = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(PackError::Missing(pack.name));
            }
            found => found?.len(),
        };
        if length != pack.bytes {
            let reason = format!("it has {length} bytes instead of {}", pack.bytes);
            return Err(PackError::Damaged(pack.name, reason));
        }
        if !self.verifies_digests || self.verified.get(&pack.name).is_some() {
            return Ok(());
        }
        let (found, _) = hash_pack(path)?;
        if found != pack.name {
            return Err(PackError::Damaged(pack.name, format!("its SHA-256 is {found}")));
        }
        self.verified.insert(pack.name, ());
        Ok(())
    }
}

impl PackStore for FolderPacks {
    fn put(&self, data: &Path, index: &Path, objects: u64) -> Result<Pack, PackError> {
        let (name, bytes) = hash_pack(data)?;
        self.store_files(name, data, index)?;
        self.verified.insert(name, ());
        Ok(Pack { name, bytes, objects })
    }

    fn local_path(&self, pack: &Pack) -> Result<PathBuf, PackError> {
        let path = self.path(pack.name);
        self.verify(pack, &path)?;
        Ok(path)
    }

    fn stored_at(&self, name: PackName) -> Result<Option<Timestamp>, PackError> {
        let path = self.path(name);
        if !path.with_extension("idx").try_exists()? {
            return Ok(None);
        }
        match fs::metadata(path).and_then(|found| found.modified()) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            changed => Ok(Some(changed?.into())),
        }
    }

    fn for_each_pack(
        &self,
        visit: &mut dyn FnMut(PackName, Timestamp) -> Result<(), PackError>,
    ) -> Result<(), PackError> {
        for subfolder in entries(&self.folder)? {
            for file in entries(&subfolder)? {
                let extension = file.extension().and_then(|extension| extension.to_str());
                let is_visited = match extension {
                    Some("pack") => true,
                    // A removal was interrupted.
                    Some(SUMMARY) => !file.with_extension("pack").try_exists()?,
                    Some(_) | None => false,
                };
                if !is_visited {
                    continue;
                }
                let name = file.file_stem().and_then(|stem| PackName::parse(stem.to_str()?));
                let changed = fs::symlink_metadata(&file).and_then(|found| found.modified());
                // The file may have been removed meanwhile.
                if let (Some(name), Ok(changed)) = (name, changed) {
                    visit(name, changed.into())?;
                }
            }
        }
        Ok(())
    }

    fn remove(&self, name: PackName) -> Result<(), PackError> {
        self.verified.remove(&name);
        let path = self.path(name);
        // The index goes first: without it the pack is not stored. The summary goes last: no other is stored once the
        // pack is gone.
        let summary = path.with_extension(SUMMARY);
        for file in [path.with_extension("idx"), path, summary] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error.into());
                }
                Ok(()) | Err(_) => (),
            }
        }
        Ok(())
    }

    fn put_summary(&self, name: PackName, summary: &[u8]) -> Result<(), PackError> {
        let path = self.path(name);
        if !path.try_exists()? {
            return Ok(());
        }
        let mut new = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(&self.folder))?;
        new.write_all(summary)?;
        let stored = path.with_extension(SUMMARY);
        new.persist(&stored).map_err(|error| error.error)?;
        // The pack may have been removed meanwhile; nothing would remove its summary then.
        if !path.try_exists()? {
            fs::remove_file(stored)?;
        }
        Ok(())
    }

    fn summary(&self, name: PackName) -> Result<Option<Vec<u8>>, PackError> {
        let path = self.path(name).with_extension(SUMMARY);
        let found = fs::symlink_metadata(&path).and_then(|found| {
            // Opening a FIFO would wait for a writer.
            let is_regular = found.is_file();
            if is_regular { File::open(path) } else { Err(io::Error::other("it is not a file")) }
        });
        let file = match found {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut summary = Vec::new();
        file.take(Self::MAX_SUMMARY).read_to_end(&mut summary)?;
        Ok(Some(summary))
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let subfolder = to.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(subfolder)?;
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
