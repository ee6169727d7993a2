//! Threads for long work. Their priority falls with the processor time that their caller has used recently.
//!
//! Each user and each address has an account of the processor time that its work used recently. The more time is in the
//! account, the lower is the priority of the caller's threads. A caller who keeps all processors busy therefore does
//! not slow down callers with little work, and uses all processors while no other thread needs them. Threads that serve
//! connections or answer requests have a higher priority than all threads for long work.
//!
//! The scheduler may preempt a thread of low priority while it holds a lock that others wait for. The number of such
//! threads that compute is therefore limited to the number of processors: further work of their callers waits. Each
//! caller may always have one.
//!
//! A process without privileges can lower the priority of its threads but never raise it. A thread
//! that was lowered ends with its job; the others wait for the next job.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hexforge_domain::limiter::{Holder, RecentTime};
use hexforge_domain::ports::work::{Job, ReadyCheck, WorkThreads};
use rustix::process::{Pid, setpriority_process};
use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};

use super::short_work::time_of_work;
use super::waits::{SchedulerFile, Waits};
use super::write_threads::delegated_time;

/// The half-life of used processor time in an account.
const HALF_LIFE: Duration = Duration::from_secs(10);

/// The niceness of a thread for long work whose caller has used little time. Threads that serve
/// connections or answer requests have niceness 0.
const BASE: i32 = 5;

/// Processor seconds in an account, and the niceness of its threads from there on. With a niceness
/// of 3, 7 and 12 above others, a thread gets a half, a fifth and a fifteenth of their time if all
/// want a processor. It is not lowered further, because it may hold locks of the process.
const LEVELS: [(f64, i32); 3] = [(0.5, BASE + 3), (1.0, BASE + 7), (2.0, BASE + 12)];

/// The time between two measurements of the active threads.
const INTERVAL: Duration = Duration::from_millis(100);

/// A thread counts as computing if it used this much processor time since the last measurement.
const COMPUTING: Duration = Duration::from_millis(5);

/// The most idle threads, and how long they wait for a job.
const MOST_IDLE: usize = 16;
const IDLE_TIME: Duration = Duration::from_secs(10);

/// The threads for long work of this process.
#[derive(Debug)]
pub struct PriorityThreads(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    since: Instant,
    state: Mutex<State>,
    begun: Condvar,
    waits: Arc<Waits>,
    processors: usize,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            state: Mutex::default(),
            begun: Condvar::default(),
            waits: Arc::default(),
            processors: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

#[derive(Default)]
struct State {
    at_work: HashMap<Pid, AtWork>,
    idle: Vec<(Pid, Sender<(Holder, Job)>)>,
    accounts: HashMap<Holder, RecentTime>,
    /// The queue of jobs of callers who have used much processor time, oldest first.
    waiting: VecDeque<Waiting>,
    /// The holders of threads that have been started with a lower priority and are not at work yet.
    starting: Vec<Holder>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (at_work, idle, waiting) = (self.at_work.len(), self.idle.len(), self.waiting.len());
        write!(f, "{at_work} at work, {idle} idle, {waiting} waiting")
    }
}

/// A job that waits until it is ready and few threads of low priority compute.
struct Waiting {
    holder: Holder,
    is_ready: ReadyCheck,
    job: Job,
}

/// A thread that runs a job.
struct AtWork {
    holder: Holder,
    clock: Arc<dyn ThreadClock>,
    /// The part of its processor time that was added to the account.
    counted: Duration,
    niceness: i32,
    /// Whether it computed at the last measurement, or began since then.
    computes: bool,
}

impl AtWork {
    /// The processor time since the last call.
    fn used(&mut self) -> Duration {
        let time = self.clock.time();
        let new = time.saturating_sub(self.counted);
        self.counted = time;
        new
    }
}

/// The niceness of threads whose holder used so many seconds recently.
fn niceness(seconds: f64) -> i32 {
    let level = LEVELS.iter().rev().find(|(from, _)| seconds >= *from);
    level.map_or(BASE, |(_, niceness)| *niceness)
}

