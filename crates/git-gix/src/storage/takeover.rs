//! Stores the objects of repositories that git or an earlier release wrote.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::odb::pack;
use gix::progress::Discard;
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::git::GitError;

use crate::error::{failed, io_failed};
use crate::storage::open::open_folder;
use crate::storage::pack_file::PackWriter;
use crate::storage::store::GixStore;

impl GixStore {
    /// Stores all packs and loose objects of the repository in a folder, including its alternates, durably (synced).
    /// The source files stay in place; pack files become read-only.
    /// # Errors
    /// [`GitError::Corrupt`] when a pack is damaged.
    pub fn take_over(&self, folder: &Path) -> Result<Vec<Pack>, GitError> {
        let own = folder.join("objects");
        let here = std::env::current_dir().map_err(io_failed)?;
        let borrowed = gix::odb::alternate::resolve(own.clone(), &here).map_err(failed)?;
        let (mut packs, mut loose) = (Vec::new(), Vec::new());
        for objects in [own].into_iter().chain(borrowed) {
            for file in entries(&objects.join("pack"))? {
                if file.extension() != Some(OsStr::new("pack")) {
                    continue;
                }
                // An interrupted push or merge of an earlier release left a pack without index; git ignores it.
                if !file.with_extension("idx").try_exists().map_err(io_failed)? {
                    tracing::warn!(file = %file.display(), "a pack without an index is skipped");
                    continue;
                }
                packs.push(self.take_over_pack(&file)?);
            }
            loose.extend(loose_objects(&objects)?);
        }
        loose.sort_unstable();
        loose.dedup();
        if !loose.is_empty() {
            packs.push(self.pack_loose(folder, &loose)?);
        }
        Ok(packs)
    }

    fn take_over_pack(&self, file: &Path) -> Result<Pack, GitError> {
        let broken = |why: String| GitError::Corrupt(format!("the pack {}: {why}", file.display()));
        let index = file.with_extension("idx");
        let kind = gix::hash::Kind::Sha1;
        let opened = pack::index::File::at(&index, kind).map_err(|error| broken(error.to_string()));
        let opened = opened?;
        let data = pack::data::File::at(file, kind).map_err(|error| broken(error.to_string()))?;
        let interrupted = AtomicBool::new(false);
        let found = data
            .verify_checksum(&mut Discard, &interrupted)
            .map_err(|error| broken(error.to_string()))?;
        if found != opened.pack_checksum() {
            return Err(broken("its index is of another pack".into()));
        }
        opened
            .verify_checksum(&mut Discard, &interrupted)
            .map_err(|error| broken(format!("its index is damaged: {error}")))?;
        self.shared().store_pack(file, &index, opened.num_objects() as usize)
    }

    /// Stores loose objects as one pack.
    fn pack_loose(&self, folder: &Path, objects: &[ObjectId]) -> Result<Pack, GitError> {
        let repo = open_folder(folder)?.to_thread_local();
        let scratch = self.shared().scratch()?;
        let count = u32::try_from(objects.len())
            .map_err(|_| GitError::Failed("more objects than a pack can have".into()))?;
        let mut writer = PackWriter::new(scratch.path(), count)?;
        for id in objects {
            let object = repo.find_object(*id).map_err(failed)?;
            let found = gix::objs::compute_hash(id.kind(), object.kind, &object.data);
            if found.map_err(failed)? != *id {
                return Err(GitError::Corrupt(format!(
                    "the loose object {id} has another hash than its name"
                )));
            }
            writer.put_object(*id, object.kind, &object.data)?;
        }
        let files = writer.finish()?;
        self.shared().store_pack(&files.data, &files.index, files.objects)
    }
}

/// The ids of the loose objects in an object folder.
fn loose_objects(objects: &Path) -> Result<Vec<ObjectId>, GitError> {
    let mut found = Vec::new();
    for folder in entries(objects)?.into_iter().filter(|folder| file_name(folder).len() == 2) {
        let name = file_name(&folder);
        let id =
            |file: PathBuf| ObjectId::from_hex(format!("{name}{}", file_name(&file)).as_bytes());
        found.extend(entries(&folder)?.into_iter().filter_map(|file| id(file).ok()));
    }
    Ok(found)
}

/// The entries of a folder; empty when it does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, GitError> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(vec![]),
        entries => {
            let paths = entries.map_err(io_failed)?.map(|entry| entry.map(|entry| entry.path()));
            paths.collect::<Result<_, _>>().map_err(io_failed)
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
