//! The port to worker threads.

use std::fmt::Debug;
use std::io;
use std::time::Duration;

use crate::limiter::Holder;

/// A unit of work that runs once.
pub type Job = Box<dyn FnOnce() + Send>;

/// A function that returns whether a job may start. It is called repeatedly until it returns true.
pub type ReadyCheck = Box<dyn Fn() -> bool + Send>;

/// Starts threads for work that keeps a processor busy or waits for a slow client. Short requests use other threads.
pub trait WorkThreads: Debug + Send + Sync {
    /// Starts a job on its own thread. The job may be delayed if the holder recently used much processor time, so that
    /// the jobs of other holders are not delayed.
    /// # Errors
    /// When the system cannot create a thread.
    fn start(&self, holder: Holder, job: Job) -> io::Result<()>;

    /// Like [`start`](Self::start), but the job waits until `is_ready` returns true.
    /// # Errors
    /// When the system cannot create a thread.
    fn start_when(&self, holder: Holder, _is_ready: ReadyCheck, job: Job) -> io::Result<()> {
        self.start(holder, job)
    }

    /// Starts a job that is never delayed. Callers have to limit the number of such jobs with permits.
    /// # Errors
    /// When the system cannot create a thread.
    fn start_at_once(&self, holder: Holder, job: Job) -> io::Result<()> {
        self.start(holder, job)
    }

    /// Declares that the current thread handles short requests from now on.
    fn mark_as_request_thread(&self) {}

    /// Declares that the current thread serves connections from now on.
    fn mark_as_connection_thread(&self) {}

    /// Returns whether threads that serve connections or handle requests recently had to wait for a processor.
    fn are_processors_busy(&self) -> bool {
        false
    }

    /// Returns the processor time that the current thread has used.
    fn current_thread_time(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the processor time of work that ended just now on the current thread and took this long. It costs less
    /// than two calls of [`current_thread_time`](Self::current_thread_time), but for short work it may return the
    /// elapsed time, which is longer.
    fn time_of_work(&self, _elapsed: Duration) -> Duration {
        Duration::ZERO
    }
}
