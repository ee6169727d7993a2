//! The permits that limit concurrent work across all transports, and the threads for that work. Each process has one
//! limiter.

use std::cell::Cell;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hexforge_domain::limiter::{
    Holder, Permit, PermitLimits, PermitPool, ProcessorTimeAccounts, TransferLimits,
};
use hexforge_domain::ports::work::{Job, WorkThreads};

/// The time that a request waits for a permit before it is refused.
pub const MAX_PERMIT_WAIT: Duration = Duration::from_secs(30);

/// The number of permits of each kind.
mod permits {
    pub(super) const FETCHES: usize = 96;
    pub(super) const PUSHES: usize = 32;
    pub(super) const ARCHIVES: usize = 16;
    pub(super) const BLOBS: usize = 32;
    pub(super) const COMPARISONS: usize = 8;
    pub(super) const CONTRIBUTORS: usize = 16;
    pub(super) const SEARCHES: usize = 8;
    pub(super) const UPLOADS: usize = 64;
    pub(super) const LFS_UPLOADS: usize = 64;
    pub(super) const DOWNLOADS: usize = 64;
    pub(super) const READS: usize = 16;
    pub(super) const WRITES: usize = 16;
    pub(super) const SIGN_INS: usize = 8;
    pub(super) const STRANGER_PAGES: usize = 4;
    pub(super) const SSH_COMMANDS: usize = 1024;
}

/// Permits for long work, and for work whose duration the client controls. No single user and no single address can
/// take all permits of a kind.
#[derive(Clone, Debug)]
pub struct Limiter {
    /// Git clients that fetch, over HTTP and SSH.
    pub fetches: PermitPool,
    /// Git clients that push, over HTTP and SSH.
    pub pushes: PermitPool,
    /// Archives that are created or sent.
    pub archives: PermitPool,
    /// Large files that are sent.
    pub blobs: PermitPool,
    /// Comparisons of two revisions.
    pub comparisons: PermitPool,
    /// Requests that wait for contributor statistics.
    pub contributors: PermitPool,
    /// Calls that search a commit history. Only the address of the caller is known, not the user.
    pub searches: PermitPool,
    /// Uploads and artifacts that are being received.
    pub uploads: PermitPool,
    /// LFS objects that are being received, and batches that look up the files of objects to upload.
    pub lfs_uploads: PermitPool,
    /// Downloads of large uploaded files, of artifacts and of build logs.
    pub downloads: PermitPool,
    /// Calls that only read. Each concurrent call slows down the others, so there are few permits, and it takes three
    /// callers to use all of them. One caller can still keep all processors busy.
    pub reads: PermitPool,
    /// Calls that write.
    pub writes: PermitPool,
    /// Sign-ins with a password, limited by address too.
    pub sign_ins: PermitPool,
    /// Costly pages for visitors who are not signed in, in addition to the permit for the work itself. Crawlers use many
    /// addresses, so they share few permits.
    pub stranger_pages: PermitPool,
    /// Whether visitors who are not signed in may see costly pages.
    pub are_costly_pages_open: bool,
    /// SSH commands, from start to end.
    pub ssh_commands: PermitPool,
    /// The transfer limits for slow clients that hold a permit.
    pub transfer: TransferLimits,
    threads: Arc<dyn WorkThreads>,
    /// The processor time that each holder has used.
    spending: Arc<Mutex<ProcessorTimeAccounts>>,
    /// The start of the time scale of `spending`.
    epoch: Instant,
}

impl Limiter {
    /// Creates a limiter whose permits are all free.
    pub fn new(transfer: TransferLimits) -> Self {
        let quarters = |all| PermitPool::new(PermitLimits::quarters(all));
        // Many users may share an address, and only the address is known when the permit is taken.
        let by_address = |all| {
            PermitPool::new(PermitLimits {
                total: all,
                per_holder: PermitLimits::quarters(all).per_network,
                per_network: all,
            })
        };
        let calls =
            |all| PermitLimits { total: all, per_holder: all * 3 / 8, per_network: all * 3 / 4 };
        Self {
            fetches: quarters(permits::FETCHES),
            pushes: quarters(permits::PUSHES),
            archives: quarters(permits::ARCHIVES),
            blobs: quarters(permits::BLOBS),
            comparisons: quarters(permits::COMPARISONS),
            contributors: quarters(permits::CONTRIBUTORS),
            searches: by_address(permits::SEARCHES),
            uploads: quarters(permits::UPLOADS),
            lfs_uploads: quarters(permits::LFS_UPLOADS),
            downloads: quarters(permits::DOWNLOADS),
            reads: PermitPool::new(calls(permits::READS)),
            writes: PermitPool::new(calls(permits::WRITES)),
            // Password hashing keeps a processor busy during the whole check.
            sign_ins: PermitPool::new(PermitLimits {
                total: permits::SIGN_INS,
                per_holder: processors().min(permits::SIGN_INS * 3 / 4),
                per_network: permits::SIGN_INS,
            }),
            stranger_pages: PermitPool::new(PermitLimits {
                total: permits::STRANGER_PAGES,
                per_holder: permits::STRANGER_PAGES / 2,
                per_network: permits::STRANGER_PAGES / 2,
            }),
            are_costly_pages_open: true,
            // Each command may buffer half a megabyte that its client has not read yet, for as long as the client
            // computes.
            ssh_commands: PermitPool::new(PermitLimits {
                total: permits::SSH_COMMANDS,
                per_holder: permits::SSH_COMMANDS / 16,
                per_network: permits::SSH_COMMANDS / 4,
            }),
            transfer,
            threads: Arc::new(PlainThreads),
            spending: Arc::new(Mutex::new(ProcessorTimeAccounts::new(processors()))),
            epoch: Instant::now(),
        }
    }

