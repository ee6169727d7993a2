//! `hexforge serve`.

use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix_web::dev::ServerHandle;
use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::removal::{self, Sweep};
use hexforge_http_actix::shared::StorageReady;
use hexforge_http_actix::{HttpSettings, Shared};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::Config;
use crate::worker::Workers;
use crate::{first_start, http, wiring};

/// Serves until told to stop. `terminal` is where people are told how to get in.
pub fn run(config: &Config, terminal: &mut dyn Write) -> Result<()> {
    let mut app = wiring::app(config)?;
    let listener = TcpListener::bind(config.listen)
        .with_context(|| format!("the address {} (listen) cannot be served", config.listen))?;
    let address = listener.local_addr().context("the socket has no address")?;
    let external_url = config.external_url.clone().unwrap_or_else(|| format!("http://{address}"));
    app.settings.external_url.clone_from(&external_url);
    first_start::prepare(&app, config, terminal)?;
    finish_removals(app.clone());

    let metrics = PrometheusBuilder::new()
        .set_buckets(&LATENCY_BUCKETS)
        .context("the buckets of the metrics are wrong")?
        .install_recorder()
        .context("metrics cannot be collected")?;
    let settings = HttpSettings {
        external_url: external_url.clone(),
        ssh_port: config.ssh_listen.map_or(22, |address| address.port()),
        dialect: config.dialect,
        max_body: config.max_body_mb * 1024 * 1024,
        max_upload: config.max_upload_mb as u64 * 1024 * 1024,
        revision: format!("hexforge-{}", env!("CARGO_PKG_VERSION")),
    };
    let workers = Workers::start(&app)?;
    let shared = Shared::new(
        app,
        settings,
        Arc::new(move || metrics.render()),
        storage_ready(config.data_dir.clone()),
    );
    actix_web::rt::System::new().block_on(async move {
        let server = http::server(listener, shared, None)?;
        stop_on_signal(server.handle())?;
        writeln!(terminal, "hexforge serves {external_url} (listening on {address}).")?;
        terminal.flush()?;
        tracing::info!(%address, external_url, "serving");
        server.await.context("serving failed")?;
        drop(workers);
        tracing::info!("stopped");
        Ok(())
    })
}

/// Removes in the background what an earlier run was interrupted in removing.
fn finish_removals(app: App) {
    std::thread::spawn(move || match removal::sweep(&app) {
        Ok(Sweep::Done(0)) => (),
        Ok(Sweep::Done(projects)) => {
            tracing::info!(projects, "removed files of projects that are gone");
        }
        Ok(Sweep::NoProjects) => {
            tracing::warn!("the data folder has files of projects, the database has no project");
        }
        Err(error) => tracing::warn!(%error, "files of removed projects stay until the next start"),
    });
}

/// SIGTERM and ^C stop the server after what is running is finished; a second one ends it at once.
fn stop_on_signal(server: ServerHandle) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be waited for")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be waited for")?;
    actix_web::rt::spawn(async move {
        let mut graceful = true;
        loop {
            tokio::select! {
                _ = terminate.recv() => (),
                _ = interrupt.recv() => (),
            }
            tracing::info!(graceful, "stopping");
            // The command is sent by the call itself; its answer would come too late for a second one.
            drop(server.stop(graceful));
            graceful = false;
        }
    });
    Ok(())
}

/// In seconds; from what a read takes to what nobody should wait for.
const LATENCY_BUCKETS: [f64; 10] = [0.0002, 0.0005, 0.001, 0.003, 0.01, 0.03, 0.1, 0.5, 2.0, 10.0];

static PROBES: AtomicU64 = AtomicU64::new(0);

/// The storage is ready when a file can be written into the data folder.
fn storage_ready(data_dir: PathBuf) -> StorageReady {
    Arc::new(move || {
        // A name of its own for each probe: several may come at once, from several processes.
        let number = PROBES.fetch_add(1, Ordering::Relaxed);
        let probe = data_dir.join(format!(".ready-{}-{number}", std::process::id()));
        std::fs::write(&probe, b"")
            .and_then(|()| std::fs::remove_file(&probe))
            .map_err(|error| format!("the data folder cannot be written: {error}"))
    })
}
