//! Retrying and canceling: which builds of a pipeline are meant.

use super::stages::{Decision, StageBuild};
use super::status::{Status, Transition};

/// What a retry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry<I> {
    /// Builds that a new, pending build of the same name takes the place of.
    pub again: Vec<I>,
    /// Skipped builds of later stages, which are created again ([`Transition::Reopen`]).
    pub reopened: Vec<I>,
}

/// Retries a pipeline: its failed builds, allowed failures too. Canceled ones stay.
pub fn retry_pipeline<I: Copy>(latest: &[StageBuild<I>]) -> Retry<I> {
    let failed = || latest.iter().filter(|build| build.status == Status::Failed);
    Retry {
        again: failed().map(|build| build.id).collect(),
        reopened: failed()
            .map(|build| build.stage_index)
            .min()
            .map_or_else(Vec::new, |stage| skipped_after(latest, stage)),
    }
}

/// Whether a single build can be retried: it has come to an end.
pub fn is_retryable(status: Status) -> bool {
    status.is_complete()
}

/// The builds that are created again when a build of this stage is retried.
pub fn skipped_after<I: Copy>(latest: &[StageBuild<I>], stage_index: i32) -> Vec<I> {
    latest
        .iter()
        .filter(|build| build.status == Status::Skipped && build.stage_index > stage_index)
        .map(|build| build.id)
        .collect()
}

/// Cancels a pipeline: what waits or runs is canceled, and what was not reached yet is skipped,
/// so that nothing runs after a cancellation, not even jobs for failures. Nothing is decided when
/// there is nothing to cancel.
pub fn cancel_pipeline<I: Copy>(latest: &[StageBuild<I>]) -> Vec<Decision<I>> {
    let decided = |status: Status| match status {
        Status::Pending | Status::Running => Some(Transition::Cancel),
        Status::Created => Some(Transition::Skip),
        Status::Success | Status::Failed | Status::Canceled | Status::Skipped => None,
    };
    let decisions: Vec<_> = latest
        .iter()
        .filter_map(|build| {
            decided(build.status).map(|transition| Decision { id: build.id, transition })
        })
        .collect();
    if decisions.iter().any(|decision| decision.transition == Transition::Cancel) {
        decisions
    } else {
        Vec::new()
    }
}
