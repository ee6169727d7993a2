//! The asynchronous runtime of the client.

use std::future::Future;
use std::io;

use tokio::runtime::{Builder, Runtime};

/// The maximum number of blocking threads. DNS lookups block for long when no name server responds.
const MAX_BLOCKING_THREADS: usize = 64;

/// A runtime with one worker thread, separate from that of the server.
pub(crate) struct BackgroundRuntime(Option<Runtime>);

impl BackgroundRuntime {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(MAX_BLOCKING_THREADS)
            .thread_name("outgoing")
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// Blocks on a future. Must not be called from a thread that drives other futures.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.as_ref().expect("the runtime ends only when this is dropped").block_on(future)
    }
}

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        // Does not wait for its threads: the client may be dropped in async code, which must not block.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
