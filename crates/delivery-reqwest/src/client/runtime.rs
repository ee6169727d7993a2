//! Where reqwest's own tasks run.

use std::future::Future;
use std::io;

use tokio::runtime::{Builder, Runtime};

/// Names that nobody answers for are looked up for long; no more than these at a time.
const LOOKUPS: usize = 64;

/// A runtime with one thread, apart from that of the server.
pub(crate) struct Background(Option<Runtime>);

impl Background {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(LOOKUPS)
            .thread_name("outgoing")
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// Waits for a future. Not for threads that drive other futures.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.as_ref().expect("the runtime ends only when this is dropped").block_on(future)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Without waiting, which async code must not do: the server may be dropped there.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
