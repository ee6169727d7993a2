//! Work that goes on beside serving.

mod deliveries;
mod desk;

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::build::silence;
use hexforge_application::delivery;
use hexforge_application::error::Error;
use hexforge_application::member::expiry;
use hexforge_application::push;
use hexforge_application::repository::task;
use hexforge_domain::ports::payloads::Payloads;

use deliveries::Deliveries;
pub use desk::Desk;

/// Threads that do what is due at once and then again and again. They stop when this is dropped, each after
/// what it is at.
pub struct Workers(Vec<Worker>, Deliveries);

struct Worker {
    /// Nothing is ever sent: the end of the sender tells the thread to stop.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Whether there may be more to do.
enum Round {
    More,
    Done,
}

impl Workers {
    /// Starts all of them.
    pub fn start(app: &App, payloads: Arc<dyn Payloads>, desk: Arc<Desk>) -> Result<Self> {
        let workers = vec![
            // What has expired gives nothing meanwhile, so nobody waits for this.
            Worker::start("expiry", Duration::from_secs(5 * 60), end_memberships(app.clone()))?,
            Worker::start("settling", Duration::from_secs(60), settle(app.clone()))?,
            // Nobody is shown artifacts that have expired, and silence is counted in hours.
            Worker::start("builds", Duration::from_secs(5 * 60), tend_builds(app.clone()))?,
            Worker::start("repositories", Duration::from_secs(1), work_on_tasks(app.clone()))?,
            Worker::start("pruning", Duration::from_secs(5 * 60), prune(app.clone()))?,
        ];
        Ok(Self(workers, Deliveries::start(app.clone(), payloads, desk)?))
    }
}

fn end_memberships(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |go_on| {
        let ended = expiry::run(&app, go_on)?;
        if ended > 0 {
            tracing::info!(ended, "memberships ended by their day");
        }
        Ok(Round::Done)
    }
}

/// Records changes of repositories that a process left unrecorded which is gone.
fn settle(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |_| {
        push::settle_all(&app)?;
        task::forget_settled(&app)?;
        Ok(Round::Done)
    }
}

/// Fails builds of which nothing is heard, and removes artifacts whose time is over.
fn tend_builds(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |go_on| {
        let failed = silence::fail_silent(&app, go_on)?;
        if failed > 0 {
            tracing::info!(failed, "builds failed because nothing was heard of them");
        }
        let removed = silence::remove_expired(&app, go_on)?;
        if removed > 0 {
            tracing::info!(removed, "artifacts removed because their time was over");
        }
        Ok(Round::Done)
    }
}

fn work_on_tasks(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |_| Ok(if task::work(&app)? { Round::More } else { Round::Done })
}

/// Forgets old deliveries to hooks.
fn prune(app: App) -> impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> {
    move |go_on| {
        let removed = delivery::prune(&app, go_on)?;
        if removed > 0 {
            tracing::debug!(removed, "old deliveries of hooks removed");
        }
        Ok(Round::Done)
    }
}

impl Worker {
    /// Starts a thread that rests between its rounds.
    fn start(
        name: &'static str,
        rest: Duration,
        mut round: impl FnMut(&dyn Fn() -> bool) -> Result<Round, Error> + Send + 'static,
    ) -> Result<Self> {
        let (running, stopped) = mpsc::channel::<()>();
        let work = move || {
            loop {
                let go_on = || matches!(stopped.try_recv(), Err(TryRecvError::Empty));
                let pause = match round(&go_on) {
                    Ok(Round::More) => Duration::ZERO,
                    Ok(Round::Done) => rest,
                    Err(error) => {
                        tracing::warn!(name, %error, "work in the background failed, later again");
                        rest
                    }
                };
                if stops_within(&stopped, pause) {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
        let thread = thread.with_context(|| format!("the thread `{name}` cannot be started"))?;
        Ok(Self { running: Some(running), thread: Some(thread) })
    }
}

fn stops_within(stopped: &Receiver<()>, pause: Duration) -> bool {
    match stopped.recv_timeout(pause) {
        Err(RecvTimeoutError::Timeout) => false,
        Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // All are told before any is waited for.
        self.1.close();
        for worker in &mut self.0 {
            drop(worker.running.take());
        }
        for worker in &mut self.0 {
            if let Some(thread) = worker.thread.take() {
                // What it panicked of was reported when it did.
                let _ = thread.join();
            }
        }
    }
}