impl State {
    /// Adds processor time to the account of a holder. Returns the resulting niceness.
    fn charge(&mut self, holder: Holder, used: Duration, now: Duration) -> i32 {
        let account = self.accounts.entry(holder);
        let account = account.or_insert_with(|| RecentTime::new(HALF_LIFE, now));
        account.add(used, now);
        niceness(account.seconds(now))
    }

    /// Charges the time that threads used since the last call. Returns the threads to be lowered, with their niceness.
    fn measure(&mut self, now: Duration) -> Vec<(Pid, i32)> {
        let used = self.at_work.values_mut().map(|at_work| {
            let used = at_work.used();
            let is_lowered = at_work.niceness > BASE;
            at_work.computes = used >= COMPUTING || is_lowered && at_work.clock.is_runnable();
            (at_work.holder, used)
        });
        let used: Vec<(Holder, Duration)> = used.collect();
        for (holder, used) in used {
            self.charge(holder, used, now);
        }
        let mut lowered = Vec::new();
        for (thread, at_work) in &mut self.at_work {
            let account = self.accounts.get(&at_work.holder);
            let due = account.map_or(BASE, |account| niceness(account.seconds(now)));
            if due > at_work.niceness {
                at_work.niceness = due;
                lowered.push((*thread, due));
            }
        }
        // An account that is almost empty is removed.
        self.accounts.retain(|_, account| account.seconds(now) > 0.01);
        lowered
    }

    /// The holder of each thread of lower priority that computes; a holder can occur several times.
    fn computing(&self) -> impl Iterator<Item = Holder> {
        let computes = |at_work: &&AtWork| at_work.computes && at_work.niceness > BASE;
        let at_work = self.at_work.values().filter(computes).map(|at_work| at_work.holder);
        at_work.chain(self.starting.iter().copied())
    }

    /// Returns whether a new job of a holder has to wait because too many threads of lower priority compute.
    fn has_to_wait(&mut self, holder: Holder, most: usize, now: Duration) -> bool {
        self.charge(holder, Duration::ZERO, now) > BASE
            && self.computing().count() >= most
            && self.computing().any(|other| other == holder)
    }

    /// Returns the niceness for a job of a holder that starts now.
    fn admit(&mut self, holder: Holder, now: Duration) -> i32 {
        let niceness = self.charge(holder, Duration::ZERO, now);
        if niceness > BASE {
            self.starting.push(holder);
        }
        niceness
    }

    /// Removes the jobs from the queue that may start, with their niceness.
    fn due(&mut self, most: usize, now: Duration) -> Vec<(i32, (Holder, Job))> {
        let mut due = Vec::new();
        for waiting in std::mem::take(&mut self.waiting) {
            match self.admit_ready(&waiting, most, now) {
                Some(niceness) => due.push((niceness, (waiting.holder, waiting.job))),
                None => self.waiting.push_back(waiting),
            }
        }
        due
    }

    /// Returns the niceness for a job, or `None` if it has to wait.
    fn admit_ready(&mut self, waiting: &Waiting, most: usize, now: Duration) -> Option<i32> {
        // Readiness is asked last, because it reserves time for the job.
        let holder = waiting.holder;
        if self.has_to_wait(holder, most, now) || !(waiting.is_ready)() {
            return None;
        }
        Some(self.admit(holder, now))
    }

    /// Records that a thread with a lower priority has started, or could not be started.
    fn has_started(&mut self, holder: Holder) {
        if let Some(at) = self.starting.iter().position(|other| *other == holder) {
            self.starting.swap_remove(at);
        }
    }
}

impl Default for PriorityThreads {
    fn default() -> Self {
        Self::new()
    }
}

