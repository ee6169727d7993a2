//! Runs commands under a [`supervisor`](crate::supervisor), with their output as a stream of bytes.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::Error;
use crate::supervisor::{self, Spec};

/// How long a supervisor has to end everything.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the rest of the output is waited for after the end of the supervisor.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Receives the output of a command, standard output and error in their order.
pub type Output = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Exited(i32),
    /// It was killed at the deadline.
    TimedOut,
    /// It was killed because `stop` became true.
    Stopped,
}

/// Runs a command until it ends, the deadline passes or `stop` becomes true. No process is left afterwards.
/// # Errors
/// The supervisor cannot be started.
pub async fn run(
    spec: &Spec,
    output: Output,
    deadline: Instant,
    stop: &mut watch::Receiver<bool>,
) -> Result<Ended, Error> {
    if *stop.borrow() {
        return Ok(Ended::Stopped);
    }
    let failed = |error: std::io::Error| {
        Error::step(format!("the supervisor of the build cannot be started: {error}"))
    };
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let mut child = {
        // The program of this process, also after the file was replaced by a newer one.
        let mut command = Command::new("/proc/self/exe");
        command.arg(supervisor::ARGUMENT).env_clear().process_group(0).stdin(Stdio::piped());
        command.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
        command.spawn().map_err(failed)?
    };
    let pid = Pid::from_child(&child);
    let lifeline = child.stdin.take();
    let is_open = Arc::new(AtomicBool::new(true));
    let drained = {
        let is_open = Arc::clone(&is_open);
        spawn_blocking(move || forward(reader, &output, &is_open))
    };
    let spec = spec.clone();
    let sent = spawn_blocking(move || {
        let mut lifeline = lifeline?;
        spec.send(&mut lifeline).ok().map(|()| lifeline)
    });
    let lifeline = sent.await.ok().flatten();
    let mut ended = spawn_blocking(move || child.wait());
    let reason = tokio::select! {
        status = &mut ended => {
            let code = status.ok().and_then(Result::ok).and_then(|status| status.code());
            Ended::Exited(code.unwrap_or(i32::from(supervisor::CANNOT_START)))
        }
        () = sleep_until(deadline) => Ended::TimedOut,
        () = stopped(stop) => Ended::Stopped,
    };
    // Tells the supervisor to kill everything.
    drop(lifeline);
    if !matches!(reason, Ended::Exited(_)) && timeout(STOP_TIMEOUT, &mut ended).await.is_err() {
        tracing::error!("a supervisor did not end its processes in time and is killed");
        let _ = kill_process(pid, Signal::KILL);
    }
    if timeout(DRAIN_TIMEOUT, drained).await.is_err() {
        tracing::warn!("a process that left its build keeps the output open");
    }
    is_open.store(false, Ordering::Relaxed);
    Ok(reason)
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // The sender is gone, so nobody will stop the command.
        std::future::pending::<()>().await;
    }
}

/// Reads the output until its end, or until it is not wanted any more.
fn forward(mut from: std::io::PipeReader, output: &Output, is_open: &AtomicBool) {
    let mut block = vec![0; 64 << 10];
    while let Ok(read) = from.read(&mut block)
        && read > 0
        && is_open.load(Ordering::Relaxed)
    {
        output(&block[..read]);
    }
}
