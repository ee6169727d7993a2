//! The permits that all transports share, and the threads for the work that needs one. There is one limiter in a process.

use std::cell::Cell;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hexforge_domain::limiter::{Holder, Lane, Permit, Shares, Spending, TransferLimits};
use hexforge_domain::ports::work::{Job, WorkThreads};

/// How long a request waits for a permit before it is refused.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How many permits there are of each kind.
mod permits {
    pub(super) const FETCHES: usize = 96;
    pub(super) const PUSHES: usize = 32;
    pub(super) const ARCHIVES: usize = 16;
    pub(super) const BLOBS: usize = 32;
    pub(super) const COMPARISONS: usize = 8;
    pub(super) const CONTRIBUTORS: usize = 16;
    pub(super) const SEARCHES: usize = 8;
    pub(super) const UPLOADS: usize = 64;
    pub(super) const DOWNLOADS: usize = 64;
    pub(super) const READS: usize = 16;
    pub(super) const WRITES: usize = 16;
    pub(super) const SIGN_INS: usize = 8;
    pub(super) const SSH_COMMANDS: usize = 1024;
}

/// Permits for all work that lasts, or that a client can make last. No user and no address takes all of one kind.
#[derive(Clone, Debug)]
pub struct Limiter {
    /// Git clients that fetch, over HTTP and SSH.
    pub fetches: Lane,
    /// Git clients that push, over HTTP and SSH.
    pub pushes: Lane,
    /// Archives that are made or sent.
    pub archives: Lane,
    /// Large files that are sent.
    pub blobs: Lane,
    /// Comparisons of two revisions.
    pub comparisons: Lane,
    /// Requests that wait for counts of contributors.
    pub contributors: Lane,
    /// Calls that have to look through a history. The caller is not known here, only the address.
    pub searches: Lane,
    /// Files that are received.
    pub uploads: Lane,
    /// Large uploaded files, artifacts and logs of builds that are sent.
    pub downloads: Lane,
    /// Calls that read. The time that a call takes grows with the calls that run beside it, so there are few, and
    /// three callers are needed to take all. One caller can still keep all processors busy.
    pub reads: Lane,
    /// Calls that change things.
    pub writes: Lane,
    /// Sign-ins with a password, by address too.
    pub sign_ins: Lane,
    /// Commands over SSH, from their beginning to their end.
    pub ssh_commands: Lane,
    /// How slow clients may be that hold a permit.
    pub transfer: TransferLimits,
    threads: Arc<dyn WorkThreads>,
    spending: Arc<Mutex<Spending>>,
    begun: Instant,
}

impl Limiter {
    /// Creates a limiter whose permits are all free.
    pub fn new(transfer: TransferLimits) -> Self {
        let quarters = |all| Lane::new(Shares::quarters(all));
        // Many users may share an address, and of these calls nothing else is known when the permit is taken.
        let by_address =
            |all| Lane::new(Shares { all, one: Shares::quarters(all).network, network: all });
        let calls = |all| Shares { all, one: all * 3 / 8, network: all * 3 / 4 };
        Self {
            fetches: quarters(permits::FETCHES),
            pushes: quarters(permits::PUSHES),
            archives: quarters(permits::ARCHIVES),
            blobs: quarters(permits::BLOBS),
            comparisons: quarters(permits::COMPARISONS),
            contributors: quarters(permits::CONTRIBUTORS),
            searches: by_address(permits::SEARCHES),
            uploads: quarters(permits::UPLOADS),
            downloads: quarters(permits::DOWNLOADS),
            reads: Lane::new(calls(permits::READS)),
            writes: Lane::new(calls(permits::WRITES)),
            // A password keeps a processor busy for as long as it is checked.
            sign_ins: Lane::new(Shares {
                all: permits::SIGN_INS,
                one: processors().min(permits::SIGN_INS * 3 / 4),
                network: permits::SIGN_INS,
            }),
            // Each may hold half a megabyte that nobody reads yet, for as long as its client computes.
            ssh_commands: Lane::new(Shares {
                all: permits::SSH_COMMANDS,
                one: permits::SSH_COMMANDS / 16,
                network: permits::SSH_COMMANDS / 4,
            }),
            transfer,
            threads: Arc::new(PlainThreads),
            spending: Arc::new(Mutex::new(Spending::new(processors()))),
            begun: Instant::now(),
        }
    }

