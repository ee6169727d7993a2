//! The HTTP server around the routes.

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::{App as ActixApp, web};
use hexforge_http_actix::connection::connections;
use hexforge_http_actix::middleware::{cors, exposed, limit, observe, pace, rewrite};
use hexforge_http_actix::{Shared, configure};

/// How long requests that run when the server is told to stop may take to finish.
const GRACE_SECONDS: u64 = 30;

/// How many threads each thread for connections has for short calls, which wait for the database. They are made when
/// needed. Long work has threads of its own.
const THREADS_FOR_WAITING: usize = 256;

/// How many threads serve connections. A call passes such a thread several times, and each time waits for what it does
/// for other connections. While all processors are busy, that takes long even if it is little; so there are more than
/// could run at once.
fn default_workers() -> usize {
    6 * std::thread::available_parallelism().map_or(1, usize::from)
}

/// A server on a socket that is already bound, with so many threads for connections, or a default number.
/// It runs when awaited, and stops through its handle: signals are the program's business.
pub fn server(
    listener: TcpListener,
    shared: Shared,
    workers: Option<usize>,
) -> std::io::Result<Server> {
    let shared = web::Data::from(Arc::new(shared));
    let mut server = Server::build()
        .shutdown_timeout(GRACE_SECONDS)
        .worker_max_blocking_threads(THREADS_FOR_WAITING)
        .disable_signals();
    server = server.workers(workers.unwrap_or_else(default_workers));
    let stopping = server.graceful_shutdown_signal();
    let serve = move || {
        let app = ActixApp::new()
            .app_data(shared.clone())
            .configure(configure)
            .wrap(from_fn(limit))
            .wrap(from_fn(pace))
            .wrap(cors())
            .wrap(exposed())
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
