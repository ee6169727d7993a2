//! Indexes and checks the pack that another server sends.

use std::io::Read;
use std::path::Path;

use gix::bstr::ByteSlice;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::imports::ImportError;

use super::listing::Listing;
use super::stream::{stream_error, too_late};
use super::{failed, invalid_answer};
use crate::protocol::intake::{self, Bounds, IntakeError, NewObjects, ReceivedPack};
use crate::protocol::limits::StopReason;
use crate::protocol::receive::{self, check::CheckError, fsck::AcceptedFaults};
use crate::storage::open::open_folder;
use crate::storage::pack_summary::PackSummary;

/// Receives and indexes a pack in a scratch repository.
pub(crate) fn index(
    pack: &mut dyn Read,
    repository: &Path,
    bounds: &Bounds,
) -> Result<ReceivedPack, ImportError> {
    let folder = repository.join("objects").join("pack");
    // The repository is empty, so there are no bases outside the pack.
    let taken = intake::index_pack(pack, &folder, None, bounds).map_err(|error| match error {
        IntakeError::Invalid(what) => {
            tracing::info!(what, "an imported pack is not valid");
            invalid_answer("its objects cannot be read")
        }
        IntakeError::TooLarge(text) => ImportError::Refused(text),
        IntakeError::Disconnected(error) => stream_error(error),
        IntakeError::Busy => failed(&GitError::Busy),
        IntakeError::Stopped(stopped) => stop_error(stopped),
        IntakeError::Failed(error) => failed(&error),
    })?;
    taken.ok_or_else(|| invalid_answer("it contains no objects"))
}

fn stop_error(stopped: StopReason) -> ImportError {
    match stopped {
        StopReason::TimedOut => too_late(),
        StopReason::HungUp => super::stream::server_stopped(),
    }
}

/// Checks all objects like those of a push: they must be valid and complete. Every ref must point
/// to an existing object, and every branch to a commit. Returns the summary of the pack.
pub(crate) fn check(
    listing: &Listing,
    repository: &Path,
    objects: &NewObjects,
    bounds: &Bounds,
    accepted: &AcceptedFaults,
) -> Result<Option<PackSummary>, ImportError> {
    let repo = open_folder(repository).map_err(|error| failed(&error))?.to_thread_local();
    let checked = receive::check::pack(&repo, objects, bounds, accepted, None);
    let summary = checked.map_err(|error| match error {
        CheckError::Missing => invalid_answer("objects are missing"),
        CheckError::Forbidden(what) => invalid_answer(&what),
        CheckError::Stopped(stopped) => stop_error(stopped),
        CheckError::Failed(error) => failed(&error),
    })?;
    for (name, id) in &listing.refs {
        let header = repo.try_find_header(*id);
        let header = header.map_err(|_| invalid_answer("its objects cannot be read"))?;
        let kind = header.map(|header| header.kind());
        let fits = match kind {
            Some(kind) => kind.is_commit() || !name.starts_with(b"refs/heads/"),
            None => false,
        };
        if !fits {
            return Err(invalid_answer(&format!(
                "the target of `{}` is missing or is not a commit",
                name.to_str_lossy()
            )));
        }
    }
    Ok(summary)
}