impl PriorityThreads {
    /// Starts only the thread that supervises the others. Worker threads start with the first jobs.
    pub fn new() -> Self {
        let shared = Arc::<Shared>::default();
        let watched = Arc::downgrade(&shared);
        let watch = move || {
            while let Some(shared) = watched.upgrade() {
                shared.watch();
            }
        };
        if let Err(error) = thread::Builder::new().name("priorities".into()).spawn(watch) {
            tracing::warn!(%error, "the thread that lowers priorities cannot be started");
        }
        Self(shared)
    }
}

impl WorkThreads for PriorityThreads {
    fn start(&self, holder: Holder, job: Job) -> io::Result<()> {
        self.start_when(holder, Box::new(|| true), job)
    }

    fn start_when(&self, holder: Holder, is_ready: ReadyCheck, job: Job) -> io::Result<()> {
        let mut state = self.0.lock();
        let waiting = Waiting { holder, is_ready, job };
        match state.admit_ready(&waiting, self.0.processors, self.0.since.elapsed()) {
            Some(niceness) => self.0.begin(state, niceness, (holder, waiting.job)),
            None => {
                state.waiting.push_back(waiting);
                self.0.begun.notify_one();
                Ok(())
            }
        }
    }

    fn start_at_once(&self, holder: Holder, job: Job) -> io::Result<()> {
        let mut state = self.0.lock();
        let niceness = state.admit(holder, self.0.since.elapsed());
        self.0.begin(state, niceness, (holder, job))
    }

    fn mark_as_request_thread(&self) {
        thread_local!(static IS_WATCHED: Cell<bool> = const { Cell::new(false) });
        if !IS_WATCHED.replace(true) {
            self.0.waits.watch_current_thread();
        }
    }

    fn mark_as_connection_thread(&self) {
        self.0.waits.watch_current_thread();
    }

    fn are_processors_busy(&self) -> bool {
        self.0.waits.are_long(Instant::now())
    }

    fn current_thread_time(&self) -> Duration {
        thread_time() + delegated_time()
    }

    fn time_of_work(&self, elapsed: Duration) -> Duration {
        time_of_work(elapsed)
    }
}

thread_local!(static IS_LOWERED: Cell<bool> = const { Cell::new(false) });

/// Returns whether the current thread runs long work, and therefore has a lower priority than others.
pub(super) fn is_lowered() -> bool {
    IS_LOWERED.get()
}

fn lower_current_thread(niceness: i32) {
    lower(gettid(), niceness);
    IS_LOWERED.set(true);
}

