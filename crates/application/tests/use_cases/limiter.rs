//! Long work of a caller who used much processor time waits while others need the processors.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hexforge_application::limiter::Limiter;
use hexforge_domain::id::UserId;
use hexforge_domain::limiter::{Caller, Holder, TransferLimits};
use hexforge_domain::ports::work::{Job, ReadyCheck, WorkThreads};

/// Threads that collect jobs and do not run them. Each job seems to take an hour of processor time.
#[derive(Default)]
struct HeldThreads {
    are_busy: AtomicBool,
    readings: AtomicU64,
    started: Mutex<Vec<(ReadyCheck, Job)>>,
}

impl std::fmt::Debug for HeldThreads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeldThreads")
    }
}

impl WorkThreads for HeldThreads {
    fn start(&self, _: Holder, _: Job) -> io::Result<()> {
        unreachable!("the limiter asks whether work is ready")
    }

    fn start_when(&self, _: Holder, is_ready: ReadyCheck, job: Job) -> io::Result<()> {
        self.started.lock().expect("no test panics").push((is_ready, job));
        Ok(())
    }

    fn are_processors_busy(&self) -> bool {
        self.are_busy.load(Ordering::Relaxed)
    }

    fn current_thread_time(&self) -> Duration {
        Duration::from_secs(3_600 * self.readings.fetch_add(1, Ordering::Relaxed))
    }
}

const ADA: UserId = UserId(1);
const EVE: UserId = UserId(2);

/// Starts a comparison for a user.
fn start(limiter: &Limiter, threads: &HeldThreads, user: UserId) -> (ReadyCheck, Job) {
    let mut waiting = pin!(limiter.comparisons.wait_for_permit(Caller::of_user(Some(user), None)));
    let permit = match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(permit) => permit.expect("the queue is empty"),
        Poll::Pending => panic!("a permit is free"),
    };
    limiter.start(permit, || {}).expect("there is a thread");
    threads.started.lock().expect("no test panics").pop().expect("it was started")
}

#[test]
fn long_work_waits_after_long_work_of_its_caller_while_others_need_the_processors() {
    let threads = Arc::<HeldThreads>::default();
    let limiter = Limiter::new(TransferLimits::default()).with_threads(Arc::clone(&threads) as _);
    threads.are_busy.store(true, Ordering::Relaxed);
    let (ready, job) = start(&limiter, &threads, EVE);
    assert!(ready(), "she has used nothing");
    job();
    let (waits, _job) = start(&limiter, &threads, EVE);
    assert!(waits(), "nobody else is there");
    let (ready, _job) = start(&limiter, &threads, ADA);
    assert!(ready(), "she has used nothing");
    start(&limiter, &threads, EVE).1();
    assert!(!waits(), "she has used much, and another caller needs the processors");
    threads.are_busy.store(false, Ordering::Relaxed);
    assert!(waits(), "nobody needs the processors");
}
