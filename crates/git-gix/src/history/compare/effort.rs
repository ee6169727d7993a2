//! The limits of one comparison.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How many times longer than its processor time a comparison may take.
const SLOWEST: u32 = 6;

/// The remaining budget of one comparison. Parts of the result that exceed it are left out.
pub(crate) struct Effort {
    time: Duration,
    begun: Instant,
    /// The processor time of the thread at the beginning.
    computed: Duration,
    reading: Cell<u64>,
    showing: Cell<u64>,
    changes: usize,
    paths: Cell<u64>,
    spent: Cell<bool>,
}

/// The total length of the paths that are listed. A short pack can hold very many long paths.
const PATH_BYTES: u64 = 16 << 20;

/// The maximum effort of one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The processor time of the thread. The wall-clock time may be [`SLOWEST`] times as long, so that the result
    /// does not depend on how busy the machine is.
    pub(crate) time: Duration,
    /// The bytes that are read to detect renames.
    pub(crate) reading: u64,
    /// The bytes of messages and diffs in the result.
    pub(crate) showing: u64,
    /// The number of changed tree entries.
    pub(crate) changes: usize,
}

impl Effort {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            time: limits.time,
            begun: Instant::now(),
            computed: thread_time(),
            reading: Cell::new(limits.reading),
            showing: Cell::new(limits.showing),
            changes: limits.changes,
            paths: Cell::new(PATH_BYTES),
            spent: Cell::new(false),
        }
    }

    /// Returns whether there is time left.
    pub(crate) fn has_time(&self) -> bool {
        let elapsed = self.begun.elapsed();
        // A thread computes no longer than the clock runs, and the clock is read faster.
        let has_time = elapsed < self.time
            || elapsed < self.time * SLOWEST
                && thread_time().saturating_sub(self.computed) < self.time;
        self.note_outcome(has_time)
    }

    /// Takes this number of bytes from the budget for rename detection. Returns `false` if it does not suffice.
    pub(crate) fn may_read(&self, bytes: u64) -> bool {
        self.note_outcome(subtract(&self.reading, bytes))
    }

    /// Takes this number of bytes from the budget for output. Returns `false` if it does not suffice.
    pub(crate) fn may_show(&self, bytes: usize) -> bool {
        self.note_outcome(subtract(&self.showing, bytes as u64))
    }

    /// Returns whether another change may be listed after this many.
    pub(crate) fn may_list(&self, entries: usize) -> bool {
        self.note_outcome(entries < self.changes)
    }

    /// Takes the length of a path from the budget for paths. Returns `false` if it does not suffice.
    pub(crate) fn may_keep_path(&self, bytes: usize) -> bool {
        self.note_outcome(subtract(&self.paths, bytes as u64))
    }

    /// Returns whether a limit was reached, so that the result is incomplete.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get()
    }

    /// Records whether a limit was reached.
    fn note_outcome(&self, granted: bool) -> bool {
        if !granted {
            self.spent.set(true);
        }
        granted
    }
}

/// The processor time that the current thread has used.
fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn subtract(from: &Cell<u64>, bytes: u64) -> bool {
    match from.get().checked_sub(bytes) {
        Some(left) => {
            from.set(left);
            true
        }
        None => false,
    }
}
