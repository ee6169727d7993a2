//! One connection: its authentication timeout and its idle timeout.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use crate::closable::Closable;
use crate::server::{Shared, Stage};
use crate::session::Session;

/// The time until an idle connection is closed when the server stops.
const LINGER: Duration = Duration::from_millis(300);

/// What a connection does at the moment; its timeouts depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activity {
    pub(crate) is_signed_in: bool,
    /// The number of running commands.
    pub(crate) commands: usize,
    /// The time at which the last command ended, or the connection began.
    pub(crate) idle_since: Instant,
}

/// Counts a running command until it is dropped.
pub(crate) struct RunningCommand(watch::Sender<Activity>);

impl RunningCommand {
    pub(crate) fn new(activity: &watch::Sender<Activity>) -> Self {
        activity.send_modify(|activity| activity.commands += 1);
        Self(activity.clone())
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.0.send_modify(|activity| {
            activity.commands -= 1;
            activity.idle_since = Instant::now();
        });
    }
}

/// Serves a client until it disconnects or exceeds a timeout.
pub(crate) async fn run(shared: Arc<Shared>, stream: TcpStream, peer: SocketAddr) {
    let gauge = metrics::gauge!("hexforge_ssh_connections");
    gauge.increment(1.0);
    serve(shared, stream, peer).await;
    gauge.decrement(1.0);
}

async fn serve(shared: Arc<Shared>, stream: TcpStream, peer: SocketAddr) {
    // Responses are short and frequent.
    let _ = stream.set_nodelay(true);
    let begin = Instant::now();
    // Dropping the handle closes the connection however this function ends.
    let (stream, _handle) = Closable::new(stream);
    let activity = Activity { is_signed_in: false, commands: 0, idle_since: begin };
    let (sender, mut activity) = watch::channel(activity);
    let session = Session::new(Arc::clone(&shared), peer, sender);
    let started = russh::server::run_stream(Arc::clone(&shared.russh_config), stream, session);
    let mut running = match timeout(shared.limits.sign_in, started).await {
        Ok(Ok(running)) => running,
        Ok(Err(error)) => return tracing::debug!(%peer, %error, "an SSH handshake failed"),
        Err(_) => return tracing::debug!(%peer, "an SSH handshake timed out"),
    };
    let mut stage = shared.stage.clone();
    loop {
        let now = *activity.borrow_and_update();
        let is_stopping = *stage.borrow_and_update() != Stage::Serving;
        let end = match now {
            Activity { is_signed_in: false, .. } => Some(begin + shared.limits.sign_in),
            Activity { commands: 0, idle_since, .. } if is_stopping => Some(idle_since + LINGER),
            Activity { commands: 0, idle_since, .. } => Some(idle_since + shared.limits.idle),
            Activity { .. } => None,
        };
        tokio::select! {
            ended = &mut running => {
                if let Err(error) = ended {
                    tracing::debug!(%peer, %error, "an SSH connection broke");
                }
                return;
            }
            () = sleep_until(end.unwrap_or(begin)), if end.is_some() => {
                return tracing::debug!(%peer, ?now, "an SSH connection timed out");
            }
            changed = activity.changed() => {
                // The session was dropped, so the connection is about to end.
                if changed.is_err() {
                    let _ = (&mut running).await;
                    return;
                }
            }
            _ = stage.changed() => {}
        }
    }
}
