//! Limits for a single push and for all pushes of the process together.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hexforge_domain::limiter::{Caller, Holder};
use hexforge_domain::ports::git_transport::DisconnectSignal;

/// How often a push that waits for memory checks whether its client disconnected.
const HANG_UP_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// How long a push waits for memory that other pushes hold.
const LONGEST_WAIT_FOR_MEMORY: Duration = Duration::from_secs(30);

/// The limits of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushLimits {
    /// The most bytes of one pack, both received and stored.
    pub push_bytes: u64,
    /// The most bytes of all packs of a repository.
    pub repository_bytes: u64,
    /// The most bytes of one object after decompression.
    pub object_bytes: u64,
    /// The most bytes of memory that all pushes of this process may reserve at a time.
    pub memory_bytes: usize,
    /// The time limit from the first byte to the last check.
    pub time: Duration,
}

impl Default for PushLimits {
    fn default() -> Self {
        Self {
            push_bytes: 10 << 30,
            repository_bytes: 20 << 30,
            object_bytes: 2 << 30,
            memory_bytes: 512 << 20,
            time: Duration::from_secs(3 * 60 * 60),
        }
    }
}

/// The deadline and the disconnect signal of a long operation.
#[derive(Clone, Debug)]
pub(crate) struct StopSignal {
    pub(crate) deadline: Instant,
    pub(crate) disconnected: DisconnectSignal,
}

/// The reason why an operation ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    TimedOut,
    HungUp,
}

impl StopSignal {
    pub(crate) fn after(time: Duration, disconnected: DisconnectSignal) -> Self {
        Self { deadline: Instant::now() + time, disconnected }
    }

    pub(crate) fn check(&self) -> Result<(), StopReason> {
        if self.disconnected.is_signaled() {
            Err(StopReason::HungUp)
        } else if Instant::now() > self.deadline {
            Err(StopReason::TimedOut)
        } else {
            Ok(())
        }
    }
}

/// The memory budget of all pushes of a process. No caller may use more than three quarters of it,
/// so that others can still push.
pub(crate) struct MemoryBudget {
    total: usize,
    used: Mutex<Used>,
    freed: Condvar,
}

#[derive(Default)]
struct Used {
    all: usize,
    by_holder: HashMap<Holder, usize>,
}

/// The reason why a reservation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoMemory {
    /// The push needs more memory than one caller may use.
    Never,
    /// Other pushes hold the memory.
    Busy,
    Stopped(StopReason),
}

impl MemoryBudget {
    pub(crate) fn new(total: usize) -> Self {
        Self { total, used: Mutex::default(), freed: Condvar::new() }
    }

    /// Creates the reservation of one push, empty at first.
    pub(crate) fn share(self: &Arc<Self>, caller: Caller) -> MemoryShare {
        MemoryShare { budget: Arc::clone(self), holder: caller.holder(), held: Mutex::default() }
    }

    /// The most bytes that all pushes of one caller may reserve.
    fn limit_per_caller(&self) -> usize {
        self.total - self.total / 4
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory that one push has reserved. Dropping it releases everything.
pub(crate) struct MemoryShare {
    budget: Arc<MemoryBudget>,
    holder: Holder,
    held: Mutex<usize>,
}

impl MemoryShare {
    /// Reserves more memory. Waits up to [`LONGEST_WAIT_FOR_MEMORY`] while others hold it.
    pub(crate) fn reserve(&self, bytes: usize, stop: &StopSignal) -> Result<(), NoMemory> {
        let (total, limit_per_caller) = (self.budget.total, self.budget.limit_per_caller());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.saturating_add(bytes) > limit_per_caller {
            return Err(NoMemory::Never);
        }
        let until = Instant::now() + LONGEST_WAIT_FOR_MEMORY;
        let mut used = self.budget.used();
        while used.all + bytes > total || used.used_by(self.holder) + bytes > limit_per_caller {
            stop.check().map_err(NoMemory::Stopped)?;
            if Instant::now() > until {
                return Err(NoMemory::Busy);
            }
            let woken = self.budget.freed.wait_timeout(used, HANG_UP_CHECK_INTERVAL);
            (used, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        used.all += bytes;
        *used.by_holder.entry(self.holder).or_default() += bytes;
        *held += bytes;
        Ok(())
    }
}

impl Used {
    fn used_by(&self, holder: Holder) -> usize {
        self.by_holder.get(&holder).copied().unwrap_or_default()
    }

    fn release(&mut self, holder: Holder, bytes: usize) {
        self.all -= bytes;
        let left = self.used_by(holder) - bytes;
        if left == 0 {
            self.by_holder.remove(&holder);
        } else {
            self.by_holder.insert(holder, left);
        }
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        let held = *self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held > 0 {
            self.budget.used().release(self.holder, held);
            self.budget.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use hexforge_domain::id::UserId;
    use hexforge_domain::policy::Actor;

    use super::*;

    fn stop() -> StopSignal {
        StopSignal::after(Duration::from_secs(60), DisconnectSignal::default())
    }

    fn user(id: i64) -> Caller {
        Caller::new(Actor::User { id: UserId(id), external: false }, None)
    }

    #[test]
    fn memory_of_all_pushes_is_bounded_and_given_back() {
        let budget = Arc::new(MemoryBudget::new(100));
        let (one, two) = (budget.share(user(1)), budget.share(user(2)));
        one.reserve(60, &stop()).expect("it is free");
        let gone = stop();
        gone.disconnected.signal();
        assert_eq!(two.reserve(41, &gone), Err(NoMemory::Stopped(StopReason::HungUp)));
        two.reserve(40, &stop()).expect("it is free");
        let late = StopSignal::after(Duration::ZERO, DisconnectSignal::default());
        assert_eq!(one.reserve(1, &late), Err(NoMemory::Stopped(StopReason::TimedOut)));
        drop(two);
        one.reserve(15, &stop()).expect("it is free again");
        drop(one);
        assert_eq!(budget.used().all, 0);
        assert!(budget.used().by_holder.is_empty());
    }

    #[test]
    fn nobody_takes_the_memory_of_all() {
        let budget = Arc::new(MemoryBudget::new(100));
        let pushes = [budget.share(user(1)), budget.share(user(1))];
        assert_eq!(pushes[0].reserve(76, &stop()), Err(NoMemory::Never));
        pushes[0].reserve(70, &stop()).expect("it is free");
        let gone = stop();
        gone.disconnected.signal();
        assert_eq!(pushes[1].reserve(6, &gone), Err(NoMemory::Stopped(StopReason::HungUp)));
        budget.share(user(2)).reserve(30, &stop()).expect("it is left to others");
    }

    #[test]
    fn a_push_waits_for_memory_of_others() {
        let budget = Arc::new(MemoryBudget::new(100));
        let (one, two) = (budget.share(user(1)), budget.share(user(2)));
        one.reserve(60, &stop()).expect("it is free");
        let is_waiting = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                is_waiting.store(true, Ordering::Relaxed);
                let outcome = two.reserve(60, &stop());
                assert_eq!(budget.used().all, 60, "the first gave back before");
                outcome
            });
            while !is_waiting.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            assert_eq!(budget.used().all, 60, "only one has it");
            drop(one);
            assert_eq!(waiting.join().expect("no panic"), Ok(()));
        });
    }
}
