//! Builds the HTTP server around the routes.

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::{App as ActixApp, web};
use hexforge_http_actix::connection::connections;
use hexforge_http_actix::middleware::{limit, observe, pace, rewrite};
use hexforge_http_actix::{Shared, configure};
use hexforge_web_askama as pages;

/// How long running requests may take to finish after the server was told to stop.
const GRACE_SECONDS: u64 = 30;

/// The size of the blocking thread pool of each worker, for short requests that wait for the
/// database. Its threads start on demand. Long work has threads of its own.
const BLOCKING_THREADS: usize = 256;

/// The default number of workers, the threads that serve connections: one per processor. With more
/// workers each of them would sleep and wake up for nearly every request, which costs more than the
/// wait for other connections of the same worker.
fn default_workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Builds a server on a bound socket, with the given or the default number of workers. It runs when
/// awaited and stops through its handle. It does not handle signals: the program does.
pub fn server(
    listener: TcpListener,
    shared: Shared,
    workers: Option<usize>,
) -> std::io::Result<Server> {
    let edge = web::Data::from(shared.edge());
    let web_settings = web_settings(&shared);
    let shared = web::Data::from(Arc::new(shared));
    let mut server = Server::build()
        .shutdown_timeout(GRACE_SECONDS)
        .worker_max_blocking_threads(BLOCKING_THREADS)
        .disable_signals();
    server = server.workers(workers.unwrap_or_else(default_workers));
    let stopping = server.graceful_shutdown_signal();
    let serve = move || {
        let app = ActixApp::new()
            .app_data(edge.clone())
            .app_data(shared.clone())
            .configure(configure)
            .configure(pages::configure(web_settings.clone()))
            .wrap(from_fn(limit))
            .wrap(from_fn(pages::explain))
            .wrap(from_fn(pace))
            .wrap(from_fn(rewrite))
            .wrap(from_fn(observe));
        let stopping = stopping.clone();
        let stopping = move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        };
        connections(app, shared.clone(), stopping)
    };
    Ok(server.listen("http", listener, serve)?.run())
}

/// The settings of the pages, which are those of the interface.
fn web_settings(shared: &Shared) -> pages::WebSettings {
    let settings = shared.settings();
    pages::WebSettings {
        external_url: settings.external_url.clone(),
        max_body: settings.max_body,
        ability_to_delete_lists: settings.dialect.ability_to_delete_lists(),
    }
}
