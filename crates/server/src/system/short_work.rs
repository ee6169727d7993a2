//! Measures the processor time of short work.
//!
//! Reading the processor time of a thread is a system call, while reading the clock is not. Work that took only a few
//! microseconds is therefore counted with its elapsed time. Longer work may have waited for a processor meanwhile, so
//! its processor time is read.

use std::cell::RefCell;
use std::time::Duration;

use super::work::thread_time;

/// Work that took less is counted with its elapsed time.
const SHORT: Duration = Duration::from_micros(50);

thread_local!(static COUNT: RefCell<Count> = const { RefCell::new(Count::NEW) });

/// Returns the processor time of work that ended just now on the current thread and took this long.
pub(super) fn time_of_work(elapsed: Duration) -> Duration {
    COUNT.with_borrow_mut(|count| count.add(elapsed, thread_time))
}

/// The processor time of one thread that was counted as the time of work.
struct Count {
    /// The processor time of the thread when it was last read.
    read: Duration,
    /// The time that was counted since then.
    since: Duration,
}

impl Count {
    const NEW: Self = Self { read: Duration::ZERO, since: Duration::ZERO };

    /// Counts work that took this long. Returns its processor time.
    fn add(&mut self, elapsed: Duration, thread_time: impl FnOnce() -> Duration) -> Duration {
        if elapsed < SHORT {
            self.since += elapsed;
            return elapsed;
        }
        let now = thread_time();
        let used = now.saturating_sub(self.read + self.since);
        *self = Self { read: now, since: Duration::ZERO };
        used.min(elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn long_work_is_counted_with_its_processor_time() {
        let mut count = Count::NEW;
        for (what, elapsed, thread_time, used) in [
            ("the thread had run before", 100, 5_000, 100),
            ("it waited for a processor", 10_000, 5_070, 70),
            ("short work", 40, 5_110, 40),
            ("more short work", 49, 5_159, 49),
            ("what was counted before is not counted again", 10_000, 5_359, 200),
            ("short work that waited for a processor", 45, 5_364, 45),
            ("the clock of the processor time is behind", 60, 5_370, 0),
            ("it ran all the time", 2_000, 7_370, 2_000),
        ] {
            let found = count.add(micros(elapsed), || micros(thread_time));
            assert_eq!(found, micros(used), "{what}");
        }
    }

    #[test]
    fn short_work_needs_no_system_call() {
        let mut count = Count::NEW;
        let found = count.add(micros(49), || unreachable!("the processor time is not read"));
        assert_eq!(found, micros(49));
    }
}
