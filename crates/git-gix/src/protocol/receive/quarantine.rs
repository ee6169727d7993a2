//! Holds the objects of a push until it is accepted: a repository of its own that also sees the
//! objects of the real one.

use std::io::Read;
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::git::GitError;

use crate::error::io_failed;
use crate::protocol::intake::{self, Bounds, IntakeError, NewObjects, ReceivedPack, SizeLimit};
use crate::protocol::limits::{PushLimits, StopReason, StopSignal};
use crate::storage::open::OpenRepository;
use crate::storage::pack_summary::PackSummary;
use crate::storage::repository::{GixRepository, RepositoryHandle};
use crate::storage::store::Shared;

/// The new objects of one push.
pub(super) struct Quarantine {
    staged: Arc<OpenRepository>,
    /// The pack and its index, if the push has objects.
    files: Option<ReceivedPack>,
    /// The summary of the pack, once it was checked.
    pub(super) summary: Option<PackSummary>,
    /// A view of the new objects and of the existing ones.
    pub(super) view: gix::Repository,
    pub(super) bounds: Bounds,
}

/// The reason why objects were refused; the text is for the client.
pub(super) enum QuarantineError {
    /// The objects are invalid.
    Invalid(String),
    /// The deadline passed, or the client disconnected.
    Stopped(StopReason),
    /// The server failed.
    Failed(GitError),
}

impl From<GitError> for QuarantineError {
    fn from(error: GitError) -> Self {
        QuarantineError::Failed(error)
    }
}

impl Quarantine {
    /// Reads a pack, whose deltas may be based on existing objects.
    pub(super) fn fill(
        repository: &GixRepository,
        from: &mut dyn Read,
        stop: &StopSignal,
    ) -> Result<Self, QuarantineError> {
        let shared = repository.shared();
        let base = repository.handle().map(RepositoryHandle::open);
        let staged = Arc::new(shared.stage(base, 1)?);
        let view = staged.handle();
        let limits = &shared.limits;
        let bounds = Bounds::new(
            stop.clone(),
            pack_limit(limits, repository.refs().bytes()),
            limits.object_bytes,
            shared.memory.share(repository.caller()),
        );
        let files = index_pack(&view, from, &bounds)?;
        Ok(Self { staged, files, summary: None, view, bounds })
    }

    /// The new objects, if the push has any.
    pub(super) fn objects(&self) -> Option<&NewObjects> {
        self.files.as_ref().map(|files| &files.objects)
    }

    /// The length of the pack in bytes.
    pub(super) fn bytes(&self) -> Result<u64, GitError> {
        match &self.files {
            Some(files) => Ok(std::fs::metadata(&files.data).map_err(io_failed)?.len()),
            None => Ok(0),
        }
    }

    /// Stores the objects as a pack, synced. Until the push ends, readers of this pack use the quarantine.
    pub(super) fn store(
        &mut self,
        shared: &Shared,
        project: ProjectId,
    ) -> Result<Option<Pack>, GitError> {
        let Some(ReceivedPack { data, index, objects }) = self.files.take() else {
            return Ok(None);
        };
        let pack = shared.store_pack(&data, &index, objects.len())?;
        shared.put_summary(&pack, self.summary.as_ref());
        shared.register_staged(project, pack.name, &self.staged);
        Ok(Some(pack))
    }
}

/// The bytes of a pack without objects: a push to a full repository may still create refs to existing objects.
const EMPTY_PACK: u64 = 32;

/// Returns the size limit of a pack and the message for a client that exceeds it.
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

/// The message for a client whose push does not fit into the repository.
pub(super) fn repository_full(bytes: u64) -> String {
    format!("the repository would be larger than the limit of {} MiB", bytes >> 20)
}

fn index_pack(
    view: &gix::Repository,
    from: &mut dyn Read,
    bounds: &Bounds,
) -> Result<Option<ReceivedPack>, QuarantineError> {
    let packs = view.git_dir().join("objects").join("pack");
    intake::index_pack(from, &packs, Some(view), bounds).map_err(|error| match error {
        IntakeError::Invalid(what) => {
            tracing::info!(what, "a pushed pack is not valid");
            QuarantineError::Invalid(format!("the pack is not valid: it {what}"))
        }
        IntakeError::TooLarge(text) => {
            tracing::info!(text, "a push is too large");
            QuarantineError::Invalid(text)
        }
        IntakeError::Disconnected(error) => QuarantineError::Invalid(error.to_string()),
        IntakeError::Busy => QuarantineError::Failed(GitError::Busy),
        IntakeError::Stopped(stopped) => QuarantineError::Stopped(stopped),
        IntakeError::Failed(error) => QuarantineError::Failed(error),
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
