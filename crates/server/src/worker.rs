//! Background work of the server process.

mod deliveries;
mod signals;
mod silence;

use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::build;
use hexforge_application::delivery;
use hexforge_application::error::Error;
use hexforge_application::member;
use hexforge_application::repository::packs;
use hexforge_application::repository::task::{self, Outcome, TaskFilter};
use hexforge_application::{browser_session, removal, session};
use hexforge_domain::id::RepositoryTaskId;
use hexforge_domain::ports::payloads::Payloads;

use crate::storage::CacheKeeper;
use crate::system::MaintenanceQueue;
use deliveries::Deliveries;
pub use signals::Signals;
use silence::SilenceWatch;

/// How long the threads may take to stop at shutdown. An interrupted task is repeated later.
const GRACE: Duration = Duration::from_secs(10);

/// The number of threads for imports. They wait for other servers most of the time.
const IMPORTING: usize = 8;

/// Background threads that repeat their work in intervals. Dropping this stops them: each finishes
/// its current round, within a time limit.
pub struct Workers {
    app: App,
    workers: Vec<Worker>,
    /// `None` in a process that leaves deliveries to other processes.
    deliveries: Option<Deliveries>,
}

struct Worker {
    name: &'static str,
    /// No message is sent: dropping the sender tells the thread to stop.
    running: Option<Sender<()>>,
    /// No message is sent: the sender is dropped when the thread has ended.
    ended: Receiver<()>,
    task: Current,
}

/// The task that a thread works on.
type Current = Arc<Mutex<Option<RepositoryTaskId>>>;

/// Whether a round left more work.
enum Round {
    More,
    /// There is more work after a pause, in which other writers have their turn.
    After(Duration),
    Done,
}

impl Workers {
    /// Starts the threads for work that only this process can do: on its own data folder, and on
    /// repositories that it changed.
    pub fn start(
        app: &App,
        maintenance: Arc<MaintenanceQueue>,
        cache: Option<CacheKeeper>,
    ) -> Result<Self> {
        let mut workers = vec![
            Worker::start("tending", SHORT, maintain_repositories(app.clone(), maintenance))?,
            Worker::start("tidying", DAY, remove_leftovers(app.clone()))?,
        ];
        if let Some(cache) = cache {
            workers.push(Worker::start("caching", Duration::from_secs(2), trim_cache(cache))?);
        }
        Ok(Self { app: app.clone(), workers, deliveries: None })
    }

    /// Also starts the threads for work that any process of the installation can do.
    pub fn with_shared_work(
        mut self,
        payloads: Arc<dyn Payloads>,
        signals: Arc<Signals>,
    ) -> Result<Self> {
        let (app, hour) = (&self.app, Duration::from_secs(60 * 60));
        self.workers.extend([
            // An expired membership grants nothing, so no request waits for this.
            Worker::start("expiry", Duration::from_secs(5 * 60), end_memberships(app.clone()))?,
            // Expired artifacts are hidden from requests. People wait for the end of a build whose runner died.
            Worker::start("builds", Duration::from_secs(10), clean_up_builds(app.clone()))?,
            Worker::start(
                "pruning",
                Duration::from_secs(5 * 60),
                remove_old_deliveries(app.clone()),
            )?,
            // A removed object is hidden from requests at once, so no request waits for this.
            Worker::start("removing", Duration::from_secs(1), finish_removals(app.clone()))?,
            Worker::start("sessions", DAY, end_sessions(app.clone()))?,
            Worker::start("sweeping", hour, remove_unused_packs(app.clone()))?,
            Worker::start_on_tasks("repositories", Duration::from_secs(1), TaskFilter::Local, app)?,
        ]);
        for _ in 0..IMPORTING {
            // Each poll for tasks is a write transaction, so the interval is longer.
            let rest = Duration::from_secs(3);
            self.workers.push(Worker::start_on_tasks("imports", rest, TaskFilter::All, app)?);
        }
        let running = self.workers.iter().map(|worker| Arc::clone(&worker.task)).collect();
        let leases = extend_leases(app.clone(), running);
        self.workers.push(Worker::start("leases", Duration::from_secs(15), leases)?);
        self.deliveries = Some(Deliveries::start(app.clone(), payloads, signals)?);
        Ok(self)
    }
}

