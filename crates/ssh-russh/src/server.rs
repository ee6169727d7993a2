//! The server: accepts connections until it is told to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hexforge_application::app::App;
use hexforge_application::limiter::Limiter;
use russh::server;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::admission::Admission;
use crate::config::{self, Limits};
use crate::connection;
use crate::host_keys::HostKeys;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) app: Arc<App>,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) limits: Limits,
    pub(crate) library: Arc<server::Config>,
    pub(crate) stage: watch::Receiver<Stage>,
}

impl Shared {
    pub(crate) fn is_stopping(&self) -> bool {
        *self.stage.borrow() != Stage::Serving
    }
}

/// How far the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Serving,
    /// Nothing new is begun, since this moment.
    Stopping(Instant),
    /// What runs is given up.
    Ended,
}

/// A running server, with threads of its own. It ends at once when dropped.
pub struct Server {
    address: SocketAddr,
    runtime: Option<Runtime>,
    stop: StopHandle,
    /// Ends when the last connection has.
    running: mpsc::Receiver<()>,
}

/// Tells a server to stop.
#[derive(Clone)]
pub struct StopHandle(Arc<watch::Sender<Stage>>);

impl StopHandle {
    /// Nothing new is begun, what runs goes on. The second time, that is given up too.
    pub fn stop(&self) {
        self.0.send_modify(|stage| {
            *stage = match stage {
                Stage::Serving => Stage::Stopping(Instant::now()),
                Stage::Stopping(_) | Stage::Ended => Stage::Ended,
            };
        });
    }
}

impl Server {
    /// Serves on a socket that is bound already.
    pub fn start(
        listener: std::net::TcpListener,
        app: Arc<App>,
        keys: &HostKeys,
        limiter: Arc<Limiter>,
        limits: Limits,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let runtime = Builder::new_multi_thread().enable_all().thread_name("ssh").build()?;
        let listener = {
            let _entered = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let (stop, stage) = watch::channel(Stage::Serving);
        let (token, running) = mpsc::channel(1);
        let library = Arc::new(config::of_library(keys, &limits));
        let shared = Arc::new(Shared { app, limiter, limits, library, stage });
        runtime.spawn(accept(listener, shared, token));
        let stop = StopHandle(Arc::new(stop));
        Ok(Self { address, runtime: Some(runtime), stop, running })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// By which it is told to stop.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Stops, if it was not told to before, and waits until what runs has ended, or is given up: at the latest
    /// so long after it was told.
    pub async fn finish(mut self, patience: Duration) {
        let mut stage = self.stop.0.subscribe();
        if *stage.borrow() == Stage::Serving {
            self.stop.stop();
        }
        let end = match *stage.borrow_and_update() {
            Stage::Stopping(since) => since + patience,
            Stage::Serving | Stage::Ended => return,
        };
        tokio::select! {
            // Nothing is ever sent: the end of all senders is the message.
            _ = self.running.recv() => {}
            _ = stage.wait_for(|stage| *stage == Stage::Ended) => {}
            () = sleep_until(end) => tracing::warn!("connections over SSH are given up"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// How long nothing is accepted after the system would not let us.
const PAUSE: Duration = Duration::from_millis(100);

async fn accept(listener: TcpListener, shared: Arc<Shared>, token: mpsc::Sender<()>) {
    let admission = Admission::new(shared.limits.connections, shared.limits.of_one_address);
    let mut stage = shared.stage.clone();
    let mut pause_until = Instant::now();
    loop {
        let accepted = tokio::select! {
            _ = stage.wait_for(|stage| *stage != Stage::Serving) => return,
            accepted = async {
                sleep_until(pause_until).await;
                listener.accept().await
            } => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection over SSH could not be accepted");
                pause_until = Instant::now() + PAUSE;
                continue;
            }
        };
        let Some(admitted) = admission.admit(peer.ip()) else {
            metrics::counter!("hexforge_ssh_connections_refused_total").increment(1);
            tracing::debug!(%peer, "too many connections over SSH");
            continue;
        };
        let (shared, token) = (Arc::clone(&shared), token.clone());
        tokio::spawn(async move {
            let (_admitted, _token) = (admitted, token);
            connection::run(shared, stream, peer).await;
        });
    }
}
