//! Retrying and canceling: selects the affected builds of a pipeline.

use super::stages::{Decision, StageBuild};
use super::status::{Status, Transition};

/// The effect of a retry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry<I> {
    /// Builds that are each replaced by a new, pending build of the same name.
    pub again: Vec<I>,
    /// Skipped builds of later stages, which return to the status created ([`Transition::Reopen`]).
    pub reopened: Vec<I>,
}

/// Selects the builds for a retry of a pipeline: its failed builds, allowed failures included. Canceled builds stay
/// canceled.
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

/// Returns whether a single build can be retried, which requires that it is complete.
pub fn is_retryable(status: Status) -> bool {
    status.is_complete()
}

/// The skipped builds of later stages, which are reopened when a build of this stage is retried.
pub fn skipped_after<I: Copy>(latest: &[StageBuild<I>], stage_index: i32) -> Vec<I> {
    latest
        .iter()
        .filter(|build| build.status == Status::Skipped && build.stage_index > stage_index)
        .map(|build| build.id)
        .collect()
}

/// Decides the cancellation of a pipeline: pending and running builds are canceled, and created builds are skipped. So
/// nothing runs after a cancellation, not even jobs with `when: on_failure`. Returns no decisions when no build is
/// pending or running.
pub fn cancel_pipeline<I: Copy>(latest: &[StageBuild<I>]) -> Vec<Decision<I>> {
    let transition_from = |status: Status| match status {
        Status::Pending | Status::Running => Some(Transition::Cancel),
        Status::Created => Some(Transition::Skip),
        Status::Success | Status::Failed | Status::Canceled | Status::Skipped => None,
    };
    let decisions: Vec<_> = latest
        .iter()
        .filter_map(|build| {
            transition_from(build.status).map(|transition| Decision { id: build.id, transition })
        })
        .collect();
    if decisions.iter().any(|decision| decision.transition == Transition::Cancel) {
        decisions
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::set::pipeline_status;
    use crate::ci::stages::process;
    use crate::ci::when::When;
    use Status::*;

    fn build(id: &'static str, stage_index: i32, status: Status) -> StageBuild<&'static str> {
        StageBuild { id, stage_index, status, when: When::OnSuccess, allow_failure: false }
    }

    #[test]
    fn a_retry_runs_failed_builds_and_reopens_what_was_skipped_after_them() {
        let latest = [
            build("early", 0, Skipped),
            build("compile", 0, Success),
            StageBuild { allow_failure: true, ..build("lint", 1, Failed) },
            build("unit", 1, Failed),
            build("slow", 1, Canceled),
            build("beside", 1, Skipped),
            build("package", 2, Skipped),
            StageBuild { when: When::Manual, ..build("ship", 3, Skipped) },
            build("notify", 3, Failed),
        ];
        let retry = retry_pipeline(&latest);
        assert_eq!(retry.again, ["lint", "unit", "notify"]);
        assert_eq!(retry.reopened, ["package", "ship"]);
    }

    #[test]
    fn without_failed_builds_a_retry_changes_nothing() {
        for status in [Created, Pending, Running, Success, Canceled, Skipped] {
            let retry = retry_pipeline(&[build("one", 0, status), build("two", 1, Skipped)]);
            assert_eq!(retry, Retry { again: vec![], reopened: vec![] }, "{status:?}");
        }
    }

    #[test]
    fn what_was_reopened_waits_for_the_new_builds() {
        let after = [build("unit", 1, Pending), build("package", 2, Created)];
        assert_eq!(process(&after), []);
        let status = pipeline_status(after.iter().map(StageBuild::member), false);
        assert_eq!(status, Pending);
    }

    #[test]
    fn a_build_that_has_ended_can_be_retried() {
        for status in Status::ALL {
            let expected = [Success, Failed, Canceled].contains(&status);
            assert_eq!(is_retryable(status), expected, "{status:?}");
        }
    }

    #[test]
    fn a_cancellation_stops_what_goes_on_and_lets_nothing_begin() {
        let latest = [
            build("compile", 0, Success),
            build("unit", 1, Running),
            build("lint", 1, Pending),
            build("ship", 2, Created),
            StageBuild { when: When::OnFailure, ..build("mail", 2, Created) },
            StageBuild { when: When::Manual, ..build("by hand", 0, Skipped) },
        ];
        let decision = |id, transition| Decision { id, transition };
        assert_eq!(
            cancel_pipeline(&latest),
            [
                decision("unit", Transition::Cancel),
                decision("lint", Transition::Cancel),
                decision("ship", Transition::Skip),
                decision("mail", Transition::Skip),
            ]
        );
        let after = [Success, Canceled, Canceled, Skipped].map(|status| build("", 0, status));
        assert_eq!(pipeline_status(after.iter().map(StageBuild::member), false), Canceled);
    }

    #[test]
    fn there_is_nothing_to_cancel_where_nothing_goes_on() {
        assert_eq!(cancel_pipeline(&[build("one", 0, Success), build("two", 1, Failed)]), []);
        assert_eq!(cancel_pipeline(&[build("one", 0, Created)]), []);
        assert_eq!(cancel_pipeline::<u8>(&[]), []);
    }
}
