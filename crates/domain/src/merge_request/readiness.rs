//! Whether a merge request can be merged now, apart from conflicts.

use super::{MergeRequest, MergeStatus, wip};
use crate::ci::status::Status;
use crate::project::Features;

/// The facts outside of the request that decide whether it can be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeConditions {
    /// Whether both branches exist, and the newest version has commits.
    pub has_commits: bool,
    /// The status of the newest pipeline of the source project for the head and the source branch.
    pub pipeline: Option<Status>,
    /// Whether a discussion on the changes is not resolved.
    pub unresolved_discussions: bool,
}

/// Why a merge request cannot be merged now. The API shows the same refusal for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// The request is closed or merged.
    #[error("the merge request is not open")]
    NotOpen,
    /// The title marks the request as work in progress.
    #[error("the merge request is work in progress")]
    WorkInProgress,
    /// A branch is missing, or there is nothing to merge.
    #[error("a branch is missing or has no commits to merge")]
    NoCommits,
    /// An earlier check found conflicts.
    #[error("the branches conflict")]
    Conflicting,
    /// The project requires a successful pipeline.
    #[error("the pipeline of the head did not succeed")]
    Pipeline,
    /// The project requires that all discussions are resolved.
    #[error("a discussion is not resolved")]
    Discussions,
}

impl MergeRequest {
    /// Checks the conditions for a merge in the order of the reference.
    pub fn check_ready(&self, found: MergeConditions, rules: Features) -> Result<(), NotReady> {
        if !self.state.is_open() {
            return Err(NotReady::NotOpen);
        }
        if wip::is_work_in_progress(self.title.as_str()) {
            return Err(NotReady::WorkInProgress);
        }
        if !found.has_commits {
            return Err(NotReady::NoCommits);
        }
        if self.merge_status == MergeStatus::Conflicting {
            return Err(NotReady::Conflicting);
        }
        let succeeded = |status| matches!(status, Status::Success | Status::Skipped);
        if rules.merge_only_if_build_succeeds && !found.pipeline.is_none_or(succeeded) {
            return Err(NotReady::Pipeline);
        }
        if rules.merge_only_if_discussions_resolved && found.unresolved_discussions {
            return Err(NotReady::Discussions);
        }
        Ok(())
    }
}

/// Returns whether an automatic merge may wait for a pipeline with this status.
pub fn is_active(pipeline: Option<Status>) -> bool {
    matches!(pipeline, Some(Status::Pending | Status::Running))
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::a_request;
    use super::*;
    use crate::merge_request::{MergeRequestState, Title};

    const READY: MergeConditions =
        MergeConditions { has_commits: true, pipeline: None, unresolved_discussions: false };

    /// Reference section 6.3.
    #[test]
    fn the_first_condition_that_fails_answers() {
        let strict = Features {
            merge_only_if_build_succeeds: true,
            merge_only_if_discussions_resolved: true,
            ..Features::default()
        };
        let mut request = a_request();
        let mut found = MergeConditions {
            has_commits: false,
            pipeline: Some(Status::Running),
            unresolved_discussions: true,
        };
        request.state = MergeRequestState::Merged;
        request.title = Title::stored("WIP: x".into());
        request.merge_status = MergeStatus::Conflicting;
        assert_eq!(request.check_ready(found, strict), Err(NotReady::NotOpen));
        request.state = MergeRequestState::Reopened;
        assert_eq!(request.check_ready(found, strict), Err(NotReady::WorkInProgress));
        request.title = Title::stored("x".into());
        assert_eq!(request.check_ready(found, strict), Err(NotReady::NoCommits));
        found.has_commits = true;
        assert_eq!(request.check_ready(found, strict), Err(NotReady::Conflicting));
        request.merge_status = MergeStatus::Unchecked;
        assert_eq!(request.check_ready(found, strict), Err(NotReady::Pipeline));
        found.pipeline = Some(Status::Success);
        assert_eq!(request.check_ready(found, strict), Err(NotReady::Discussions));
        assert_eq!(request.check_ready(found, Features::default()), Ok(()));
        found.unresolved_discussions = false;
        assert_eq!(request.check_ready(found, strict), Ok(()));
    }

    #[test]
    fn a_required_pipeline_succeeded_was_skipped_or_does_not_exist() {
        let rules = Features { merge_only_if_build_succeeds: true, ..Features::default() };
        let pipelines = Status::ALL.map(Some).into_iter().chain([None]);
        for pipeline in pipelines {
            let found = a_request().check_ready(MergeConditions { pipeline, ..READY }, rules);
            let allowed = matches!(pipeline, None | Some(Status::Success | Status::Skipped));
            assert_eq!(found.is_ok(), allowed, "{pipeline:?}");
        }
    }

    #[test]
    fn an_automatic_merge_waits_for_an_active_pipeline() {
        for (pipeline, active) in [
            (None, false),
            (Some(Status::Created), false),
            (Some(Status::Pending), true),
            (Some(Status::Running), true),
            (Some(Status::Success), false),
            (Some(Status::Failed), false),
            (Some(Status::Canceled), false),
            (Some(Status::Skipped), false),
        ] {
            assert_eq!(is_active(pipeline), active, "{pipeline:?}");
        }
    }
}
