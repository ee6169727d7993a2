//! Serves fetches (upload-pack): advertises the refs and sends the requested objects.
//!
//! [`v0`] or [`v2`] parses the conversation into a [`request::Request`]. [`walk`] finds the commits that the client
//! lacks, and [`objects`] the trees, blobs and tags that belong to them. The result is a [`plan`], which [`plans`]
//! caches for clients that send the same request. [`pack`] writes the pack of a plan and copies entries that are
//! already stored in the form in which they are sent.

mod advertise;
mod closure;
mod compressed;
mod delta;
mod depth;
mod filter;
mod known;
mod objects;
mod output;
mod pack;
pub(crate) mod packs;
mod parts;
mod plan;
mod plans;
mod reachable;
mod refs;
mod request;
mod send;
mod v0;
mod v2;
mod verify;
mod walk;
mod wire;

use std::io::{BufReader, Read, Write};
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::{Conversation, ProtocolVersion};
use hexforge_domain::refs::Snapshot;

use crate::history::lineage::Lineages;
use crate::storage::repository::GixRepository;
use crate::storage::store::Shared;
pub(crate) use compressed::CompressedObjects;
pub(crate) use packs::PackOrders;
use packs::Packs;
pub(crate) use parts::PartCache;
pub(crate) use plans::Plans;
use refs::Listing;
use wire::Wire;

/// The `agent` capability: name and version of this server.
const AGENT: &str = concat!("agent=hexforge/", env!("CARGO_PKG_VERSION"));

/// Writes the ref or capability advertisement. A repository without files on disk is advertised as empty.
pub(crate) fn advertise(
    repository: &GixRepository,
    version: ProtocolVersion,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    match version {
        ProtocolVersion::V2 => advertise::write_commands(to),
        ProtocolVersion::V0 | ProtocolVersion::V1 => {
            advertise::write_refs(&Listing::of(repository.refs()), version, to)
        }
    }
}

/// Serves one fetch. The client receives an `ERR` line if its request is invalid or the server fails.
pub(crate) fn serve(
    repository: &GixRepository,
    version: ProtocolVersion,
    conversation: Conversation,
    from: &mut dyn Read,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    let source = Source::open(repository)?;
    let mut from = BufReader::new(from);
    let mut wire = Wire::new(&mut from, to);
    let served = match version {
        ProtocolVersion::V2 => v2::serve(&source, conversation, &mut wire),
        ProtocolVersion::V0 | ProtocolVersion::V1 => v0::serve(&source, conversation, &mut wire),
    };
    let why = match &served {
        Ok(()) => return wire.flush(),
        Err(GitError::ReaderGone(_)) => return served,
        // The client was already sent the error, inside the pack.
        Err(_) if wire.packing => return served,
        Err(GitError::Protocol(why)) => why.as_str(),
        // The caller tells the client that the project does not exist.
        Err(_) if source.is_removed() => return served,
        // The details of a failure on our side are for the log of the caller.
        Err(_) => "the server failed",
    };
    // A write error is ignored: the client may be gone, and the first error is the one to return.
    let _ = wire.write_line(&format!("ERR upload-pack: {why}")).and_then(|()| wire.flush());
    served
}

/// The repository, refs and packs that one conversation reads.
struct Source {
    /// `None` if the repository has no files yet.
    repo: Option<gix::Repository>,
    refs: Arc<Snapshot>,
    packs: Packs,
    shared: Arc<Shared>,
    project: ProjectId,
    /// The client, for limits per caller.
    caller: Caller,
}

impl Source {
    fn open(repository: &GixRepository) -> Result<Self, GitError> {
        let (repo, packs) = match repository.handle() {
            Some(handle) => {
                let repo = handle.repo().clone();
                let packs =
                    Packs::open(&repo, &handle.open().packs, &repository.shared().pack_orders)?;
                (Some(repo), packs)
            }
            None => (None, Packs::default()),
        };
        let (project, caller) = (repository.project(), repository.caller());
        let (refs, shared) = (Arc::clone(repository.refs()), Arc::clone(repository.shared()));
        Ok(Self { repo, refs, packs, shared, project, caller })
    }

    /// Whether the files of the repository were removed, because its project was.
    fn is_removed(&self) -> bool {
        self.repo.as_ref().is_some_and(|repo| !repo.git_dir().join("HEAD").exists())
    }

    /// The cache of parents and dates of commits.
    fn lineages(&self) -> &Lineages {
        &self.shared.lineages
    }

    /// Returns the repository.
    ///
    /// # Errors
    /// The repository has no files yet, so there is nothing to fetch.
    fn repo(&self) -> Result<&gix::Repository, GitError> {
        self.repo.as_ref().ok_or_else(|| GitError::Protocol("there is nothing to fetch".into()))
    }
}
