//! `hexforge runner run`: takes builds until a signal stops it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::api::Api;
use crate::cgroup::{Groups, Limits};
use crate::config::{Config, Runner};
use crate::error::Error;
use crate::job::{self, Context, Outcome};
use crate::metrics::{self, Metrics};
use crate::protocol::Assignment;
use crate::sender::{Pauses, jitter};
use crate::{process, recovery, slot};

/// How long the server may wait for a build before it answers that there is none. The runner takes at most this long
/// to stop while it is idle: an answer that is on its way must not be lost, because it may contain a build.
const WAIT: Duration = Duration::from_secs(4);

/// The pause between two questions to a server that does not wait.
const PAUSE: Duration = Duration::from_millis(900);

/// The variable that ties the runner to the process that started it: it stops when its standard input ends.
pub const LIFELINE: &str = "HEXFORGE_RUNNER_LIFELINE";

/// How long the end waits for reports about builds of a killed runner.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of `run`.
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
    /// The address at which metrics are served.
    pub metrics: Option<SocketAddr>,
}

/// Takes and runs builds until a signal arrives: SIGTERM or SIGINT lets running builds finish, a second one stops them
/// and reports them as failed.
/// # Errors
/// The configuration has no runner, or cannot be used.
pub async fn run(config: Config, mut settings: Settings) -> Result<(), Error> {
    if config.runners.is_empty() {
        return Err(Error::Config {
            path: settings.path,
            problem: "it has no runner: `hexforge runner register` adds one".into(),
        });
    }
    if settings.once {
        settings.concurrent = 1;
    }
    process::prepare();
    let builds_dir = &settings.builds_dir;
    std::fs::create_dir_all(builds_dir).map_err(Error::at(builds_dir))?;
    let builds_dir = std::fs::canonicalize(builds_dir).map_err(Error::at(builds_dir))?;
    let metrics = Arc::new(Metrics::default());
    metrics.set_slots(settings.concurrent);
    // Before builds are taken: without the address the runner ends.
    let listener = match settings.metrics {
        Some(address) => Some(metrics::bind(address).await?),
        None => None,
    };
    let mut recovering = JoinSet::new();
    for left in recovery::abandoned(&builds_dir, &config.runners) {
        recovering.spawn(left.report());
    }
    let (drain, draining) = watch::channel(false);
    let (stop, stopping) = watch::channel(false);
    if std::env::var_os(LIFELINE).is_some() {
        stop_with_standard_input(drain.clone(), stop.clone());
    }
    let signals = tokio::spawn(handle_signals(drain.clone(), stop));
    let shared = Arc::new(Shared {
        permits: Arc::new(Semaphore::new(settings.concurrent)),
        drain,
        once: settings.once,
        // Otherwise a runner that waits would keep the others from asking.
        wait: if settings.concurrent >= config.runners.len() { WAIT } else { Duration::ZERO },
    });
    let groups = Groups::find(all_limits(&config.runners));
    let mut pollers = JoinSet::new();
    for runner in config.runners {
        let context = Context {
            api: Api::new(&runner.url)?,
            runner,
            builds_dir: builds_dir.clone(),
            config: settings.path.clone(),
            groups: groups.clone(),
            metrics: Arc::clone(&metrics),
        };
        tracing::info!(
            runner = context.runner.name,
            url = context.runner.url,
            "waiting for builds"
        );
        pollers.spawn(poll(context, Arc::clone(&shared), draining.clone(), stopping.clone()));
    }
    let pollers = async { while pollers.join_next().await.is_some() {} };
    let serving = async {
        match listener {
            Some(listener) => metrics::serve(metrics, listener).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = pollers => (),
        never = serving => match never {},
    }
    let recovering = async { while recovering.join_next().await.is_some() {} };
    let _ = timeout(RECOVERY_TIMEOUT, recovering).await;
    signals.abort();
    Ok(())
}

/// The kinds of limits that some of these runners have.
fn all_limits(runners: &[Runner]) -> Limits {
    let limits = runners.iter().map(Runner::limits);
    limits.fold(Limits::default(), |all, one| Limits {
        memory: all.memory.or(one.memory),
        processes: all.processes.or(one.processes),
        cpus: all.cpus.or(one.cpus),
    })
}

/// Stops everything when standard input ends, because the process that started this one is gone.
fn stop_with_standard_input(drain: watch::Sender<bool>, stop: watch::Sender<bool>) {
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        tracing::warn!("the server is gone: stopping");
        drain.send_replace(true);
        stop.send_replace(true);
    });
}

/// The first signal starts the drain, the second stops the builds.
async fn handle_signals(drain: watch::Sender<bool>, stop: watch::Sender<bool>) {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals cannot be handled");
        return;
    };
    next_signal(&mut terminate, &mut interrupt).await;
    tracing::info!("finishing the running builds; another signal stops them");
    drain.send_replace(true);
    next_signal(&mut terminate, &mut interrupt).await;
    tracing::warn!("stopping the running builds");
    stop.send_replace(true);
    std::future::pending::<()>().await;
}

async fn next_signal(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => (),
        _ = interrupt.recv() => (),
    }
}

/// State shared by the pollers of all runners.
struct Shared {
    permits: Arc<Semaphore>,
    drain: watch::Sender<bool>,
    once: bool,
    wait: Duration,
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
                context.metrics.request_answered(&context.runner.name, "build");
                if shared.once {
                    shared.drain.send_replace(true);
                }
                builds.spawn(run_build(context.clone(), given, permit, stopping.clone()));
                while builds.try_join_next().is_some() {}
                continue;
            }
            Ok(None) => {
                pauses.reset();
                context.metrics.request_answered(&context.runner.name, "none");
                // A server that waited is asked again at once.
                if asked.elapsed() >= PAUSE { Duration::ZERO } else { jitter(PAUSE) }
            }
            Err(error) => {
                context.metrics.request_answered(&context.runner.name, "error");
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
    given: Assignment,
    permit: OwnedSemaphorePermit,
    stopping: watch::Receiver<bool>,
) {
    let (build, name, begun) = (given.id, given.name.clone(), Instant::now());
    tracing::info!(build, job = name, "build started");
    context.metrics.build_started(&context.runner.name);
    let folder = context.builds_dir.join(format!("runner-{}", context.runner.key()));
    let outcome = match slot::take(&folder) {
        Ok(slot) => job::run(&context, &slot, given, stopping).await,
        Err(error) => job::refuse(&context, &given, &error).await,
    };
    drop(permit);
    let outcome = match outcome {
        Outcome::Reported { succeeded: true } => "success",
        Outcome::Reported { succeeded: false } => "failed",
        Outcome::Canceled => "canceled",
        Outcome::Lost => "lost",
    };
    context.metrics.build_ended(&context.runner.name, outcome, begun.elapsed());
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