fn end_memberships(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |go_on| {
        let ended = member::expiry::run(&app, go_on)?;
        if ended > 0 {
            tracing::info!(ended, "expired memberships ended");
        }
        Ok(Round::Done)
    }
}

/// Fails builds whose runner stays silent, and removes expired artifacts.
fn clean_up_builds(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    let mut watch = SilenceWatch::start(Instant::now(), app.clock.now());
    move |go_on| {
        let watched = watch.elapsed(Instant::now(), app.clock.now());
        let acknowledge = build::expiry::acknowledge_within(&app).to_std().unwrap_or_default();
        if watched > acknowledge {
            let returned = build::expiry::requeue_lost_builds(&app)?;
            if returned > 0 {
                tracing::info!(returned, "builds that no runner acknowledged wait again");
            }
        }
        let silence = app.settings.runner_silence.to_std().unwrap_or_default();
        let failed = match watched > silence {
            true => build::expiry::fail_silent_builds(&app, go_on)?,
            false => 0,
        };
        if failed > 0 {
            tracing::info!(failed, "builds failed because their runners did not report");
        }
        let removed = build::expiry::remove_expired_artifacts(&app, go_on)?;
        if removed > 0 {
            tracing::info!(removed, "expired artifacts removed");
        }
        Ok(Round::Done)
    }
}

/// The shortest pause between two steps, so that other writers have their turn.
const SHORT: Duration = Duration::from_millis(10);

/// Removes the remaining rows and files of removed projects, groups and users, in steps. Pauses as
/// long as each step took.
fn finish_removals(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |_| {
        let begun = Instant::now();
        let more = removal::step(&app)?;
        Ok(if more { Round::After(begun.elapsed().max(SHORT)) } else { Round::Done })
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes files that interrupted work left behind.
fn remove_leftovers(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    // The first round is skipped, because the server removes them when it starts.
    let mut is_first = true;
    move |_| {
        if !std::mem::take(&mut is_first) {
            removal::remove_leftovers(&app)?;
        }
        Ok(Round::Done)
    }
}

/// Removes ended sessions.
fn end_sessions(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |go_on| {
        let removed =
            session::remove_ended(&app, go_on)? + browser_session::remove_ended(&app, go_on)?;
        if removed > 0 {
            tracing::info!(removed, "expired sessions removed");
        }
        Ok(Round::Done)
    }
}

/// Removes packs that no repository uses any more.
fn remove_unused_packs(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |go_on| {
        let removed = packs::sweep(&app, go_on)?;
        if removed > 0 {
            tracing::info!(removed, "packs removed that no repository uses");
        }
        Ok(Round::Done)
    }
}

/// Evicts packs from the cache when it is too large.
fn trim_cache(cache: CacheKeeper) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |_| {
        cache.trim();
        Ok(Round::Done)
    }
}

/// How long the maintenance thread waits for a repository before it checks whether to stop.
const UPKEEP_WAIT: Duration = Duration::from_millis(500);

/// Runs the maintenance of repositories that changed.
fn maintain_repositories(
    app: App,
    queue: Arc<MaintenanceQueue>,
) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |_| {
        let Some(project) = queue.next(UPKEEP_WAIT) else { return Ok(Round::Done) };
        // The next change queues the repository again. The project may have been removed meanwhile.
        if let Err(error) = packs::maintain(&app, project) {
            tracing::warn!(%project, %error, "the maintenance of a repository failed");
        }
        Ok(Round::Done)
    }
}

fn work_on_tasks(
    app: App,
    filter: TaskFilter,
    current: Current,
) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |_| {
        let Some(task) = task::claim(&app, filter)? else { return Ok(Round::Done) };
        let (id, project) = (task.id, task.project);
        let running = Running::new(&current, id);
        let outcome = task::run_claimed(&app, task);
        drop(running);
        match outcome? {
            Outcome::Done => (),
            Outcome::Postponed(reason) => {
                tracing::info!(%id, %project, reason, "a repository task failed; retried later");
            }
            Outcome::GivenUp(reason) => {
                tracing::warn!(%id, %project, reason, "a repository task failed; not retried");
            }
        }
        Ok(Round::More)
    }
}

/// Extends the leases of the tasks that the threads of this process work on.
fn extend_leases(
    app: App,
    running: Vec<Current>,
) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |_| {
        for id in running.iter().filter_map(current_task) {
            task::extend(&app, id)?;
        }
        Ok(Round::Done)
    }
}

