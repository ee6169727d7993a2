//! Turns at something of which there are few: who came first is first.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// So many at a time.
pub(crate) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    free: u32,
    next: u64,
    waiting: VecDeque<u64>,
}

/// A turn, until it is dropped.
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    pub fn new(free: u32) -> Self {
        let state = State { free, next: 0, waiting: VecDeque::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits for a turn; `None` when there was none until then.
    pub fn take(&self, until: Instant) -> Option<Turn<'_>> {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(number);
        loop {
            if state.free > 0 && state.waiting.front() == Some(&number) {
                state.waiting.pop_front();
                state.free -= 1;
                // There may be one for the next, too.
                self.tell(&state);
                return Some(Turn(self));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.waiting.retain(|waiting| *waiting != number);
                self.tell(&state);
                return None;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Mostly nobody waits, and even then the system would be called.
    fn tell(&self, state: &State) {
        if !state.waiting.is_empty() {
            self.changed.notify_all();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done when a holder panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.free += 1;
        self.0.tell(&state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_came_first_is_first_and_nobody_waits_for_ever() {
        let turns = Turns::new(1);
        let soon = || Instant::now() + Duration::from_millis(20);
        let late = || Instant::now() + Duration::from_secs(60);
        let first = turns.take(soon()).expect("it is free");
        assert!(turns.take(soon()).is_none(), "it is taken");
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (turns, order) = (&turns, &order);
                scope.spawn(move || {
                    let _turn = turns.take(late()).expect("it becomes free");
                    order.lock().expect("no thread panics").push(number);
                });
                // Until it is in the queue.
                while turns.state().waiting.len() <= number {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().expect("no thread panics"), (0..8).collect::<Vec<_>>());
        assert!(turns.take(soon()).is_some(), "all were given back");
    }
}
