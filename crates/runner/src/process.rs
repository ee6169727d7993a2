//! Runs commands under a [`supervisor`], with their output as a stream of bytes.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper,
    set_dumpable_behavior, waitpid,
};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::Error;
use crate::supervisor::{self, Spec};

/// How long a supervisor has to end everything.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the rest of the output is waited for after the end of the supervisor.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// How long processes are looked for that a killed supervisor left.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(5);

/// The running supervisors of this process.
static SUPERVISORS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

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
    /// Its supervisor was killed, and then everything that was left of it.
    Lost,
}

/// Prepares this process for builds: the processes of a supervisor that a build killed come to this process, which
/// kills them. Builds of the same user cannot read its memory and environment.
pub fn prepare() {
    for prepared in
        [set_child_subreaper(Some(getpid())), set_dumpable_behavior(DumpableBehavior::NotDumpable)]
    {
        if let Err(error) = prepared {
            tracing::warn!(%error, "this system protects the runner less from its builds than others do");
        }
    }
}

fn supervisors() -> MutexGuard<'static, BTreeSet<i32>> {
    SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner)
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
        // An unregistered supervisor would be taken for a left process.
        let mut running = supervisors();
        let child = command.spawn().map_err(failed)?;
        running.insert(Pid::from_child(&child).as_raw_nonzero().get());
        child
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
    let mut ended = spawn_blocking(move || wait_for(child));
    let reason = tokio::select! {
        status = &mut ended => match status.ok().flatten() {
            Some(status) if status.signal().is_some() => Ended::Lost,
            status => Ended::Exited(
                status.and_then(|status| status.code()).unwrap_or(supervisor::CANNOT_START.into()),
            ),
        },
        () = sleep_until(deadline) => Ended::TimedOut,
        () = stopped(stop) => Ended::Stopped,
    };
    // Tells the supervisor to kill everything.
    drop(lifeline);
    match reason {
        Ended::Exited(_) | Ended::Lost => (),
        Ended::TimedOut | Ended::Stopped => {
            if timeout(STOP_TIMEOUT, &mut ended).await.is_err() {
                // A build may have stopped it by a signal.
                tracing::error!("a supervisor did not end its processes in time and is killed");
                let _ = kill_process(pid, Signal::KILL);
                let _ = ended.await;
            }
        }
    }
    if timeout(DRAIN_TIMEOUT, drained).await.is_err() {
        tracing::warn!("a process that left its build keeps the output open");
    }
    is_open.store(false, Ordering::Relaxed);
    Ok(reason)
}

/// Waits for the end of a supervisor. If it was killed or panicked, kills the processes that it left.
fn wait_for(mut child: Child) -> Option<ExitStatus> {
    let pid = Pid::from_child(&child).as_raw_nonzero().get();
    let status = child.wait().ok();
    supervisors().remove(&pid);
    let is_abnormal = |status: ExitStatus| status.signal().is_some() || status.code() == Some(101);
    if status.is_none_or(is_abnormal) {
        kill_orphans();
    }
    status
}

/// Kills the children of this process that are not supervisors, and everything below them. They came here because their
/// supervisor was killed.
fn kill_orphans() {
    let since = std::time::Instant::now();
    // Meanwhile no supervisor is started.
    let running = supervisors();
    while since.elapsed() < ORPHAN_TIMEOUT {
        let mut children = supervisor::children();
        let own = children.remove(&getpid().as_raw_nonzero().get()).unwrap_or_default();
        let orphans: Vec<i32> = own.into_iter().filter(|pid| !running.contains(pid)).collect();
        if orphans.is_empty() {
            return;
        }
        for pid in supervisor::with_descendants(&mut children, orphans.clone()) {
            let _ = kill_process(pid, Signal::KILL);
        }
        for pid in orphans.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    tracing::error!("processes of a build whose supervisor was killed are left");
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
