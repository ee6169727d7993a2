//! Waiting for permits on a thread that may block.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use hexforge_domain::limiter::{PermitLimits, PermitPool};

/// Permits for work that keeps a processor busy. There are twice as many as processors. One caller gets at most half of
/// them, which is enough to keep all processors busy.
pub(crate) fn processor_permits() -> PermitPool {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    PermitPool::new(PermitLimits {
        total: 2 * processors,
        per_holder: processors,
        per_network: 2 * processors,
    })
}

/// Unparks the waiting thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future, at most this long. After a timeout the same future may be waited for again.
pub(crate) fn wait_for<F: Future + Unpin>(future: &mut F, at_most: Duration) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut context, until) = (Context::from_waker(&waker), Instant::now() + at_most);
    loop {
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(&mut context) {
            return Some(output);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexforge_domain::limiter::Caller;

    #[test]
    fn a_permit_is_waited_for_in_steps() {
        let pool = PermitPool::new(PermitLimits { total: 1, per_holder: 1, per_network: 1 });
        let long = Duration::from_secs(60);
        let held =
            wait_for(&mut pool.wait_for_permit(Caller::BACKGROUND), long).expect("one is free");
        let mut next = pool.wait_for_permit(Caller::BACKGROUND);
        assert!(wait_for(&mut next, Duration::ZERO).is_none());
        assert!(wait_for(&mut next, Duration::from_millis(1)).is_none());
        let freed = thread::spawn(move || drop(held));
        assert!(wait_for(&mut next, long).is_some_and(|permit| permit.is_ok()));
        freed.join().expect("it does not panic");
    }
}
