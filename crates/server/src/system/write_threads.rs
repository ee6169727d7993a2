//! Runs write transactions of threads with a low priority on threads of normal priority.
//!
//! A transaction holds locks of the database; on SQLite there is only one. A thread of [low priority](super::work)
//! would hold them for as long as others keep the processors busy, and all writers would wait. A thread cannot raise
//! its priority again, so it hands its transaction to a thread that was never lowered.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use hexforge_domain::ports::store::{Mode, ReadSnapshot, Store, StoreError, Tx, Verdict};
use rayon_core::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::work;

/// The number of threads. It is larger than the number of permits for pushes, sign-ins and searches together. So
/// transactions never wait for a thread, only for a connection of the store: in order of arrival and with a timeout.
const NUMBER: usize = 56;

/// A store, and threads for the write transactions of callers with a low priority.
pub struct WriteThreads {
    store: Arc<dyn Store>,
    threads: ThreadPool,
}

impl WriteThreads {
    /// Starts the threads, with the priority of the current one.
    ///
    /// # Errors
    /// The system cannot start the threads.
    pub fn start(store: Arc<dyn Store>) -> Result<Self, ThreadPoolBuildError> {
        let name = |_| "writes".to_owned();
        let threads = ThreadPoolBuilder::new().num_threads(NUMBER).thread_name(name).build()?;
        Ok(Self { store, threads })
    }
}

impl Store for WriteThreads {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        if mode != Mode::Write || !work::is_lowered() {
            return self.store.transact(mode, work);
        }
        let (outcome, used) = self.threads.install(|| {
            let begin = work::thread_time();
            let outcome = self.store.transact(mode, work);
            (outcome, work::thread_time().saturating_sub(begin))
        });
        DELEGATED.set(DELEGATED.get() + used);
        outcome
    }

    fn snapshot(&self) -> Option<Box<dyn ReadSnapshot>> {
        self.store.snapshot()
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        self.store.check_ready()
    }
}

thread_local!(static DELEGATED: Cell<Duration> = const { Cell::new(Duration::ZERO) });

/// The processor time that other threads have spent on transactions of the current one.
pub(super) fn delegated_time() -> Duration {
    DELEGATED.get()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;
    use std::time::Instant;

    use hexforge_domain::id::UserId;
    use hexforge_domain::limiter::Holder;
    use hexforge_domain::ports::work::WorkThreads;
    use hexforge_domain_testing::fakes::FakeStore;
    use rustix::process::getpriority_process;

    use super::super::PriorityThreads;
    use super::*;

    const EVE: Holder = Holder::User(UserId(1));

    /// Runs a closure on a thread of low priority.
    fn lowered<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = channel();
        let job = move || sender.send(work()).unwrap_or_else(|_| panic!("the test waits"));
        PriorityThreads::new().start(EVE, Box::new(job)).expect("there is a thread");
        receiver.recv().expect("the work ends")
    }

    fn niceness() -> i32 {
        getpriority_process(None).expect("it can be read")
    }

    fn store() -> Arc<dyn Store> {
        Arc::new(WriteThreads::start(Arc::new(FakeStore::default())).expect("there are threads"))
    }

    #[test]
    fn writes_of_a_lowered_thread_have_normal_priority_and_are_charged() {
        let (store, normal) = (store(), niceness());
        let (outside, inside, read, charged) = lowered(move || {
            let before = delegated_time();
            let inside = store.write::<_, StoreError>(|_| {
                let until = Instant::now() + Duration::from_millis(20);
                while Instant::now() < until {}
                Ok(niceness())
            });
            let read = store.read::<_, StoreError>(|_| Ok(niceness()));
            (
                niceness(),
                inside.expect("it commits"),
                read.expect("it reads"),
                delegated_time() - before,
            )
        });
        assert!(outside > normal, "the thread was lowered");
        assert_eq!(inside, normal);
        assert_eq!(read, outside, "reads hold no lock");
        assert!(charged >= Duration::from_millis(5), "{charged:?}");
    }

    #[test]
    fn a_panic_in_a_transaction_reaches_its_caller_and_the_next_is_done() {
        let store = store();
        let done = lowered(move || {
            let write = || store.write::<(), StoreError>(|_| panic!("as a library may"));
            assert!(catch_unwind(AssertUnwindSafe(write)).is_err(), "the panic is not lost");
            store.write::<_, StoreError>(|_| Ok(7)).ok()
        });
        assert_eq!(done, Some(7));
    }
}
