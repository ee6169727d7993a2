//! The worker that ends memberships whose day is reached.

use std::sync::mpsc::{self, RecvTimeoutError, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::member::expiry;

/// How long it rests. What has expired gives nothing meanwhile, so nobody waits for this.
const REST: Duration = Duration::from_secs(5 * 60);

/// A thread that looks for expired memberships at once and then again and again. It stops when this is
/// dropped, after the transaction that it is in.
pub struct ExpiryWorker {
    /// Nothing is ever sent: the end of the sender tells the thread to stop.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ExpiryWorker {
    /// Starts the thread.
    pub fn start(app: App) -> Result<Self> {
        let (running, stopped) = mpsc::channel::<()>();
        let work = move || loop {
            let go_on = || matches!(stopped.try_recv(), Err(TryRecvError::Empty));
            match expiry::run(&app, &go_on) {
                Ok(0) => (),
                Ok(ended) => tracing::info!(ended, "memberships ended by their day"),
                Err(error) => tracing::warn!(%error, "memberships could not be ended, later again"),
            }
            match stopped.recv_timeout(REST) {
                Err(RecvTimeoutError::Timeout) => (),
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        };
        let thread = thread::Builder::new().name("expiry".to_owned()).spawn(work);
        let thread = thread.context("the thread that ends memberships cannot be started")?;
        Ok(Self { running: Some(running), thread: Some(thread) })
    }
}

impl Drop for ExpiryWorker {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            // What it panicked of was reported when it did.
            let _ = thread.join();
        }
    }
}