/// The processor time of the current thread, measured by its own clock.
pub(super) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is usable: no code that can panic runs while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an admitted job to an idle thread, or to a new one.
    fn begin(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        niceness: i32,
        mut work: (Holder, Job),
    ) -> io::Result<()> {
        // Idle threads still have the niceness `BASE`.
        while niceness == BASE
            && let Some((_, idle)) = state.idle.pop()
        {
            match idle.send(work) {
                Ok(()) => return Ok(()),
                Err(unsent) => work = unsent.0,
            }
        }
        drop(state);
        self.spawn(niceness, work)
    }

    /// Starts a thread for a job.
    fn spawn(self: &Arc<Self>, niceness: i32, work: (Holder, Job)) -> io::Result<()> {
        let (shared, holder) = (Arc::clone(self), work.0);
        let run = move || shared.work(niceness, work);
        let started = thread::Builder::new().name("work".into()).spawn(run);
        if started.is_err() && niceness > BASE {
            self.lock().has_started(holder);
        }
        started.map(drop)
    }

    /// Starts the waiting jobs that are due.
    fn start_waiting(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        let due = state.due(self.processors, self.since.elapsed());
        drop(state);
        for (niceness, work) in due {
            if let Err(error) = self.spawn(niceness, work) {
                tracing::warn!(%error, "a thread for a waiting job cannot be started");
            }
        }
    }

    /// The main function of a worker thread.
    fn work(self: &Arc<Self>, niceness: i32, mut work: (Holder, Job)) {
        let thread = gettid();
        lower_current_thread(niceness);
        let clock: Arc<dyn ThreadClock> = Arc::new(SchedulerFile::of_current_thread());
        loop {
            let (holder, job) = work;
            let (clock, counted) = (Arc::clone(&clock), clock.time());
            let mut state = self.lock();
            if niceness > BASE {
                state.has_started(holder);
            }
            let at_work = AtWork { holder, clock, counted, niceness, computes: true };
            state.at_work.insert(thread, at_work);
            drop(state);
            self.begun.notify_one();
            let end = AtEnd { shared: self, thread, delegated: delegated_time() };
            job();
            if end.end() > BASE {
                self.start_waiting(self.lock());
                return;
            }
            let (sender, receiver) = channel();
            let mut state = self.lock();
            if state.idle.len() >= MOST_IDLE {
                return;
            }
            state.idle.push((thread, sender));
            drop(state);
            work = match receiver.recv_timeout(IDLE_TIME) {
                Ok(next) => next,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    self.lock().idle.retain(|(idle, _)| *idle != thread);
                    // A job may have been sent just before the timeout.
                    match receiver.try_recv() {
                        Ok(next) => next,
                        Err(_) => return,
                    }
                }
            };
        }
    }

    /// Waits until a job runs or waits, then measures all threads once.
    fn watch(self: &Arc<Self>) {
        let state = self.lock();
        let is_idle = |state: &mut State| state.at_work.is_empty() && state.waiting.is_empty();
        let (mut state, _) = self
            .begun
            .wait_timeout_while(state, IDLE_TIME, is_idle)
            .unwrap_or_else(PoisonError::into_inner);
        let is_idle = is_idle(&mut state);
        drop(state);
        if is_idle {
            return;
        }
        thread::sleep(INTERVAL);
        // A registered thread has not ended, so its id is valid.
        let mut state = self.lock();
        let now = self.since.elapsed();
        for (thread, niceness) in state.measure(now) {
            lower(thread, niceness);
        }
        self.start_waiting(state);
    }
}

/// Removes a thread from the registry when its job ends, also after a panic.
struct AtEnd<'a> {
    shared: &'a Shared,
    thread: Pid,
    /// The time that other threads had spent on behalf of this thread before the job.
    delegated: Duration,
}

impl AtEnd<'_> {
    /// Removes the thread, and returns its niceness, which does not change any more.
    fn end(&self) -> i32 {
        let mut state = self.shared.lock();
        let Some(mut at_work) = state.at_work.remove(&self.thread) else { return BASE };
        let rest = at_work.used() + delegated_time().saturating_sub(self.delegated);
        state.charge(at_work.holder, rest, self.shared.since.elapsed());
        at_work.niceness
    }
}

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// The processor time of a thread.
trait ThreadClock: Send + Sync {
    fn time(&self) -> Duration;

    /// Returns whether the thread runs or waits for a processor.
    fn is_runnable(&self) -> bool;
}

impl ThreadClock for SchedulerFile {
    fn time(&self) -> Duration {
        self.read().used
    }

    fn is_runnable(&self) -> bool {
        self.is_runnable()
    }
}

