//! A limit to how much is done at once.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use hexforge_domain::ports::git::GitError;

/// Lets in so many at a time; others wait for a while.
pub(crate) struct Admission {
    free: Mutex<usize>,
    left: Condvar,
    patience: Duration,
}

impl Admission {
    pub(crate) fn new(at_once: usize, patience: Duration) -> Self {
        Self { free: Mutex::new(at_once.max(1)), left: Condvar::new(), patience }
    }

    /// Waits to be let in; the place is free again when what is returned is dropped.
    pub(crate) fn enter(&self) -> Result<Admitted<'_>, GitError> {
        // Nothing that could panic is done while the lock is held.
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut free, _) = self
            .left
            .wait_timeout_while(free, self.patience, |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        if *free == 0 {
            return Err(GitError::Busy);
        }
        *free -= 1;
        Ok(Admitted(self))
    }
}

/// A place among those who are let in.
pub(crate) struct Admitted<'a>(&'a Admission);

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}
