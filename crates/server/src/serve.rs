//! `hexforge serve`.

use std::io::Write;
use std::net::TcpListener;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::limiter::Limiter;
use hexforge_application::removal::{self, Sweep};
use hexforge_http_actix::connection::HEAD_TIMEOUT;
use hexforge_http_actix::shared::StorageReady;
use hexforge_http_actix::{HttpSettings, JsonPayloads, RateLimits, Shared};
use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_ssh_russh::{Server, StopHandle};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::built_in_runner::BuiltInRunner;
use crate::config::{Config, CostlyPages};
use crate::storage::CacheKeeper;
use crate::system::{MaintenanceQueue, PriorityThreads, WriteThreads};
use crate::wiring::Wired;
use crate::worker::{Signals, Workers};
use crate::{first_start, http, ssh, storage, upgrade, wiring};

/// Runs the server until it is told to stop, with a runner on this machine if that is wanted. Addresses and generated
/// credentials are written to `terminal`.
pub fn run(config: &Config, with_runner: bool, terminal: &mut dyn Write) -> Result<()> {
    let signals = Arc::new(Signals::default());
    let notifier = Arc::clone(&signals);
    let Wired { mut app, store, git, cache } =
        wiring::wire(config, Some(Arc::new(move || notifier.notify())))?;
    // Commands do no long work, so only a server starts these threads.
    let threads = WriteThreads::start(store.clone());
    app.store = Arc::new(threads.context("the threads for write transactions cannot be started")?);
    let cache = cache.map(|packs| CacheKeeper::start(config, packs, git)).transpose()?;
    storage::claim(config, &store)?;
    storage::move_in(config, terminal)?;
    let maintenance = Arc::new(MaintenanceQueue::default());
    app.maintenance = maintenance.clone();
    upgrade::check_journal(config, &app)?;
    upgrade::run(config, &app, terminal)?;
    let listener = TcpListener::bind(config.listen)
        .with_context(|| format!("the address {} (listen) cannot be served", config.listen))?;
    let address = listener.local_addr().context("the address of the HTTP socket cannot be read")?;
    let ssh = config.ssh_listen.map(|address| ssh::Prepared::new(address, config, &store));
    let ssh = ssh.transpose()?;
    let external_url = config.external_url(address);
    app.settings.external_url.clone_from(&external_url);
    first_start::prepare(&app, config, terminal)?;
    finish_removals(app.clone());

    let metrics = PrometheusBuilder::new()
        .set_buckets(&LATENCY_BUCKETS)
        .context("the histogram buckets of the metrics are invalid")?
        .install_recorder()
        .context("the collection of metrics cannot be started")?;
    let settings = HttpSettings {
        external_url: external_url.clone(),
        ssh_port: ssh.as_ref().map_or(22, |ssh| ssh.address().port()),
        dialect: config.dialect,
        max_body: config.max_body_mb * 1024 * 1024,
        rate_limits: RateLimits {
            per_token: NonZeroU32::new(config.rate_limit_per_token),
            per_address: NonZeroU32::new(config.rate_limit_per_address),
        },
        trusted_proxies: config.trusted_proxies.clone(),
        head_timeout: HEAD_TIMEOUT,
        revision: format!("hexforge-{}", env!("CARGO_PKG_VERSION")),
    };
    let current = Arc::clone(&app.application_settings);
    let payloads = JsonPayloads::new(&settings.external_url, settings.ssh_port, current);
    let mut workers = Workers::start(&app, maintenance, cache)?;
    if config.background_work {
        workers = workers.with_shared_work(Arc::new(payloads), signals)?;
    }
    let limiter =
        Limiter::new(config.transfer_limits()).with_threads(Arc::new(PriorityThreads::new()));
    let limiter = limiter.with_costly_pages_open(config.web_costly == CostlyPages::Everyone);
    let limiter = Arc::new(match &config.database_url {
        DatabaseUrl::Sqlite(_) => limiter.for_one_writer(),
        DatabaseUrl::Postgres(_) => limiter,
    });
    let shared = Shared::new(
        app.clone(),
        settings,
        Arc::clone(&limiter),
        Arc::new(move || metrics.render()),
        storage_ready(config.data_dir.clone()),
    );
    let runner = match with_runner {
        true => Some(Arc::new(BuiltInRunner::start(&app, &config.data_dir, address, terminal)?)),
        false => None,
    };
    let ssh = ssh.map(|ssh| ssh.start(app, limiter, terminal)).transpose()?;
    actix_web::rt::System::new().block_on(async move {
        let server = http::server(listener, shared, None)?;
        let stop_handle = ssh.as_ref().map(Server::stop_handle);
        let at_once = stop_on_signal(server.handle(), stop_handle, runner.clone())?;
        writeln!(terminal, "hexforge serves {external_url} (listening on {address}).")?;
        terminal.flush()?;
        tracing::info!(%address, external_url, "serving");
        server.await.context("serving failed")?;
        if let Some(ssh) = ssh {
            ssh.finish(GRACE).await;
        }
        // Stops the workers on another thread, so that a second signal is handled meanwhile.
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            drop(workers);
            end.send(())
        });
        tokio::select! {
            _ = ended => tracing::info!("stopped"),
            _ = at_once => tracing::warn!("stopped at once, after a second signal"),
        }
        Ok(())
    })
}

