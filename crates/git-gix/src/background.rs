//! Threads for work that nobody waits for, or not for long.

use std::io;
use std::thread;

use rustix::process::setpriority_process;
use rustix::thread::gettid;

/// The niceness of such a thread, if it has not inherited a higher one.
const NICENESS: i32 = 12;

/// Starts a thread that steps back behind those that answer calls.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let run = move || {
        // Elsewhere than on Linux the whole process would be lowered.
        if cfg!(target_os = "linux")
            && let Err(error) = setpriority_process(Some(gettid()), NICENESS)
        {
            tracing::debug!(%error, "a thread keeps its priority");
        }
        work();
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}
