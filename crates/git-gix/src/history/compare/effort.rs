//! The limits of one comparison.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The remaining budget of one comparison. Parts of the result that exceed it are left out.
pub(crate) struct Effort {
    until: Instant,
    reading: Cell<u64>,
    showing: Cell<u64>,
    changes: usize,
    spent: Cell<bool>,
}

/// The maximum effort of one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The wall-clock time.
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
            until: Instant::now() + limits.time,
            reading: Cell::new(limits.reading),
            showing: Cell::new(limits.showing),
            changes: limits.changes,
            spent: Cell::new(false),
        }
    }

    /// Returns whether there is time left.
    pub(crate) fn has_time(&self) -> bool {
        self.note_outcome(Instant::now() < self.until)
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

fn subtract(from: &Cell<u64>, bytes: u64) -> bool {
    match from.get().checked_sub(bytes) {
        Some(left) => {
            from.set(left);
            true
        }
        None => false,
    }
}
