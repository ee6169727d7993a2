//! A fair semaphore: waiting threads get a permit in order of arrival.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Instant;

/// A semaphore with a fixed number of permits.
pub(crate) struct FairSemaphore(Mutex<State>);

struct State {
    free: u32,
    next: u64,
    waiting: VecDeque<(u64, Thread)>,
}

/// A permit. Dropping it frees the permit.
pub(crate) struct Permit(Arc<FairSemaphore>);

impl FairSemaphore {
    pub fn new(free: u32) -> Self {
        Self(Mutex::new(State { free, next: 0, waiting: VecDeque::new() }))
    }

    /// Waits for a permit. Returns `None` when none is free before `until`.
    pub fn acquire(self: &Arc<Self>, until: Instant) -> Option<Permit> {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back((number, thread::current()));
        loop {
            let is_first = state.waiting.front().is_some_and(|(first, _)| *first == number);
            if state.free > 0 && is_first {
                state.waiting.pop_front();
                state.free -= 1;
                // Another permit may be free for the next thread.
                state.wake_first();
                return Some(Permit(Arc::clone(self)));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.waiting.retain(|(waiting, _)| *waiting != number);
                state.wake_first();
                return None;
            }
            drop(state);
            thread::park_timeout(left);
            state = self.state();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic of a lock holder leaves no inconsistent state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Wakes only the first waiting thread. The others would run only to wait again.
    fn wake_first(&self) {
        if self.free > 0
            && let Some((_, first)) = self.waiting.front()
        {
            first.unpark();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.free += 1;
        state.wake_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_came_first_is_first_and_nobody_waits_for_ever() {
        let semaphore = Arc::new(FairSemaphore::new(1));
        let soon = || Instant::now() + Duration::from_millis(20);
        let late = || Instant::now() + Duration::from_secs(60);
        let first = semaphore.acquire(soon()).expect("it is free");
        assert!(semaphore.acquire(soon()).is_none(), "it is taken");
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (semaphore, order) = (&semaphore, &order);
                scope.spawn(move || {
                    let _permit = semaphore.acquire(late()).expect("it becomes free");
                    order.lock().expect("no thread panics").push(number);
                });
                // Waits until the thread is in the queue.
                while semaphore.state().waiting.len() <= number {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().expect("no thread panics"), (0..8).collect::<Vec<_>>());
        assert!(semaphore.acquire(soon()).is_some(), "all were given back");
    }
}
