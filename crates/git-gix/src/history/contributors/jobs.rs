//! Counts in the background: a few at once, one for each repository.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gix::ObjectId;
use hexforge_domain::limiter::{Caller, FairQueue};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Contributors;

use super::count::{self, Ended, Watch};
use super::{Answers, CountedRepository};
use crate::background;

/// Counts that run at once.
const WORKERS: usize = 2;
/// Repositories that may wait for a worker, in all and of one caller.
const LONGEST_QUEUE: usize = 1000;
const QUEUE_OF_ONE: usize = 50;
/// How long a count runs before it makes way for others, and for a newer tip of its own.
const TURN: Duration = Duration::from_secs(30);

/// All counts of a process. Those that run are stopped when it is dropped.
pub(crate) struct Jobs(Arc<Shared>);

struct Shared {
    answers: Arc<Answers>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Running and waiting ones by the folder of their repository.
    jobs: HashMap<PathBuf, Arc<Job>>,
    /// Callers take turns: one with many large repositories does not keep the others waiting.
    waiting: FairQueue<Caller, Arc<Job>>,
    workers: usize,
    stopped: bool,
}

/// The count of one repository.
pub(crate) struct Job {
    /// Who asked first.
    caller: Caller,
    repository: CountedRepository,
    progress: Mutex<Progress>,
    changed: Condvar,
}

struct Progress {
    /// The commit that was asked for last.
    wanted: ObjectId,
    so_far: Arc<Contributors>,
    /// The commit that was counted last, and how that went.
    counted: Option<(ObjectId, Result<Arc<Contributors>, Failure>)>,
    /// Nobody works on it any more.
    is_over: bool,
}

/// Why it was not counted, for each who waits.
#[derive(Clone)]
enum Failure {
    Corrupt(String),
    Failed(String),
}

/// Nothing is left half done when a holder panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    pub(crate) fn new(answers: Arc<Answers>) -> Self {
        Self(Arc::new(Shared { answers, state: Mutex::default() }))
    }

    /// Has a commit counted, by the job that counts in its repository already if there is one. `None` when
    /// too many repositories are waiting, or too many of this caller.
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
        if waiting.len() >= LONGEST_QUEUE || waiting.len_of(caller) >= QUEUE_OF_ONE {
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
                    tracing::warn!(%error, "no thread to count with");
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
    /// Takes jobs until none is left.
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
            let turn = Turn { shared: self, job: &job, tip };
            let counted = catch_unwind(AssertUnwindSafe(|| {
                count::bring_up_to(&job.repository.repository, tip, &turn)
            }));
            let result = match counted {
                Ok(Ok((Ended::Complete, stored))) => {
                    Some(Ok(Arc::new(stored.totals.contributors(true))))
                }
                Ok(Ok((Ended::Paused, _))) => None,
                Ok(Err(error)) => Some(Err(Failure::from(error))),
                Err(_) => Some(Err(Failure::Failed("the count was aborted".to_owned()))),
            };
            self.settle(&job, tip, result);
        }
    }

    /// Tells those who wait, and sees whether there is more to do.
    fn settle(
        &self,
        job: &Arc<Job>,
        tip: ObjectId,
        result: Option<Result<Arc<Contributors>, Failure>>,
    ) {
        let mut state = lock(&self.state);
        let mut progress = lock(&job.progress);
        let go_on = match &result {
            Some(Ok(answer)) => {
                self.answers.insert(tip, Arc::clone(answer));
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

/// What a count is told while it runs.
struct Turn<'a> {
    shared: &'a Shared,
    job: &'a Job,
    tip: ObjectId,
}

impl Watch for Turn<'_> {
    fn report(&self, so_far: Contributors) {
        lock(&self.job.progress).so_far = Arc::new(so_far);
    }

    fn pause(&self, running: Duration) -> bool {
        let state = lock(&self.shared.state);
        let others = !state.waiting.is_empty() || lock(&self.job.progress).wanted != self.tip;
        state.stopped || (others && running > TURN)
    }
}

impl Job {
    /// Waits until a commit is counted, but not for ever: then what is counted is the answer.
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
