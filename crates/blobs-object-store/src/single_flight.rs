//! Deduplicates concurrent work: one thread does it, and all others wait for the result.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Running work by key.
pub(crate) struct SingleFlight<K, E> {
    running: Mutex<HashMap<K, Arc<Flight<E>>>>,
}

struct Flight<E> {
    outcome: Mutex<Option<Result<(), E>>>,
    finished: Condvar,
}

impl<K, E> Default for SingleFlight<K, E> {
    fn default() -> Self {
        Self { running: Mutex::default() }
    }
}

impl<K: Copy + Eq + Hash, E: Clone> SingleFlight<K, E> {
    /// Does the work, or waits for the thread that already does it and returns its result. `broken` is the result of
    /// work that panicked.
    pub(crate) fn run(
        &self,
        key: K,
        broken: E,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let (flight, is_first) = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            match running.get(&key) {
                Some(flight) => (Arc::clone(flight), false),
                None => {
                    let flight =
                        Arc::new(Flight { outcome: Mutex::default(), finished: Condvar::new() });
                    running.insert(key, Arc::clone(&flight));
                    (flight, true)
                }
            }
        };
        if !is_first {
            let outcome = flight.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = flight
                .finished
                .wait_while(outcome, |outcome| outcome.is_none())
                .unwrap_or_else(PoisonError::into_inner);
            return outcome.clone().unwrap_or(Err(broken));
        }
        let mut completion = Completion { flights: self, key, flight, outcome: Err(broken) };
        completion.outcome = work();
        completion.outcome.clone()
    }
}

/// Publishes the result to all waiting threads on drop, even when the work panicked.
struct Completion<'a, K: Copy + Eq + Hash, E: Clone> {
    flights: &'a SingleFlight<K, E>,
    key: K,
    flight: Arc<Flight<E>>,
    outcome: Result<(), E>,
}

impl<K: Copy + Eq + Hash, E: Clone> Drop for Completion<'_, K, E> {
    fn drop(&mut self) {
        self.flights.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        let mut outcome = self.flight.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        *outcome = Some(self.outcome.clone());
        self.flight.finished.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    impl<E> SingleFlight<i32, E> {
        /// Waits until this number of callers wait for the running work.
        fn wait_for_callers(&self, callers: usize) {
            // The map and the working caller hold one reference each.
            let is_shared = |flight: &Arc<Flight<E>>| Arc::strong_count(flight) == callers + 2;
            while !self.running.lock().expect("unharmed").get(&1).is_some_and(is_shared) {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn work_is_done_once_for_all_who_wait() {
        for outcome in [Ok(()), Err("failed")] {
            let (flights, count) = (SingleFlight::default(), AtomicUsize::new(0));
            let work = || {
                count.fetch_add(1, Ordering::SeqCst);
                flights.wait_for_callers(7);
                outcome
            };
            std::thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..8).map(|_| scope.spawn(|| flights.run(1, "broken", work))).collect();
                for thread in threads {
                    assert_eq!(thread.join().expect("it did not panic"), outcome);
                }
            });
            assert_eq!(count.load(Ordering::SeqCst), 1);
            assert_eq!(flights.run(1, "broken", || Ok(())), Ok(()), "later callers do it again");
        }
    }

    #[test]
    fn work_that_panics_ends_the_waiting() {
        let flights = SingleFlight::<i32, &str>::default();
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                flights.run(1, "broken", || {
                    flights.wait_for_callers(1);
                    panic!("it broke")
                })
            });
            while flights.running.lock().expect("unharmed").is_empty() {
                std::thread::yield_now();
            }
            assert_eq!(flights.run(1, "broken", || Ok(())), Err("broken"));
            assert!(first.join().is_err());
        });
    }
}
