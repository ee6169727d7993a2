//! The port to threads and processors.

use std::fmt::Debug;
use std::io;
use std::time::Duration;

use crate::limiter::Holder;

/// Work that is done once.
pub type Job = Box<dyn FnOnce() + Send>;

/// Tells whether work may begin. It is asked again until it says so.
pub type Ready = Box<dyn Fn() -> bool + Send>;

/// Threads for work that keeps a processor busy or waits for a slow client. Short calls have other threads.
pub trait WorkThreads: Debug + Send + Sync {
    /// Starts work on a thread of its own. What the work of a holder has cost lately may delay it, so that the work of
    /// others is not delayed.
    /// # Errors
    /// When the system has no thread for it.
    fn start(&self, holder: Holder, job: Job) -> io::Result<()>;

    /// The same for work that has to wait until it is ready.
    /// # Errors
    /// When the system has no thread for it.
    fn start_when(&self, holder: Holder, _is_ready: Ready, job: Job) -> io::Result<()> {
        self.start(holder, job)
    }

    /// Starts work that is never delayed. Permits have to limit how much there is of it.
    /// # Errors
    /// When the system has no thread for it.
    fn start_at_once(&self, holder: Holder, job: Job) -> io::Result<()> {
        self.start(holder, job)
    }

    /// Says that the current thread answers short calls from now on.
    fn answer_calls(&self) {}

    /// Says that the current thread serves connections from now on.
    fn serve_connections(&self) {}

    /// Returns whether threads that serve connections or answer calls had to wait for a processor lately.
    fn are_processors_busy(&self) -> bool {
        false
    }

    /// Returns the processor time that the current thread has used.
    fn time_of_current_thread(&self) -> Duration {
        Duration::ZERO
    }
}