/// Finishes interrupted removals of an earlier run in the background.
fn finish_removals(app: App) {
    std::thread::spawn(move || match removal::sweep(&app) {
        Ok(Sweep::Done(0)) => (),
        Ok(Sweep::Done(projects)) => {
            tracing::info!(projects, "files of removed projects deleted");
        }
        Ok(Sweep::NoProjects) => {
            tracing::warn!(
                "the data folder has files of projects, but the database has no projects: is it the right one?"
            );
        }
        Err(error) => {
            tracing::warn!(%error, "files of removed projects stay on disk until the next start");
        }
    });
}

/// How long uninterruptible work may delay the end of the program after a second signal.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// Stops the server on SIGTERM or SIGINT after running requests are finished. A second signal stops
/// it at once, and resolves the returned receiver.
fn stop_on_signal(
    server: ServerHandle,
    ssh: Option<StopHandle>,
    runner: Option<Arc<BuiltInRunner>>,
) -> Result<oneshot::Receiver<()>> {
    let (second, at_once) = oneshot::channel();
    let mut terminate =
        signal(SignalKind::terminate()).context("the handler of SIGTERM cannot be installed")?;
    let mut interrupt =
        signal(SignalKind::interrupt()).context("the handler of SIGINT cannot be installed")?;
    actix_web::rt::spawn(async move {
        let mut graceful = true;
        let mut second = Some(second);
        loop {
            tokio::select! {
                _ = terminate.recv() => (),
                _ = interrupt.recv() => (),
            }
            tracing::info!(graceful, "stopping");
            // The call itself sends the command. Awaiting the result would block the handling of a second signal.
            match runner.clone().filter(|_| graceful) {
                Some(runner) => {
                    let server = server.clone();
                    // Its builds report that they failed, as long as somebody listens.
                    std::thread::spawn(move || {
                        runner.stop();
                        drop(server.stop(true));
                    });
                }
                None => drop(server.stop(graceful)),
            }
            if let Some(ssh) = &ssh {
                ssh.stop();
            }
            if !graceful && let Some(second) = second.take() {
                let _ = second.send(());
                std::thread::spawn(|| {
                    std::thread::sleep(LAST_MOMENT);
                    std::process::exit(0);
                });
            }
            graceful = false;
        }
    });
    Ok(at_once)
}

/// How long running SSH sessions may take to finish after the server was told to stop.
const GRACE: Duration = Duration::from_secs(30);

/// Histogram buckets in seconds, from a short read to an unacceptable delay.
const LATENCY_BUCKETS: [f64; 10] = [0.0002, 0.0005, 0.001, 0.003, 0.01, 0.03, 0.1, 0.5, 2.0, 10.0];

static PROBES: AtomicU64 = AtomicU64::new(0);

/// Reports the storage as ready if a file can be written into the data folder.
fn storage_ready(data_dir: PathBuf) -> StorageReady {
    Arc::new(move || {
        // Each probe has its own file name: several may run at once, in several processes.
        let number = PROBES.fetch_add(1, Ordering::Relaxed);
        let probe = data_dir.join(format!(".ready-{}-{number}", std::process::id()));
        std::fs::write(&probe, b"")
            .and_then(|()| std::fs::remove_file(&probe))
            .map_err(|error| format!("the data folder cannot be written: {error}"))
    })
}
