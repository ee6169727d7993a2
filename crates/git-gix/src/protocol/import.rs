//! Imports repositories from other servers over git's smart HTTP protocol.
//!
//! The answers of the other server are not trusted: its refs are checked, its objects are indexed
//! and checked, and only a complete import is stored as a pack. Until then the objects are in a
//! scratch directory that is removed after any failure. Submodules and LFS files are not fetched.

mod address;
mod advertisement;
mod exchange;
mod listing;
pub(crate) mod pack;
mod packet;
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::imports::{ImportError, Imported, Imports};
use hexforge_domain::ports::outgoing::{Outgoing, TimeOuts};

use crate::protocol::intake::{Bounds, ReceivedPack, SizeLimit};
use crate::protocol::limits::StopSignal;
use crate::storage::store::{GixStore, Shared, init};
use address::Address;
use exchange::Remote;
use stream::ImportStop;

/// The limits of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportLimits {
    /// The most bytes of one response. One response contains all objects.
    pub bytes: u64,
    /// The most branches and tags.
    pub refs: usize,
    /// The time limit from the first request to the end.
    pub time: Duration,
    pub time_outs: TimeOuts,
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self {
            bytes: 10 << 30,
            refs: 1_000_000,
            time: Duration::from_secs(3 * 60 * 60),
            // A server may need a long time before it begins to send.
            time_outs: TimeOuts { idle: Duration::from_secs(300), ..TimeOuts::default() },
        }
    }
}

/// Implements imports over HTTP and HTTPS.
pub struct HttpImports {
    store: Arc<Shared>,
    outgoing: Arc<dyn Outgoing>,
    limits: ImportLimits,
    stopped: Arc<AtomicBool>,
}

impl HttpImports {
    /// Creates an importer for the repositories of a store.
    pub fn new(store: &GixStore, outgoing: Arc<dyn Outgoing>, limits: ImportLimits) -> Self {
        let stopped = Arc::default();
        Self { store: Arc::clone(store.shared()), outgoing, limits, stopped }
    }

    fn bounds(&self, deadline: Instant) -> Bounds {
        let limits = &self.store.limits;
        let most = limits.repository_bytes >> 20;
        let pack = SizeLimit {
            bytes: limits.repository_bytes,
            refusal: format!("the repository is larger than the limit of {most} MiB"),
        };
        let stop = StopSignal { deadline, disconnected: Arc::clone(&self.stopped).into() };
        Bounds::new(stop, pack, limits.object_bytes, self.store.memory.share(Caller::BACKGROUND))
    }

    fn fetch_from(&self, address: &Address) -> Result<Imported, ImportError> {
        let deadline = Instant::now() + self.limits.time;
        let stop = ImportStop { deadline, stopped: Arc::clone(&self.stopped) };
        let mut remote = Remote::find(&*self.outgoing, address, self.limits, stop)?;
        let listing = remote.listing()?;
        if listing.refs.is_empty() {
            return Ok(Imported::default());
        }
        let scratch = self.store.scratch().map_err(|error| failed(&error))?;
        init(scratch.path()).map_err(|error| failed(&error))?;
        let mut response = remote.pack(&listing)?;
        let bounds = self.bounds(deadline);
        let taken = pack::index(&mut response, scratch.path(), &bounds)?;
        let accepted = self.store.accepted_faults();
        let summary = pack::check(&listing, scratch.path(), &taken.objects, &bounds, accepted)?;
        let (refs, head) = listing.resolve(scratch.path()).map_err(|error| failed(&error))?;
        if self.stopped.load(Ordering::Relaxed) {
            return Err(stream::server_stopped());
        }
        let ReceivedPack { data, index, objects } = taken;
        let stored = self.store.store_pack(&data, &index, objects.len());
        let pack = stored.map_err(|error| failed(&error))?;
        self.store.put_summary(&pack, summary.as_ref());
        Ok(Imported { head, refs, packs: vec![pack] })
    }
}

impl Imports for HttpImports {
    fn fetch(&self, url: &str) -> Result<Imported, ImportError> {
        let address = Address::parse(url)?;
        // The server may repeat the credentials in its error message.
        self.fetch_from(&address).map_err(|error| address.without_secrets(error))
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Maps a failure on our side; the details are only logged.
fn failed(error: &GitError) -> ImportError {
    tracing::error!(%error, "an imported repository could not be stored");
    ImportError::Failed("the repository could not be stored".into())
}

/// The error for an answer that violates git's protocol.
fn invalid_answer(what: &str) -> ImportError {
    ImportError::Refused(format!("the server's answer is not valid: {what}"))
}
