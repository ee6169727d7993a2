//! The HTTP server around the routes.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::{App as ActixApp, HttpServer, web};
use hexforge_http_actix::middleware::{cors, observe, rewrite};
use hexforge_http_actix::{Shared, configure};

/// What can be chosen about the server itself.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// Threads that handle connections; `None` for one per core.
    pub workers: Option<usize>,
    /// Whether SIGTERM and ^C end it.
    pub handle_signals: bool,
}

/// How long requests that run when the server is told to stop may take to finish.
const GRACE_SECONDS: u64 = 30;

/// A server on a socket that is already bound. It runs when awaited.
pub fn server(
    listener: TcpListener,
    shared: Shared,
    options: ServerOptions,
) -> std::io::Result<Server> {
    let shared = web::Data::from(Arc::new(shared));
    let mut server = HttpServer::new(move || {
        ActixApp::new()
            .app_data(shared.clone())
            .configure(configure)
            .wrap(cors())
            .wrap(from_fn(rewrite))
            .wrap(from_fn(observe))
    })
    .keep_alive(Duration::from_secs(75))
    .client_request_timeout(Duration::from_secs(30))
    .shutdown_timeout(GRACE_SECONDS);
    if let Some(workers) = options.workers {
        server = server.workers(workers);
    }
    if !options.handle_signals {
        server = server.disable_signals();
    }
    Ok(server.listen(listener)?.run())
}