/// Lowers the priority of a thread, and of threads that it starts later. Only on Linux: elsewhere
/// the call would lower the whole process.
fn lower(thread: Pid, niceness: i32) {
    if cfg!(target_os = "linux")
        && let Err(error) = setpriority_process(Some(thread), niceness)
    {
        tracing::debug!(%error, "the priority of a thread cannot be lowered");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use hexforge_domain::id::UserId;

    const EVE: Holder = Holder::User(UserId(1));
    const ADA: Holder = Holder::User(UserId(2));

    /// A clock that the test sets, in milliseconds.
    #[derive(Default)]
    struct SetClock(AtomicU64);

    impl ThreadClock for SetClock {
        fn time(&self) -> Duration {
            Duration::from_millis(self.0.load(Ordering::Relaxed))
        }

        fn is_runnable(&self) -> bool {
            self.0.load(Ordering::Relaxed) % 2 == 1
        }
    }

    fn waiting(holder: Holder) -> Waiting {
        Waiting { holder, is_ready: Box::new(|| true), job: Box::new(|| {}) }
    }

    #[test]
    fn the_threads_of_a_caller_who_used_much_time_are_lowered() {
        let (mut state, now) = (State::default(), Duration::from_secs(1));
        let clocks = [EVE, EVE, ADA].map(|holder| (holder, Arc::<SetClock>::default()));
        for (number, (holder, clock)) in (11..).zip(&clocks) {
            let (holder, clock) = (*holder, Arc::clone(clock) as Arc<dyn ThreadClock>);
            let (counted, niceness) = (Duration::ZERO, BASE);
            let at_work = AtWork { holder, clock, counted, niceness, computes: true };
            state.at_work.insert(Pid::from_raw(number).expect("no zero"), at_work);
        }
        let mut lowered = |times: [u64; 3]| {
            for ((_, clock), time) in clocks.iter().zip(times) {
                clock.0.store(time, Ordering::Relaxed);
            }
            let lowered = state.measure(now).into_iter();
            let mut lowered: Vec<_> =
                lowered.map(|(id, to)| (id.as_raw_nonzero().get(), to)).collect();
            lowered.sort_unstable();
            lowered
        };
        assert_eq!(lowered([400, 0, 0]), []);
        assert_eq!(lowered([400, 400, 400]), [(11, 8), (12, 8)]);
        assert_eq!(lowered([400, 400, 400]), [], "nobody has used more");
        assert_eq!(lowered([800, 400, 400]), [(11, 12), (12, 12)]);
        assert_eq!(lowered([1_800, 400, 400]), [(11, 17), (12, 17)]);
    }

    #[test]
    fn what_was_used_is_forgotten() {
        let (mut state, now) = (State::default(), Duration::from_secs(1));
        assert_eq!(state.charge(EVE, Duration::from_secs(3), now), BASE + 12);
        assert_eq!(state.charge(EVE, Duration::ZERO, now + HALF_LIFE), BASE + 7);
        assert_eq!(state.charge(EVE, Duration::ZERO, now + 2 * HALF_LIFE), BASE + 3);
        assert_eq!(state.charge(EVE, Duration::ZERO, now + 3 * HALF_LIFE), BASE);
        state.measure(now + 20 * HALF_LIFE);
        assert!(state.accounts.is_empty());
    }

    #[test]
    fn a_thread_that_works_uses_time() {
        let clock = SchedulerFile::of_current_thread();
        let begun = clock.time();
        let until = Instant::now() + Duration::from_secs(60);
        while clock.time() < begun + Duration::from_millis(20) {
            assert!(Instant::now() < until, "it stands still");
        }
    }

    #[test]
    fn work_that_goes_on_is_lowered_and_work_of_others_is_not() {
        let threads = PriorityThreads::new();
        threads.0.lock().charge(EVE, Duration::from_secs(60), Duration::ZERO);
        let niceness = |holder: Holder| {
            let (sender, receiver) = channel();
            let job = move || {
                let own = rustix::process::getpriority_process(None);
                sender.send(own.expect("it can be read")).expect("the test waits");
            };
            threads.start(holder, Box::new(job)).expect("there is a thread");
            receiver.recv().expect("it is done")
        };
        for _ in 0..3 {
            assert_eq!(niceness(ADA), BASE);
            assert_eq!(niceness(EVE), BASE + 12);
        }
    }

    #[test]
    fn jobs_of_a_caller_who_used_much_time_wait_until_few_threads_compute() {
        let (mut state, now) = (State::default(), Duration::from_secs(1));
        state.charge(EVE, Duration::from_secs(60), now);
        state.waiting = (0..4).map(|_| waiting(EVE)).collect();
        let clock = Arc::<SetClock>::default();
        let at_work = |computes| AtWork {
            holder: EVE,
            clock: Arc::clone(&clock) as Arc<dyn ThreadClock>,
            counted: Duration::ZERO,
            niceness: BASE + 12,
            computes,
        };
        let [one, two] = [11, 12].map(|number| Pid::from_raw(number).expect("no zero"));
        state.at_work.extend([(one, at_work(true)), (two, at_work(true))]);
        assert_eq!(state.due(2, now).len(), 0, "two compute");
        clock.0.store(3, Ordering::Relaxed);
        state.measure(now);
        assert_eq!(state.due(2, now).len(), 0, "they want processors");
        clock.0.store(4, Ordering::Relaxed);
        state.measure(now);
        assert_eq!(state.due(2, now).len(), 2, "they wait for their clients");
        assert_eq!(state.due(2, now).len(), 0, "two begin");
        state.has_started(EVE);
        assert_eq!(state.due(2, now).len(), 1);
        state.charge(ADA, Duration::from_secs(60), now);
        state.waiting.push_back(waiting(ADA));
        let due = state.due(2, now);
        assert_eq!(due.iter().map(|(_, work)| work.0).collect::<Vec<_>>(), [ADA], "no thread yet");
        let forgotten = state.due(2, now + 20 * HALF_LIFE);
        assert_eq!(forgotten.iter().map(|(niceness, _)| *niceness).collect::<Vec<_>>(), [BASE]);
        assert_eq!(state.starting, [EVE, EVE, ADA], "its thread has the priority of all");
    }

    #[test]
    fn a_sign_in_does_not_wait_for_other_work_of_its_caller() {
        let threads = PriorityThreads::new();
        threads.0.lock().charge(EVE, Duration::from_secs(60), Duration::ZERO);
        let many = vec![EVE; 2 * threads.0.processors];
        threads.0.lock().starting.extend(many);
        let (sender, receiver) = channel();
        let niceness = move || rustix::process::getpriority_process(None).expect("it can be read");
        let job = move || sender.send(niceness()).expect("the test waits");
        threads.start(EVE, Box::new(|| panic!("this has to wait"))).expect("it can wait");
        threads.start_at_once(EVE, Box::new(job)).expect("there is a thread");
        assert_eq!(receiver.recv(), Ok(BASE + 12));
        assert_eq!(threads.0.lock().waiting.len(), 1);
    }

    #[test]
    fn all_jobs_of_a_caller_who_used_much_time_run() {
        let threads = PriorityThreads::new();
        threads.0.lock().charge(EVE, Duration::from_secs(60), Duration::ZERO);
        let (sender, receiver) = channel();
        for _ in 0..3 * threads.0.processors {
            let sender = sender.clone();
            threads
                .start(EVE, Box::new(move || sender.send(()).expect("the test waits")))
                .expect("it can wait");
        }
        drop(sender);
        assert_eq!(receiver.iter().count(), 3 * threads.0.processors);
    }

    #[test]
    fn work_begins_when_it_is_ready() {
        let threads = PriorityThreads::new();
        let (sender, receiver) = channel();
        let asked = Arc::new(AtomicU64::new(0));
        let is_ready = move || asked.fetch_add(1, Ordering::Relaxed) == 2;
        let job = move || sender.send(()).expect("the test waits");
        threads.start_when(ADA, Box::new(is_ready), Box::new(job)).expect("it can wait");
        assert_eq!(threads.0.lock().waiting.len(), 1);
        receiver.recv().expect("it is done");
        assert!(threads.0.lock().waiting.is_empty());
    }

    #[test]
    fn a_panic_ends_the_work_and_the_next_is_done() {
        let threads = PriorityThreads::new();
        threads.start(ADA, Box::new(|| panic!("as a library may"))).expect("there is a thread");
        let (sender, receiver) = channel();
        let job = move || sender.send(()).expect("the test waits");
        threads.start(ADA, Box::new(job)).expect("there is a thread");
        receiver.recv().expect("it is done");
        let until = Instant::now() + Duration::from_secs(10);
        while !threads.0.lock().at_work.is_empty() {
            assert!(Instant::now() < until);
            thread::sleep(Duration::from_millis(1));
        }
    }
}
