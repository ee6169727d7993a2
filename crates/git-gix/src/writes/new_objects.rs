//! The objects of a new commit, which are written into one pack.

use std::collections::HashMap;

use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;
use crate::storage::pack_file::PackWriter;
use crate::storage::store::Shared;

/// New objects in memory.
#[derive(Default)]
pub(crate) struct NewObjects {
    /// The index of each object.
    known: HashMap<ObjectId, usize>,
    objects: Vec<(ObjectId, Kind, Vec<u8>)>,
}

impl NewObjects {
    /// Adds an object and returns its id.
    pub(crate) fn add(&mut self, kind: Kind, data: Vec<u8>) -> Result<ObjectId, GitError> {
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, &data).map_err(failed)?;
        if !self.known.contains_key(&id) {
            self.known.insert(id, self.objects.len());
            self.objects.push((id, kind, data));
        }
        Ok(id)
    }

    /// The data of a new object.
    pub(crate) fn data(&self, id: &ObjectId) -> Option<&[u8]> {
        self.known.get(id).map(|&at| self.objects[at].2.as_slice())
    }

    /// All objects in the order in which they were added.
    pub(crate) fn into_iter(self) -> impl Iterator<Item = (ObjectId, Kind, Vec<u8>)> {
        self.objects.into_iter()
    }

    /// Stores all objects in a new pack, synced to disk.
    pub(crate) fn store(self, shared: &Shared) -> Result<Pack, GitError> {
        let count = u32::try_from(self.objects.len()).map_err(|_| GitError::TooLarge)?;
        let scratch = shared.scratch()?;
        let mut writer = PackWriter::new(scratch.path(), count)?;
        for (id, kind, data) in &self.objects {
            writer.put_object(*id, *kind, data)?;
        }
        let files = writer.finish()?;
        shared.store_pack(&files.data, &files.index, files.objects)
    }
}
