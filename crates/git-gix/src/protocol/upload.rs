//! Fetching: what clients are told there is, and the objects they ask for.
//!
//! A conversation is read by [`v0`] or [`v2`] into a [`request::Request`]; [`walk`] finds the commits that the
//! client has not, [`objects`] all that belongs to them. Of that a [`plan`] is made, which [`plans`] keeps for all who ask
//! for the same, and [`pack`] carries it out, copying what is stored already in the form in which it is sent.

mod advertise;
mod bitmap;
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
use packs::Packs;
pub(crate) use plans::Plans;
use refs::Listing;
use wire::Wire;

/// How we call ourselves.
const AGENT: &str = concat!("agent=hexforge/", env!("CARGO_PKG_VERSION"));

/// Tells a client what there is. A repository that was never made has nothing.
pub(crate) fn advertise(
    repository: &GixRepository,
    version: ProtocolVersion,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    match version {
        ProtocolVersion::V2 => advertise::commands(to),
        ProtocolVersion::V0 | ProtocolVersion::V1 => {
            advertise::for_fetching(&Listing::of(repository.refs()), version, to)
        }
    }
}

/// Gives a client what it asks for. What is wrong with what it says, it is told.
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
        // It was told there, if it could be.
        Err(_) if wire.packing => return served,
        Err(GitError::Protocol(why)) => why.as_str(),
        // What is wrong on our side is for the log of whoever called us.
        Err(_) => "the server failed",
    };
    // The client may be gone already; what counts is what was wrong.
    let _ = wire.line(&format!("ERR upload-pack: {why}")).and_then(|()| wire.flush());
    served
}

/// Where everything comes from during one conversation.
struct Source {
    /// Absent when nothing was ever put into the repository.
    repo: Option<gix::Repository>,
    refs: Arc<Snapshot>,
    packs: Packs,
    shared: Arc<Shared>,
    project: ProjectId,
    /// Who fetches.
    caller: Caller,
}

impl Source {
    fn open(repository: &GixRepository) -> Result<Self, GitError> {
        let (repo, packs) = match repository.bound() {
            Some(bound) => {
                let repo = bound.repo().clone();
                let packs = Packs::open(&repo, &bound.open().packs)?;
                (Some(repo), packs)
            }
            None => (None, Packs::default()),
        };
        let (project, caller) = (repository.project(), repository.caller());
        let (refs, shared) = (Arc::clone(repository.refs()), Arc::clone(repository.shared()));
        Ok(Self { repo, refs, packs, shared, project, caller })
    }

    /// Where the commits come from that are met here.
    fn lineages(&self) -> &Lineages {
        &self.shared.lineages
    }

    /// The repository, for what can only be asked when there is one.
    fn repo(&self) -> Result<&gix::Repository, GitError> {
        self.repo.as_ref().ok_or_else(|| GitError::Protocol("there is nothing to fetch".into()))
    }
}
