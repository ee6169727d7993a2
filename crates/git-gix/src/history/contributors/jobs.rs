//! Runs counts in the background: two at a time, and one per repository.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gix::ObjectId;
use hexforge_domain::limiter::{Caller, FairQueue};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Contributors;

use super::count::{self, CountObserver, CountOutcome};
use super::{ContributorCache, CountedRepository};
use crate::background;

/// The maximum number of concurrent counts.
const WORKERS: usize = 2;
/// The maximum number of repositories in the queue, in total and per caller.
const LONGEST_QUEUE: usize = 1000;
const LONGEST_QUEUE_OF_CALLER: usize = 50;
/// The time after which a count yields to other counts, or to a newer tip of its own repository.
const LONGEST_TURN: Duration = Duration::from_secs(30);

/// All counts of a process. Dropping it stops the running ones.
pub(crate) struct Jobs(Arc<Shared>);

struct Shared {
    cache: Arc<ContributorCache>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Running and queued jobs by the folder of their repository.
    jobs: HashMap<PathBuf, Arc<Job>>,
    /// A fair queue: a caller with many large repositories does not delay the others.
    waiting: FairQueue<Caller, Arc<Job>>,
    workers: usize,
    stopped: bool,
}

/// The count of one repository.
pub(crate) struct Job {
    /// The first caller who requested the count.
    caller: Caller,
    repository: CountedRepository,
    progress: Mutex<Progress>,
    changed: Condvar,
}

struct Progress {
    /// The tip that was requested last.
    wanted: ObjectId,
    so_far: Arc<Contributors>,
    /// The tip that was counted last, and the result.
    counted: Option<(ObjectId, Result<Arc<Contributors>, Failure>)>,
    /// The job is finished and no longer in the queue.
    is_over: bool,
}

/// The error of a failed count. Each waiting request gets a copy.
#[derive(Clone)]
enum Failure {
    Corrupt(String),
    Failed(String),
}

/// Locks a mutex. Poisoning is ignored, because the state is consistent even when a holder panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    pub(crate) fn new(cache: Arc<ContributorCache>) -> Self {
        Self(Arc::new(Shared { cache, state: Mutex::default() }))
    }

    /// Requests the count of a commit. A job that already runs for the repository takes the new tip. Returns `None`
    /// when the queue is full, in total or for this caller.
    pub(crate) fn start(
        &self,
        repository: CountedRepository,
        tip: ObjectId,
        so_far: &Arc<Contributors>,
        caller: Caller,
    ) -> Option<Arc<Job>> {
        let mut state = lock(&self.0.state);
        if let Some(job) = state.jobs.get(repository.path()) {
            lock(&job.progress).wanted = tip;
            return Some(Arc::clone(job));
        }
        let waiting = &state.waiting;
        if waiting.len() >= LONGEST_QUEUE || waiting.len_of(caller) >= LONGEST_QUEUE_OF_CALLER {
            return None;
        }
        let path = repository.path().to_owned();
        let job = Arc::new(Job {
            caller,
            repository,
            progress: Mutex::new(Progress {
                wanted: tip,
                so_far: Arc::clone(so_far),
                counted: None,
                is_over: false,
            }),
            changed: Condvar::new(),
        });
        if state.workers < WORKERS {
            let shared = Arc::clone(&self.0);
            match background::spawn("contributors", move || shared.work()) {
                Ok(()) => state.workers += 1,
                Err(error) if state.workers == 0 => {
                    tracing::warn!(%error, "a thread to count contributors could not be started");
                    return None;
                }
                Err(_) => {}
            }
        }
        state.jobs.insert(path, Arc::clone(&job));
        state.waiting.push(caller, Arc::clone(&job));
        Some(job)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        lock(&self.0.state).stopped = true;
    }
}

impl Shared {
    /// Runs queued jobs until the queue is empty.
    fn work(&self) {
        loop {
            let job = {
                let mut state = lock(&self.state);
                match state.waiting.pop() {
                    Some((_, job)) => job,
                    None => {
                        state.workers -= 1;
                        return;
                    }
                }
            };
            let tip = lock(&job.progress).wanted;
            let observer = JobObserver { shared: self, job: &job, tip };
            let counted = catch_unwind(AssertUnwindSafe(|| {
                count::count_up_to(&job.repository.repository, tip, &observer)
            }));
            let result = match counted {
                Ok(Ok((CountOutcome::Complete, stored))) => {
                    Some(Ok(Arc::new(stored.totals.contributors(true))))
                }
                Ok(Ok((CountOutcome::Paused, _))) => None,
                Ok(Err(error)) => Some(Err(Failure::from(error))),
                Err(_) => Some(Err(Failure::Failed("the count was aborted".to_owned()))),
            };
            self.publish(&job, tip, result);
        }
    }

    /// Publishes the result, and queues the job again if it was paused or a newer tip was requested.
    fn publish(
        &self,
        job: &Arc<Job>,
        tip: ObjectId,
        result: Option<Result<Arc<Contributors>, Failure>>,
    ) {
        let mut state = lock(&self.state);
        let mut progress = lock(&job.progress);
        let go_on = match &result {
            Some(Ok(answer)) => {
                self.cache.insert(tip, Arc::clone(answer));
                progress.so_far =
                    Arc::new(Contributors { complete: false, ..Contributors::clone(answer) });
                progress.wanted != tip
            }
            Some(Err(_)) => false,
            None => true,
        };
        if result.is_some() {
            progress.counted = result.map(|result| (tip, result));
        }
        if go_on && !state.stopped {
            state.waiting.push(job.caller, Arc::clone(job));
        } else {
            progress.is_over = true;
            state.jobs.remove(job.repository.path());
        }
        job.changed.notify_all();
    }
}

/// The observer of one running count.
struct JobObserver<'a> {
    shared: &'a Shared,
    job: &'a Job,
    tip: ObjectId,
}

impl CountObserver for JobObserver<'_> {
    fn report(&self, so_far: Contributors) {
        lock(&self.job.progress).so_far = Arc::new(so_far);
    }

    fn pause(&self, running: Duration) -> bool {
        let state = lock(&self.shared.state);
        let others = !state.waiting.is_empty() || lock(&self.job.progress).wanted != self.tip;
        state.stopped || (others && running > LONGEST_TURN)
    }
}

impl Job {
    /// Waits until a commit is counted. Returns the intermediate result when the time is up.
    pub(crate) fn wait(
        &self,
        tip: ObjectId,
        until: Instant,
    ) -> Result<Arc<Contributors>, GitError> {
        let mut progress = lock(&self.progress);
        loop {
            match &progress.counted {
                Some((counted, Ok(answer))) if *counted == tip => return Ok(Arc::clone(answer)),
                Some((_, Err(failure))) if progress.is_over => return Err(failure.clone().into()),
                _ => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || progress.is_over {
                return Ok(Arc::clone(&progress.so_far));
            }
            let waited = self.changed.wait_timeout(progress, left);
            progress = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Corrupt(reason) => Self::Corrupt(reason),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<Failure> for GitError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Corrupt(reason) => Self::Corrupt(reason),
            Failure::Failed(reason) => Self::Failed(reason),
        }
    }
}