    /// Sets the threads for long work. Without them all of it has the same priority.
    #[must_use]
    pub fn with_threads(self, threads: Arc<dyn WorkThreads>) -> Self {
        Self { threads, ..self }
    }

    /// Sets the limiter up for a store that has one writer at a time. A caller then has two changes at work: one in
    /// the store and one that gets ready. With more the changes of all others would wait behind them.
    #[must_use]
    pub fn for_one_writer(self) -> Self {
        let all = permits::WRITES;
        Self { writes: Lane::new(Shares { all, one: 2, network: all * 3 / 4 }), ..self }
    }

    /// Starts long work, on a thread that its caller shares with nobody. The permit is free again when the work is
    /// done, also if nobody waits for it any more. Work of a caller who has to pause begins after the pause, or when it
    /// has waited for as long as a request waits for a permit.
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(&self, permit: Permit, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let (holder, job) = self.charged(permit, work);
        let (limiter, since, has_waited) = (self.clone(), Instant::now(), Cell::new(false));
        let is_ready = move || {
            let pauses = since.elapsed() < PATIENCE && limiter.pause(holder).is_some();
            if !pauses && has_waited.get() {
                // Jobs that waited together do not all begin together.
                limiter.spending().reserve(holder, limiter.begun.elapsed());
            }
            has_waited.set(pauses);
            !pauses
        };
        self.threads.start_when(holder, Box::new(is_ready), job)
    }

    /// Starts the check of a password, which is long work too. It does not wait for other work of its caller: it would
    /// hold one of the few permits for sign-ins meanwhile.
    /// # Errors
    /// When the system has no thread for it.
    pub fn start_sign_in(
        &self,
        permit: Permit,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let (holder, job) = self.charged(permit, work);
        self.threads.start_at_once(holder, job)
    }

    /// Makes a job that gives its permit back when it is done, and charges its holder for it.
    fn charged(&self, permit: Permit, work: impl FnOnce() + Send + 'static) -> (Holder, Job) {
        let holder = permit.caller().holder();
        let (threads, spending, begun) = (self.threads.clone(), self.spending.clone(), self.begun);
        let job = move || {
            let _permit = permit;
            let begin = threads.time_of_current_thread();
            work();
            let used = threads.time_of_current_thread().saturating_sub(begin);
            lock(&spending).charge(holder, used, begun.elapsed());
        };
        (holder, Box::new(job))
    }

    /// Does a short call of a holder on the current thread, and counts what it costs.
    pub fn answer<T>(&self, holder: Holder, work: impl FnOnce() -> T) -> T {
        self.threads.answer_calls();
        let begin = self.threads.time_of_current_thread();
        let outcome = work();
        let used = self.threads.time_of_current_thread().saturating_sub(begin);
        self.spending().end_call(holder, used, self.begun.elapsed());
        outcome
    }

    /// Says that the current thread serves connections, see [`WorkThreads::serve_connections`].
    pub fn serve_connections(&self) {
        self.threads.serve_connections();
    }

    /// Returns the processor time that the current thread has used.
    pub fn time_of_current_thread(&self) -> Duration {
        self.threads.time_of_current_thread()
    }

    /// Counts processor time that the calls of a holder have used.
    pub fn charge(&self, holder: Holder, used: Duration) {
        if !used.is_zero() {
            self.spending().charge(holder, used, self.begun.elapsed());
        }
    }

    /// Returns the pause before the next call of a holder, if its calls used more than a share of the processors,
    /// threads wait for these, and others called lately who used less.
    pub fn pause(&self, holder: Holder) -> Option<Duration> {
        // Asked for every call: the answer comes from looks at short intervals.
        let are_busy = self.threads.are_processors_busy();
        self.spending().pause(holder, self.begun.elapsed(), are_busy)
    }

    fn spending(&self) -> MutexGuard<'_, Spending> {
        lock(&self.spending)
    }
}

fn lock(spending: &Mutex<Spending>) -> MutexGuard<'_, Spending> {
    // Each call of its methods is whole, also after a panic.
    spending.lock().unwrap_or_else(PoisonError::into_inner)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Threads that the system treats alike.
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
