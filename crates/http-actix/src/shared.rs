//! What all requests of one server share.

use std::sync::{Arc, OnceLock};

use actix_web::web::Bytes;
use hexforge_application::app::App;
use tokio::sync::Semaphore;

use crate::dialect::Dialect;
use crate::entities::links::Links;
use crate::lane::Lane;
use crate::limits::{RateLimits, Usage};

/// How many changing calls run at the same time. The rest wait without a thread, so that a flood of
/// writes leaves threads for reads.
const WRITERS: usize = 64;

/// How many sign-ins with a password run at the same time.
const SIGN_INS: usize = 8;

/// How many large answers are written at the same time, each on a thread of its own.
const STREAMS: usize = 32;
/// How many git clients fetch, and how many push, at the same time.
const FETCHES: usize = 96;
const PUSHES: usize = 32;

/// How many threads are long at work at the same time, at most.
pub const LONG_WORK: usize = WRITERS + SIGN_INS + STREAMS + FETCHES + PUSHES;

/// How many of these places one caller takes: a user, or an address from which nobody known calls. Behind an
/// address there may be many.
const STREAMS_FOR_ONE: usize = 24;
const FETCHES_FOR_ONE: usize = 64;
const PUSHES_FOR_ONE: usize = 24;

/// Choices about the interface.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The base of every address in answers, without a slash at the end.
    pub external_url: String,
    /// The port on which repositories are reached over SSH.
    pub ssh_port: u16,
    /// How the calls answer on which specification and original differ.
    pub dialect: Dialect,
    /// The largest body, in bytes, of a call that is no upload.
    pub max_body: usize,
    /// The largest uploaded file, in bytes.
    pub max_upload: u64,
    /// The largest artifacts of a build, in bytes.
    pub max_artifacts: u64,
    /// How many requests are taken.
    pub rate_limits: RateLimits,
    /// What `GET /version` tells about the program.
    pub revision: String,
}

/// Renders the metrics as text for Prometheus.
pub type RenderMetrics = Arc<dyn Fn() -> String + Send + Sync>;

/// Answers whether everything the server needs outside the database is there.
pub type StorageReady = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// What all requests share.
pub struct Shared {
    pub(crate) app: Arc<App>,
    pub(crate) settings: HttpSettings,
    pub(crate) links: Links,
    pub(crate) writers: Arc<Semaphore>,
    pub(crate) sign_ins: Arc<Semaphore>,
    pub(crate) streams: Lane,
    pub(crate) fetches: Lane,
    pub(crate) pushes: Lane,
    pub(crate) usage: Option<Arc<Usage>>,
    pub(crate) openapi: OnceLock<Bytes>,
    pub(crate) metrics: RenderMetrics,
    pub(crate) storage_ready: StorageReady,
}

impl Shared {
    /// Puts together what requests share.
    pub fn new(
        app: App,
        settings: HttpSettings,
        metrics: RenderMetrics,
        storage_ready: StorageReady,
    ) -> Self {
        Self {
            app: Arc::new(app),
            links: Links::new(&settings.external_url, settings.ssh_port),
            usage: Usage::new(settings.rate_limits).map(Arc::new),
            settings,
            writers: Arc::new(Semaphore::new(WRITERS)),
            sign_ins: Arc::new(Semaphore::new(SIGN_INS)),
            streams: Lane::new(STREAMS, STREAMS_FOR_ONE),
            fetches: Lane::new(FETCHES, FETCHES_FOR_ONE),
            pushes: Lane::new(PUSHES, PUSHES_FOR_ONE),
            openapi: OnceLock::new(),
            metrics,
            storage_ready,
        }
    }

    /// The turns for fetching and for pushing, for other ways to reach a repository: they share them.
    pub fn git_turns(&self) -> (Arc<Semaphore>, Arc<Semaphore>) {
        (self.fetches.all(), self.pushes.all())
    }
}
