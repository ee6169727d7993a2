//! The HTTP server around the routes.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::{App as ActixApp, HttpServer, web};
use hexforge_http_actix::middleware::{cors, exposed, limit, observe, rewrite};
use hexforge_http_actix::shared::LONG_WORK;
use hexforge_http_actix::{Shared, configure};

/// How long requests that run when the server is told to stop may take to finish.
const GRACE_SECONDS: u64 = 30;

/// How many threads each thread for connections has for what waits: all that may be long at work, since it may
/// all come over connections of one thread, and as many again for what is read. They are made when needed.
const THREADS_FOR_WAITING: usize = 2 * LONG_WORK;

/// A server on a socket that is already bound, with so many threads for connections, or one per core.
/// It runs when awaited, and stops through its handle: signals are the program's business.
pub fn server(
    listener: TcpListener,
    shared: Shared,
    workers: Option<usize>,
) -> std::io::Result<Server> {
    let shared = web::Data::from(Arc::new(shared));
    let mut server = HttpServer::new(move || {
        ActixApp::new()
            .app_data(shared.clone())
            .configure(configure)
            .wrap(from_fn(limit))
            .wrap(cors())
            .wrap(exposed())
            .wrap(from_fn(rewrite))
            .wrap(from_fn(observe))
    })
    .keep_alive(Duration::from_secs(75))
    // The last bytes of what is sent in pieces would wait until the client has confirmed the others: 40 ms.
    .tcp_nodelay(true)
    .client_request_timeout(Duration::from_secs(30))
    .shutdown_timeout(GRACE_SECONDS)
    .worker_max_blocking_threads(THREADS_FOR_WAITING)
    .disable_signals();
    if let Some(workers) = workers {
        server = server.workers(workers);
    }
    Ok(server.listen(listener)?.run())
}
