//! The server: accepts connections until it is stopped.

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

/// The state that all connections share.
pub(crate) struct Shared {
    pub(crate) app: Arc<App>,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) limits: Limits,
    pub(crate) russh_config: Arc<server::Config>,
    pub(crate) stage: watch::Receiver<Stage>,
}

impl Shared {
    pub(crate) fn is_stopping(&self) -> bool {
        *self.stage.borrow() != Stage::Serving
    }
}

/// The lifecycle stage of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Serving,
    /// The server stops since this moment, and starts no new commands.
    Stopping(Instant),
    /// Running commands are no longer waited for, and their connections are dropped.
    Ended,
}

/// A running server with its own threads. Dropping it stops the server immediately.
pub struct Server {
    address: SocketAddr,
    runtime: Option<Runtime>,
    stop: StopHandle,
    /// Closes when the last connection has ended.
    running: mpsc::Receiver<()>,
}

/// A handle that stops the server.
#[derive(Clone)]
pub struct StopHandle(Arc<watch::Sender<Stage>>);

impl StopHandle {
    /// Stops accepting connections and commands; running commands continue. A second call drops them.
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
    /// Starts a server on a bound socket.
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
        let russh_config = Arc::new(config::russh_config(keys, &limits));
        let shared = Arc::new(Shared { app, limiter, limits, russh_config, stage });
        runtime.spawn(accept(listener, shared, token));
        let stop = StopHandle(Arc::new(stop));
        Ok(Self { address, runtime: Some(runtime), stop, running })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a handle that stops the server.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Stops the server, unless it is stopping already, and waits until running commands have ended. After
    /// `patience`, counted from the stop, their connections are dropped.
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
            // No value is ever sent: dropping all senders is the signal.
            _ = self.running.recv() => {}
            _ = stage.wait_for(|stage| *stage == Stage::Ended) => {}
            () = sleep_until(end) => tracing::warn!("SSH commands took too long and are dropped"),
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

/// The pause after a failed `accept`.
const PAUSE: Duration = Duration::from_millis(100);

async fn accept(listener: TcpListener, shared: Arc<Shared>, token: mpsc::Sender<()>) {
    let admission = Admission::new(shared.limits.connections, shared.limits.per_address);
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
                tracing::warn!(%error, "an SSH connection could not be accepted");
                pause_until = Instant::now() + PAUSE;
                continue;
            }
        };
        let Some(admitted) = admission.admit(peer.ip()) else {
            metrics::counter!("hexforge_ssh_connections_refused_total").increment(1);
            tracing::debug!(%peer, "an SSH connection is refused: there are too many");
            continue;
        };
        let (shared, token) = (Arc::clone(&shared), token.clone());
        tokio::spawn(async move {
            let (_admitted, _token) = (admitted, token);
            connection::run(shared, stream, peer).await;
        });
    }
}
