//! Indexes and checks the pack that another server sends.

use std::io::Read;
use std::path::Path;

use gix::bstr::ByteSlice;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::imports::ImportError;

use super::listing::Listing;
use super::stream::{broken, too_late};
use super::{failed, strange};
use crate::protocol::intake::{self, Bounds, NewObjects, Taken, Unfit};
use crate::protocol::limits::Stopped;
use crate::protocol::receive::{self, check::Wrong, fsck::AcceptedFaults};
use crate::storage::open::open_folder;

/// Takes in a pack into a repository in a scratch directory.
pub(crate) fn index(
    pack: &mut dyn Read,
    repository: &Path,
    bounds: &Bounds,
) -> Result<Taken, ImportError> {
    let folder = repository.join("objects").join("pack");
    // The repository is empty, so there are no bases outside the pack.
    let taken = intake::take_in(pack, &folder, None, bounds).map_err(|unfit| match unfit {
        Unfit::Bad(what) => {
            tracing::info!(what, "an imported pack is not valid");
            strange("its objects cannot be read")
        }
        Unfit::TooMuch(text) => ImportError::Refused(text),
        Unfit::Cut(error) => broken(error),
        Unfit::Busy => failed(&GitError::Busy),
        Unfit::Stopped(stopped) => ended(stopped),
        Unfit::Failed(error) => failed(&error),
    })?;
    taken.ok_or_else(|| strange("it contains no objects"))
}

fn ended(stopped: Stopped) -> ImportError {
    match stopped {
        Stopped::Late => too_late(),
        Stopped::HungUp => super::stream::stopped(),
    }
}

/// Checks all objects like those of a push: they must be valid and complete. Every ref must point
/// to an existing object, and every branch to a commit.
pub(crate) fn check(
    listing: &Listing,
    repository: &Path,
    objects: &NewObjects,
    bounds: &Bounds,
    accepted: &AcceptedFaults,
) -> Result<(), ImportError> {
    let repo = open_folder(repository).map_err(|error| failed(&error))?.to_thread_local();
    receive::check::pack(&repo, objects, bounds, accepted, None).map_err(|wrong| match wrong {
        Wrong::Missing => strange("objects are missing"),
        Wrong::Forbidden(what) => strange(&what),
        Wrong::Stopped(stopped) => ended(stopped),
        Wrong::Failed(error) => failed(&error),
    })?;
    for (name, id) in &listing.refs {
        let header = repo.try_find_header(*id);
        let header = header.map_err(|_| strange("its objects cannot be read"))?;
        let kind = header.map(|header| header.kind());
        let fits = match kind {
            Some(kind) => kind.is_commit() || !name.starts_with(b"refs/heads/"),
            None => false,
        };
        if !fits {
            return Err(strange(&format!(
                "the target of `{}` is missing or is not a commit",
                name.to_str_lossy()
            )));
        }
    }
    Ok(())
}