    /// Sets the threads for long work. The default threads all have the same priority.
    #[must_use]
    pub fn with_threads(self, threads: Arc<dyn WorkThreads>) -> Self {
        Self { threads, ..self }
    }

    /// Sets whether visitors who are not signed in may see costly pages.
    #[must_use]
    pub fn with_costly_pages_open(self, are_costly_pages_open: bool) -> Self {
        Self { are_costly_pages_open, ..self }
    }

    /// Adapts the limiter to a store with a single writer. Each caller may then have two write calls at a time: one
    /// that writes and one that prepares. With more, the writes of all other callers would queue behind them.
    #[must_use]
    pub fn for_one_writer(self) -> Self {
        let all = permits::WRITES;
        Self {
            writes: PermitPool::new(PermitLimits {
                total: all,
                per_holder: 2,
                per_network: all * 3 / 4,
            }),
            ..self
        }
    }

    /// Starts long work on a thread of its own. The permit is released when the work ends, even if no request waits for
    /// the result any more. When the caller has to pause, the work starts after the pause, at the latest after
    /// [`MAX_PERMIT_WAIT`].
    /// # Errors
    /// When the operating system cannot start a thread.
    pub fn start(&self, permit: Permit, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let (holder, job) = self.charged(permit, work);
        let (limiter, since, has_waited) = (self.clone(), Instant::now(), Cell::new(false));
        let is_ready = move || {
            let pauses = since.elapsed() < MAX_PERMIT_WAIT && limiter.pause(holder).is_some();
            if !pauses && has_waited.get() {
                // Reserves time for this job, so that jobs which waited for the same pause do not all start at once.
                limiter.spending().reserve(holder, limiter.epoch.elapsed());
            }
            has_waited.set(pauses);
            !pauses
        };
        self.threads.start_when(holder, Box::new(is_ready), job)
    }

    /// Starts a password check, which is long work too. It does not wait for other work of its caller, because it would
    /// hold one of the few sign-in permits meanwhile.
    /// # Errors
    /// When the operating system cannot start a thread.
    pub fn start_sign_in(
        &self,
        permit: Permit,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let (holder, job) = self.charged(permit, work);
        self.threads.start_at_once(holder, job)
    }

    /// Wraps the work in a job that releases the permit at its end and charges the holder for the processor time.
    fn charged(&self, permit: Permit, work: impl FnOnce() + Send + 'static) -> (Holder, Job) {
        let holder = permit.caller().holder();
        let (threads, spending, epoch) = (self.threads.clone(), self.spending.clone(), self.epoch);
        let job = move || {
            let _permit = permit;
            let begin = threads.current_thread_time();
            work();
            let used = threads.current_thread_time().saturating_sub(begin);
            lock(&spending).charge(holder, used, epoch.elapsed());
        };
        (holder, Box::new(job))
    }

    /// Runs a short call of a holder on the current thread, and charges the holder for its processor time.
    pub fn run_call<T>(&self, holder: Holder, work: impl FnOnce() -> T) -> T {
        self.threads.mark_as_request_thread();
        let (outcome, used) = self.measure(work);
        self.spending().end_call(holder, used, self.epoch.elapsed());
        outcome
    }

    /// Runs short work on the current thread, and returns the processor time that it used.
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> (T, Duration) {
        let begin = Instant::now();
        let outcome = work();
        (outcome, self.threads.time_of_work(begin.elapsed()))
    }

    /// Marks the current thread as one that serves connections, see [`WorkThreads::mark_as_connection_thread`].
    pub fn mark_as_connection_thread(&self) {
        self.threads.mark_as_connection_thread();
    }

    /// Charges a holder for processor time that its calls have used.
    pub fn charge(&self, holder: Holder, used: Duration) {
        if !used.is_zero() {
            self.spending().charge(holder, used, self.epoch.elapsed());
        }
    }

    /// Returns the pause before the next call of a holder. There is one if the holder used more than its share of the
    /// processors, threads are waiting for a processor, and other holders that used less have made calls recently.
    pub fn pause(&self, holder: Holder) -> Option<Duration> {
        // This runs for every call, so the load is sampled at short intervals instead of measured each time.
        let are_busy = self.threads.are_processors_busy();
        self.spending().pause(holder, self.epoch.elapsed(), are_busy)
    }

    fn spending(&self) -> MutexGuard<'_, ProcessorTimeAccounts> {
        lock(&self.spending)
    }
}

fn lock(spending: &Mutex<ProcessorTimeAccounts>) -> MutexGuard<'_, ProcessorTimeAccounts> {
    // The methods leave the state consistent even when they panic, so a poisoned lock is safe to use.
    spending.lock().unwrap_or_else(PoisonError::into_inner)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Threads without priorities.
#[derive(Debug)]
struct PlainThreads;

impl WorkThreads for PlainThreads {
    fn start(&self, _: Holder, job: Job) -> io::Result<()> {
        std::thread::Builder::new().name("work".into()).spawn(job).map(drop)
    }
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new(TransferLimits::default())
    }
}
