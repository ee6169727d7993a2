//! `hexforge runner run`: takes builds until it is told to stop.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::api::Api;
use crate::config::{Config, Runner};
use crate::error::Error;
use crate::job::{self, Context, Outcome};
use crate::protocol::Assignment;
use crate::sender::{Pauses, jitter};

/// How long the server may wait for a build before it answers that there is none. The runner takes at most this long
/// to stop while it is idle: an answer that is on its way must not be lost, because it may contain a build.
const WAIT: Duration = Duration::from_secs(4);

/// The pause between two questions to a server that does not wait.
const PAUSE: Duration = Duration::from_millis(900);

/// What `run` needs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration file.
    pub path: PathBuf,
    /// How many builds run at once.
    pub concurrent: usize,
    /// The folder of working copies.
    pub builds_dir: PathBuf,
    /// Whether to end after one build.
    pub once: bool,
}

/// Takes and runs builds until a signal arrives: SIGTERM or SIGINT lets running builds finish, a second one stops them
/// and reports them as failed.
/// # Errors
/// The configuration has no runner, or cannot be used.
pub async fn run(config: Config, settings: Settings) -> Result<(), Error> {
    if config.runners.is_empty() {
        return Err(Error::Config {
            path: settings.path,
            problem: "it has no runner: `hexforge runner register` adds one".into(),
        });
    }
    std::fs::create_dir_all(&settings.builds_dir).map_err(Error::at(&settings.builds_dir))?;
    remove_leftovers(&settings);
    let (drain, draining) = watch::channel(false);
    let (stop, stopping) = watch::channel(false);
    let signals = tokio::spawn(handle_signals(drain.clone(), stop));
    let shared = Arc::new(Shared {
        permits: Arc::new(Semaphore::new(settings.concurrent)),
        slots: Mutex::default(),
        drain,
        once: settings.once,
        // Otherwise a runner that waits would keep the others from asking.
        wait: if settings.concurrent >= config.runners.len() { WAIT } else { Duration::ZERO },
    });
    let mut pollers = JoinSet::new();
    for runner in config.runners {
        let context = Context {
            api: Api::new(&runner.url)?,
            runner,
            builds_dir: settings.builds_dir.clone(),
            config: settings.path.clone(),
        };
        tracing::info!(
            runner = context.runner.name,
            url = context.runner.url,
            "waiting for builds"
        );
        pollers.spawn(poll(context, Arc::clone(&shared), draining.clone(), stopping.clone()));
    }
    while pollers.join_next().await.is_some() {}
    signals.abort();
    Ok(())
}

/// Removes the private folders of builds that an earlier process did not finish.
fn remove_leftovers(settings: &Settings) {
    let folder = settings.builds_dir.join("tmp");
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let age = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|then| then.elapsed().ok());
        // Another process may use the same folder.
        if age.is_some_and(|age| age > Duration::from_secs(24 * 3600)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The first signal starts the drain, the second stops the builds.
async fn handle_signals(drain: watch::Sender<bool>, stop: watch::Sender<bool>) {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals cannot be handled");
        return;
    };
    next(&mut terminate, &mut interrupt).await;
    tracing::info!("finishing the running builds; another signal stops them");
    drain.send_replace(true);
    next(&mut terminate, &mut interrupt).await;
    tracing::warn!("stopping the running builds");
    stop.send_replace(true);
    std::future::pending::<()>().await;
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => (),
        _ = interrupt.recv() => (),
    }
}

/// What the pollers of all runners share.
struct Shared {
    permits: Arc<Semaphore>,
    slots: Mutex<BTreeSet<usize>>,
    drain: watch::Sender<bool>,
    once: bool,
    wait: Duration,
}

impl Shared {
    /// Takes the lowest free slot, so that working copies are used again.
    fn take_slot(&self) -> usize {
        let mut used = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = (0..).find(|slot| !used.contains(slot)).unwrap_or_default();
        used.insert(slot);
        slot
    }

    fn free_slot(&self, slot: usize) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(&slot);
    }
}

/// Asks the server of one runner for builds and runs them, until the drain starts. Then waits for its builds.
async fn poll(
    context: Context,
    shared: Arc<Shared>,
    mut draining: watch::Receiver<bool>,
    stopping: watch::Receiver<bool>,
) {
    let (mut builds, mut pauses) = (JoinSet::new(), Pauses::default());
    while !*draining.borrow() {
        let permit = tokio::select! {
            permit = Arc::clone(&shared.permits).acquire_owned() => permit,
            _ = draining.changed() => continue,
        };
        let Ok(permit) = permit else { break };
        let asked = Instant::now();
        let pause = match context.api.request_build(&context.runner.token, shared.wait).await {
            Ok(Some(given)) => {
                pauses.reset();
                if shared.once {
                    shared.drain.send_replace(true);
                }
                builds.spawn(run_build(
                    context.clone(),
                    Arc::clone(&shared),
                    given,
                    permit,
                    stopping.clone(),
                ));
                while builds.try_join_next().is_some() {}
                continue;
            }
            Ok(None) => {
                pauses.reset();
                // A server that waited is asked again at once.
                if asked.elapsed() >= PAUSE { Duration::ZERO } else { jitter(PAUSE) }
            }
            Err(error) => {
                tracing::warn!(runner = context.runner.name, %error, "no builds can be requested");
                drop(permit);
                tokio::select! {
                    () = pauses.wait() => (),
                    _ = draining.changed() => (),
                }
                continue;
            }
        };
        drop(permit);
        if !pause.is_zero() {
            tokio::select! {
                () = sleep(pause) => (),
                _ = draining.changed() => (),
            }
        }
    }
    while builds.join_next().await.is_some() {}
}

async fn run_build(
    context: Context,
    shared: Arc<Shared>,
    given: Assignment,
    permit: OwnedSemaphorePermit,
    stopping: watch::Receiver<bool>,
) {
    let (build, name, slot) = (given.id, given.name.clone(), shared.take_slot());
    tracing::info!(build, job = name, "build started");
    let outcome = job::run(&context, slot, given, stopping).await;
    shared.free_slot(slot);
    drop(permit);
    let outcome = match outcome {
        Outcome::Reported { succeeded: true } => "success",
        Outcome::Reported { succeeded: false } => "failed",
        Outcome::Canceled => "canceled",
        Outcome::Lost => "lost",
    };
    tracing::info!(build, job = name, outcome, "build ended");
}

/// Registers a runner and returns its entry for the configuration file.
/// # Errors
/// The server is away or refuses.
pub async fn register(
    api: &Api,
    new: &crate::api::Registration<'_>,
    entry: Runner,
) -> Result<Runner, Error> {
    let registered = api.register(new).await?;
    Ok(Runner { id: registered.id, token: registered.token, ..entry })
}
