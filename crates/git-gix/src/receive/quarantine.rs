//! Where the objects of a push are until it is taken: a repository of their own that sees those of the real one.

use std::fs::{self, File};
use std::io::Read;

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitError;
use tempfile::TempDir;

use crate::durable::sync_file;
use crate::error::io as disk;
use crate::intake::{self, Bounds, NewObjects, SizeLimit, Taken, Unfit};
use crate::limits::{PushLimits, Stop, Stopped};
use crate::store::{
    OpenRepository, Shared, init_for_objects, open_folder, put_synced_pack, size_of_packs,
};

/// New objects.
pub(super) struct Quarantine {
    #[expect(dead_code, reason = "the folder goes when this is dropped")]
    folder: TempDir,
    /// The pack and its index, if there are any objects.
    files: Option<Taken>,
    /// Sees the new objects and those that were there before.
    pub(super) view: gix::Repository,
    pub(super) bounds: Bounds,
    /// Bytes of all packs of the repository.
    repository_bytes: u64,
}

/// Why objects were not taken in; the text is for the client.
pub(super) enum Refused {
    /// They are not right.
    Bad(String),
    /// The time was over, or the client hung up.
    Stopped(Stopped),
    /// Something is wrong here.
    Failed(GitError),
}

impl From<GitError> for Refused {
    fn from(error: GitError) -> Self {
        Refused::Failed(error)
    }
}

impl Quarantine {
    /// Takes in a pack, whose objects may be based on others that are there.
    pub(super) fn fill(
        shared: &Shared,
        (project, caller): (ProjectId, Caller),
        from: &mut dyn Read,
        stop: &Stop,
    ) -> Result<Self, Refused> {
        let folder = shared.scratch()?;
        init_for_objects(folder.path())?;
        let objects = shared.layout.repository(project).join("objects");
        let mut stored = 0;
        if objects.is_dir() {
            stored = size_of_packs(&objects.join("pack"))?;
            let objects = fs::canonicalize(objects).map_err(disk)?;
            let line = format!("{}\n", objects.display());
            fs::write(folder.path().join("objects/info/alternates"), line).map_err(disk)?;
        }
        let view = open_folder(folder.path())?.to_thread_local();
        let limits = &shared.limits;
        let bounds = Bounds::new(
            stop.clone(),
            pack_limit(limits, stored),
            limits.object_bytes,
            shared.memory.share(caller),
        );
        let files = index(&view, &folder, from, &bounds)?;
        Ok(Self { folder, files, view, bounds, repository_bytes: limits.repository_bytes })
    }

    /// The new objects, if there are any.
    pub(super) fn objects(&self) -> Option<&NewObjects> {
        self.files.as_ref().map(|files| &files.objects)
    }

    /// Makes the objects part of a repository, on disk.
    /// # Errors
    /// [`GitError::TooLarge`] when others filled the repository meanwhile.
    pub(super) fn release(&mut self, open: &OpenRepository) -> Result<(), GitError> {
        let Some(Taken { data, index, .. }) = self.files.take() else { return Ok(()) };
        let packs = open.git_dir().join("objects").join("pack");
        fs::create_dir_all(&packs).map_err(disk)?;
        for file in [&data, &index] {
            sync_file(file)?;
        }
        // Two pushes must not both take the last room. The lock goes with the file.
        let lock = File::create(open.git_dir().join("size.lock")).map_err(disk)?;
        lock.lock().map_err(disk)?;
        let new = fs::metadata(&data).map_err(disk)?.len();
        if size_of_packs(&packs)?.saturating_add(new) > self.repository_bytes {
            return Err(GitError::TooLarge);
        }
        put_synced_pack(&data, &index, &packs)
    }
}

/// The bytes of a pack without objects: a push to a full repository may still name what is there.
const EMPTY_PACK: u64 = 32;

/// How many bytes a pack may have, and what to tell whoever sends more.
fn pack_limit(limits: &PushLimits, stored: u64) -> SizeLimit {
    let left = limits.repository_bytes.saturating_sub(stored);
    if left < limits.push_bytes {
        let bytes = left.max(EMPTY_PACK);
        SizeLimit { bytes, refusal: repository_full(limits.repository_bytes) }
    } else {
        let most = limits.push_bytes >> 20;
        let refusal = format!("the push is larger than the limit of {most} MiB");
        SizeLimit { bytes: limits.push_bytes, refusal }
    }
}

/// What a client is told whose push does not fit into the repository.
pub(super) fn repository_full(bytes: u64) -> String {
    format!("the repository would be larger than the limit of {} MiB", bytes >> 20)
}

fn index(
    view: &gix::Repository,
    folder: &TempDir,
    from: &mut dyn Read,
    bounds: &Bounds,
) -> Result<Option<Taken>, Refused> {
    let packs = folder.path().join("objects").join("pack");
    intake::take_in(from, &packs, Some(view), bounds).map_err(|unfit| match unfit {
        Unfit::Bad(what) => {
            tracing::info!(what, "a pushed pack is not valid");
            Refused::Bad(format!("the pack is not valid: it {what}"))
        }
        Unfit::TooMuch(text) => {
            tracing::info!(text, "a push is too large");
            Refused::Bad(text)
        }
        Unfit::Cut(error) => Refused::Bad(error.to_string()),
        Unfit::Busy => Refused::Failed(GitError::Busy),
        Unfit::Stopped(stopped) => Refused::Stopped(stopped),
        Unfit::Failed(error) => Refused::Failed(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_fits_into_the_push_and_the_repository() {
        let limits = PushLimits {
            push_bytes: 10 << 20,
            repository_bytes: 100 << 20,
            ..PushLimits::default()
        };
        for (stored, left, text) in [
            (0, 10 << 20, "the push is larger than the limit of 10 MiB"),
            (90 << 20, 10 << 20, "the push is larger than the limit of 10 MiB"),
            (99 << 20, 1 << 20, "the repository would be larger than the limit of 100 MiB"),
            (101 << 20, EMPTY_PACK, "the repository would be larger than the limit of 100 MiB"),
        ] {
            let limit = pack_limit(&limits, stored);
            assert_eq!((limit.bytes, limit.refusal.as_str()), (left, text), "{stored}");
        }
    }
}
