//! Measures how long threads wait for a processor, from the scheduler statistics of Linux.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::thread::gettid;

/// The time between two measurements of all threads.
const INTERVAL: Duration = Duration::from_millis(100);

/// Processors count as busy if the waits of all threads add up to this fraction of the elapsed time.
const LONG: f64 = 0.1;

/// How long processors count as busy after threads waited long.
const MEMORY: Duration = Duration::from_secs(1);

/// The processor time of a thread, and the time that it waited for a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) used: Duration,
    pub(super) waited: Duration,
}

/// The scheduler statistics of one thread.
#[derive(Debug)]
pub(super) struct SchedulerFile {
    thread: Pid,
    /// The file `schedstat`. It begins with two numbers of nanoseconds: the time on a processor,
    /// and the time spent waiting for one.
    times: Option<File>,
}

impl SchedulerFile {
    /// Opens the statistics of the current thread. If the file is missing, all times are 0.
    pub(super) fn of_current_thread() -> Self {
        Self { thread: gettid(), times: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// Returns whether the thread runs or waits for a processor. The file `stat` is opened for each
    /// call, because many threads are active at once and file descriptors are limited.
    pub(super) fn is_runnable(&self) -> bool {
        let path = format!("/proc/self/task/{}/stat", self.thread.as_raw_nonzero());
        let line = std::fs::read_to_string(path).unwrap_or_default();
        // The state follows the name of the thread, which is in parentheses.
        line.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
    }

    pub(super) fn read(&self) -> Times {
        let mut line = [0; 64];
        let read =
            self.times.as_ref().and_then(|file| file.read_at(&mut line, 0).ok()).unwrap_or(0);
        let text = str::from_utf8(&line[..read]).unwrap_or_default();
        let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().unwrap_or(0));
        let mut next = || Duration::from_nanos(numbers.next().unwrap_or(0));
        Times { used: next(), waited: next() }
    }
}

/// The waiting times of the watched threads, on which requests depend.
#[derive(Debug, Default)]
pub(super) struct Waits(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    threads: HashMap<Pid, Thread>,
    looked_at: Option<Instant>,
    long_until: Option<Instant>,
}

#[derive(Debug)]
struct Thread {
    file: SchedulerFile,
    /// The waiting time at the last measurement.
    waited: Duration,
}

impl Waits {
    /// Watches the current thread until it ends.
    pub(super) fn watch_current_thread(self: &Arc<Self>) {
        thread_local!(static WATCHED: RefCell<Option<Watched>> = const { RefCell::new(None) });
        WATCHED.with_borrow_mut(|watched| {
            watched.get_or_insert_with(|| {
                let (id, file) = (gettid(), SchedulerFile::of_current_thread());
                let waited = file.read().waited;
                self.lock().threads.insert(id, Thread { file, waited });
                Watched { waits: Arc::clone(self), id }
            });
        });
    }

    /// Returns whether threads waited long recently. The first measurement after a long pause cannot tell.
    pub(super) fn are_long(&self, now: Instant) -> bool {
        let mut state = self.lock();
        if state.looked_at.is_none_or(|last| now >= last + INTERVAL) {
            let threads = state.threads.values_mut();
            let waited = threads.map(Thread::waited_since_last_measurement).sum();
            state.record(waited, now);
        }
        state.long_until.is_some_and(|until| now < until)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is usable: no code that can panic runs while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Thread {
    fn waited_since_last_measurement(&mut self) -> Duration {
        let before = std::mem::replace(&mut self.waited, self.file.read().waited);
        self.waited.saturating_sub(before)
    }
}

impl State {
    /// Records how long all threads waited since the last measurement.
    fn record(&mut self, waited: Duration, now: Instant) {
        let elapsed = self.looked_at.replace(now).map(|last| now - last);
        let elapsed = elapsed.filter(|elapsed| *elapsed < MEMORY);
        if elapsed.is_some_and(|elapsed| waited > elapsed.mul_f64(LONG)) {
            self.long_until = Some(now + MEMORY);
        }
    }
}

/// Stops watching a thread when it ends.
struct Watched {
    waits: Arc<Waits>,
    id: Pid,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.waits.lock().threads.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn processors_are_busy_for_a_while_after_threads_waited_long() {
        let (begin, ms) = (Instant::now(), Duration::from_millis);
        let mut state = State::default();
        for (at, waited, is_long) in [
            (0, 5_000, false),
            (100, 9, false),
            (200, 11, true),
            (1_100, 0, true),
            (1_200, 0, false),
            (2_000, 81, true),
            (9_000, 5_000, false),
            (9_100, 11, true),
        ] {
            let now = begin + ms(at);
            state.record(ms(waited), now);
            assert_eq!(state.long_until.is_some_and(|until| now < until), is_long, "{at}");
        }
    }

    #[test]
    fn threads_are_measured_until_they_end() {
        let waits = Arc::<Waits>::default();
        thread::scope(|scope| {
            let watch = || {
                waits.watch_current_thread();
                waits.watch_current_thread();
                assert_eq!(waits.lock().threads.len(), 1);
            };
            scope.spawn(watch).join().expect("it does not panic");
        });
        assert!(waits.lock().threads.is_empty());
    }

    #[test]
    fn threads_that_share_a_processor_wait() {
        let wanted = 4 * thread::available_parallelism().expect("it is known").get();
        let until = Instant::now() + Duration::from_secs(60);
        let has_waited = AtomicBool::new(false);
        thread::scope(|scope| {
            let spin = || {
                let file = SchedulerFile::of_current_thread();
                while !has_waited.load(Ordering::Relaxed) {
                    assert!(Instant::now() < until, "no thread waits");
                    let waited = file.read().waited >= Duration::from_millis(5);
                    has_waited.fetch_or(waited, Ordering::Relaxed);
                }
            };
            (0..wanted).for_each(|_| drop(scope.spawn(spin)));
        });
    }
}
