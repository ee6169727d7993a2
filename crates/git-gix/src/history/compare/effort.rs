//! How much a comparison may take.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// What is left to be spent on one comparison. What there was no more for is missing in the outcome.
pub(crate) struct Effort {
    until: Instant,
    reading: Cell<u64>,
    showing: Cell<u64>,
    changes: usize,
    spent: Cell<bool>,
}

/// What may be spent on one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// From the beginning to the end.
    pub(crate) time: Duration,
    /// Bytes that are read to find out which files are similar.
    pub(crate) reading: u64,
    /// Bytes of messages and diffs.
    pub(crate) showing: u64,
    /// Entries of trees that are different.
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

    /// Whether there is time to go on.
    pub(super) fn has_time(&self) -> bool {
        self.granted(Instant::now() < self.until)
    }

    /// Whether so many bytes may be read to see how similar files are.
    pub(super) fn may_read(&self, bytes: u64) -> bool {
        self.granted(take(&self.reading, bytes))
    }

    /// Whether so many bytes may be shown.
    pub(super) fn may_show(&self, bytes: usize) -> bool {
        self.granted(take(&self.showing, bytes as u64))
    }

    /// Whether another entry may be looked at when there are so many.
    pub(super) fn may_list(&self, entries: usize) -> bool {
        self.granted(entries < self.changes)
    }

    /// Whether anything had to be left out.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get()
    }

    fn granted(&self, granted: bool) -> bool {
        if !granted {
            self.spent.set(true);
        }
        granted
    }
}

fn take(from: &Cell<u64>, bytes: u64) -> bool {
    match from.get().checked_sub(bytes) {
        Some(left) => {
            from.set(left);
            true
        }
        None => false,
    }
}
