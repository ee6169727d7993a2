//! Turns of the calls that write commits to the same branch.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hexforge_domain::id::ProjectId;

/// The maximum time for which a call waits for its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Lets one call of this process after the other write to a branch. Without turns, calls that take long would lose
/// against short ones again and again. Pushes of git clients take no turn, and other processes have turns of their own:
/// the comparison of the branch with its expected commit keeps writes apart, not the turn.
#[derive(Clone, Default)]
pub struct BranchTurns(Arc<Shared>);

#[derive(Default)]
struct Shared {
    taken: Mutex<HashSet<Branch>>,
    ended: Condvar,
}

type Branch = (ProjectId, String);

/// The turn of a call. It ends when this value is dropped.
pub(crate) struct Turn {
    /// Whether another call had the turn before.
    pub waited: bool,
    /// `None` if the wait was too long.
    branch: Option<Branch>,
    shared: Arc<Shared>,
}

impl BranchTurns {
    /// Waits until no other call has the turn. Returns without the turn after [`LONGEST_WAIT`].
    pub(crate) fn wait(&self, project: ProjectId, branch: &str) -> Turn {
        self.wait_at_most(LONGEST_WAIT, (project, branch.to_owned()))
    }

    fn wait_at_most(&self, longest: Duration, branch: Branch) -> Turn {
        let shared = Arc::clone(&self.0);
        let end = Instant::now() + longest;
        let mut waited = false;
        let mut taken = shared.taken();
        while taken.contains(&branch) {
            waited = true;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(taken);
                return Turn { waited, branch: None, shared };
            }
            let woken = shared.ended.wait_timeout(taken, left);
            taken = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        taken.insert(branch.clone());
        drop(taken);
        Turn { waited, branch: Some(branch), shared }
    }
}

impl Shared {
    fn taken(&self) -> MutexGuard<'_, HashSet<Branch>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(branch) = &self.branch {
            self.shared.taken().remove(branch);
            self.shared.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    fn wait(turns: &BranchTurns, branch: &str) -> Turn {
        turns.wait_at_most(SHORT, (ProjectId(1), branch.to_owned()))
    }

    #[test]
    fn a_call_waits_for_the_turn_of_another_call_on_the_same_branch() {
        let turns = BranchTurns::default();
        let first = wait(&turns, "master");
        assert!(!first.waited);
        assert!(!wait(&turns, "other").waited);
        let late = wait(&turns, "master");
        assert!(late.waited && late.branch.is_none());
        drop(late);
        assert!(wait(&turns, "master").waited, "a call without the turn does not end it");
        drop(first);
        assert!(!wait(&turns, "master").waited);
        assert!(turns.0.taken().is_empty());
    }

    #[test]
    fn a_waiting_call_goes_on_when_the_turn_ends() {
        let turns = BranchTurns::default();
        let first = wait(&turns, "master");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| turns.wait(ProjectId(1), "master"));
            std::thread::sleep(SHORT);
            drop(first);
            assert!(second.join().is_ok_and(|turn| turn.branch.is_some()));
        });
    }
}