fn current_task(current: &Current) -> Option<RepositoryTaskId> {
    *current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks a task as the current one of a thread until it is dropped, also by a panic.
struct Running<'a>(&'a Current);

impl<'a> Running<'a> {
    fn new(current: &'a Current, id: RepositoryTaskId) -> Self {
        *current.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
        Self(current)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Removes old hook deliveries.
fn remove_old_deliveries(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |go_on| {
        let removed = delivery::prune(&app, go_on)?;
        if removed > 0 {
            tracing::debug!(removed, "old hook deliveries removed");
        }
        Ok(Round::Done)
    }
}

impl Worker {
    fn start_on_tasks(
        name: &'static str,
        rest: Duration,
        filter: TaskFilter,
        app: &App,
    ) -> Result<Self> {
        let current = Current::default();
        let round = work_on_tasks(app.clone(), filter, Arc::clone(&current));
        let worker = Worker::start(name, rest, round)?;
        Ok(Self { task: current, ..worker })
    }

    /// Starts a thread that pauses between its rounds.
    fn start(
        name: &'static str,
        rest: Duration,
        mut round: impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> + Send + 'static,
    ) -> Result<Self> {
        let (running, stopped) = mpsc::channel::<()>();
        let (end, ended) = mpsc::channel::<()>();
        let work = move || {
            let _end = end;
            loop {
                let go_on = || matches!(stopped.try_recv(), Err(TryRecvError::Empty));
                // The panic hook has already logged the panic.
                let done = panic::catch_unwind(AssertUnwindSafe(|| round(&go_on)));
                let pause = match done {
                    Ok(Ok(Round::More)) => Duration::ZERO,
                    Ok(Ok(Round::After(pause))) => pause,
                    Ok(Ok(Round::Done)) => rest,
                    Ok(Err(error)) => {
                        tracing::warn!(name, %error, "background work failed and is retried later");
                        rest.min(REST_AFTER_FAILURE)
                    }
                    Err(_) => {
                        tracing::error!(name, "background work panicked and is retried later");
                        rest.min(REST_AFTER_FAILURE)
                    }
                };
                if stops_within(&stopped, pause) {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
        thread.with_context(|| format!("the thread `{name}` cannot be started"))?;
        Ok(Self { name, running: Some(running), ended, task: Current::default() })
    }
}

/// The longest pause after a failure.
const REST_AFTER_FAILURE: Duration = Duration::from_secs(5 * 60);

fn stops_within(stopped: &Receiver<()>, pause: Duration) -> bool {
    match stopped.recv_timeout(pause) {
        Err(RecvTimeoutError::Timeout) => false,
        Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // All threads are told to stop before the first is waited for.
        if let Some(deliveries) = &self.deliveries {
            deliveries.close();
        }
        self.app.imports.stop();
        for worker in &mut self.workers {
            drop(worker.running.take());
        }
        let until = Instant::now() + GRACE;
        for worker in &self.workers {
            let left = until.saturating_duration_since(Instant::now());
            if worker.ended.recv_timeout(left) == Err(RecvTimeoutError::Disconnected) {
                continue;
            }
            // The thread ends with the process; another process repeats its task.
            tracing::warn!(name = worker.name, "background work did not stop in time");
            let task = current_task(&worker.task);
            if let Some(Err(error)) = task.map(|task| task::release(&self.app, task)) {
                tracing::warn!(%error, "an interrupted repository task is retried late");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_panic_does_not_end_the_thread() {
        let rounds = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&rounds);
        let worker = Worker::start("test", Duration::from_millis(1), move |_| {
            match counted.fetch_add(1, Ordering::SeqCst) {
                0 => panic!("as a library may"),
                _ => Ok(Round::Done),
            }
        });
        let mut worker = worker.expect("a thread can be started");
        let until = Instant::now() + Duration::from_secs(20);
        while rounds.load(Ordering::SeqCst) < 3 && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(rounds.load(Ordering::SeqCst) >= 3);
        drop(worker.running.take());
        let ended = worker.ended.recv_timeout(Duration::from_secs(20));
        assert_eq!(ended, Err(RecvTimeoutError::Disconnected));
    }
}
