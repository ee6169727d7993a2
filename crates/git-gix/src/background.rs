//! Background threads for work that no request waits for, or only for a short time.

use std::io;
use std::thread;

use rustix::process::setpriority_process;
use rustix::thread::gettid;

/// The niceness of a background thread, if it has not inherited a higher one.
const NICENESS: i32 = 12;

/// Starts a thread with a lower priority than the threads that serve requests.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let run = move || {
        // On other systems this would lower the priority of the whole process.
        if cfg!(target_os = "linux")
            && let Err(error) = setpriority_process(Some(gettid()), NICENESS)
        {
            tracing::debug!(%error, "the priority of a background thread cannot be lowered");
        }
        work();
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}
