//! Processing of the stages of a pipeline: enqueues or skips the builds whose stage is reached.

use super::set::{SetMember, status_of};
use super::status::{Status, Transition};
use super::when::When;

/// A build as an input of stage processing. Only the latest build of each name is passed. `I` is the caller's id type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageBuild<I> {
    /// The id of the build.
    pub id: I,
    /// The index of its stage.
    pub stage_index: i32,
    /// The current status.
    pub status: Status,
    /// The condition under which it runs.
    pub when: When,
    /// Whether a failure is ignored.
    pub allow_failure: bool,
}

impl<I> StageBuild<I> {
    /// The properties that determine the status of the pipeline.
    pub fn member(&self) -> SetMember {
        SetMember { status: self.status, allow_failure: self.allow_failure, when: self.when }
    }
}

/// A transition that a build has to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<I> {
    /// The build.
    pub id: I,
    /// The transition.
    pub transition: Transition,
}

/// Decides which created builds are enqueued or skipped because all earlier stages are complete. Stages are processed
/// in order: if a stage is complete after its decisions, the next stage is decided in the same call.
pub fn process<I: Copy>(latest: &[StageBuild<I>]) -> Vec<Decision<I>> {
    let mut builds: Vec<StageBuild<I>> = latest.to_vec();
    let mut decisions = Vec::new();
    let mut stages: Vec<i32> = builds
        .iter()
        .filter(|build| build.status == Status::Created)
        .map(|build| build.stage_index)
        .collect();
    stages.sort_unstable();
    stages.dedup();
    for stage in stages {
        let earlier = builds.iter().filter(|build| build.stage_index < stage);
        let earlier = status_of(earlier.map(StageBuild::member)).unwrap_or(Status::Success);
        if !earlier.is_complete() {
            continue;
        }
        for build in &mut builds {
            if build.stage_index != stage || build.status != Status::Created {
                continue;
            }
            let transition = transition_after(build.when, earlier);
            build.status = transition.target();
            decisions.push(Decision { id: build.id, transition });
        }
    }
    decisions
}

/// The transition of a created build, given the combined status of the earlier stages.
fn transition_after(when: When, earlier: Status) -> Transition {
    let runs = match when {
        When::OnSuccess => earlier == Status::Success,
        When::OnFailure => earlier == Status::Failed,
        When::Always => matches!(earlier, Status::Success | Status::Failed),
        When::Manual => false,
    };
    if runs { Transition::Enqueue } else { Transition::Skip }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::set::pipeline_status;
    use Status::*;

    type Build = StageBuild<&'static str>;

    fn build(id: &'static str, stage_index: i32, when: When) -> Build {
        StageBuild { id, stage_index, status: Created, when, allow_failure: false }
    }

    /// The example of the reference: five stages, two of them with a manual job.
    fn example() -> Vec<Build> {
        vec![
            build("build", 0, When::OnSuccess),
            build("test", 1, When::OnSuccess),
            build("test_failure", 2, When::OnFailure),
            build("deploy", 3, When::OnSuccess),
            build("production", 3, When::Manual),
            build("cleanup", 4, When::Always),
            build("clear cache", 4, When::Manual),
        ]
    }

    fn decide(builds: &mut [Build]) {
        for decision in process(builds) {
            let build = builds.iter_mut().find(|build| build.id == decision.id);
            let build = build.expect("a decision is about one of the builds");
            build.status = build.status.apply(decision.transition).expect("it is possible");
        }
    }

    fn end(builds: &mut [Build], id: &str, transition: Transition) {
        let build = builds.iter_mut().find(|build| build.id == id).expect("the build is there");
        let running = build.status.apply(Transition::Run).expect("it was queued");
        build.status = running.apply(transition).expect("it was running");
        decide(builds);
    }

    fn having(builds: &[Build], status: Status) -> Vec<&'static str> {
        builds.iter().filter(|build| build.status == status).map(|build| build.id).collect()
    }

    fn status(builds: &[Build]) -> Status {
        pipeline_status(builds.iter().map(StageBuild::member), false)
    }

    #[test]
    fn all_succeed() {
        let mut builds = example();
        decide(&mut builds);
        for id in ["build", "test", "deploy", "cleanup"] {
            assert_eq!(having(&builds, Pending), [id]);
            assert!(matches!(status(&builds), Pending | Running), "{:?}", status(&builds));
            end(&mut builds, id, Transition::Succeed);
        }
        assert_eq!(having(&builds, Success), ["build", "test", "deploy", "cleanup"]);
        assert_eq!(having(&builds, Skipped), ["test_failure", "production", "clear cache"]);
        assert_eq!(status(&builds), Success);
    }

    #[test]
    fn the_test_fails() {
        let mut builds = example();
        decide(&mut builds);
        end(&mut builds, "build", Transition::Succeed);
        end(&mut builds, "test", Transition::Fail);
        assert_eq!(having(&builds, Pending), ["test_failure"]);
        assert_eq!(having(&builds, Skipped), Vec::<&str>::new());
        end(&mut builds, "test_failure", Transition::Succeed);
        assert_eq!(having(&builds, Pending), ["cleanup"]);
        end(&mut builds, "cleanup", Transition::Succeed);
        assert_eq!(having(&builds, Skipped), ["deploy", "production", "clear cache"]);
        assert_eq!(status(&builds), Failed);
    }

    #[test]
    fn the_failure_of_the_job_for_failures_changes_nothing() {
        let mut builds = example();
        decide(&mut builds);
        end(&mut builds, "build", Transition::Succeed);
        end(&mut builds, "test", Transition::Fail);
        end(&mut builds, "test_failure", Transition::Fail);
        assert_eq!(having(&builds, Pending), ["cleanup"]);
        end(&mut builds, "cleanup", Transition::Succeed);
        assert_eq!(status(&builds), Failed);
    }

    #[test]
    fn the_test_is_canceled() {
        let mut builds = example();
        decide(&mut builds);
        end(&mut builds, "build", Transition::Succeed);
        end(&mut builds, "test", Transition::Cancel);
        assert_eq!(having(&builds, Pending), Vec::<&str>::new());
        assert_eq!(having(&builds, Created), Vec::<&str>::new());
        assert_eq!(status(&builds), Canceled);
    }

    #[test]
    fn deploying_fails() {
        let mut builds = example();
        decide(&mut builds);
        end(&mut builds, "build", Transition::Succeed);
        end(&mut builds, "test", Transition::Succeed);
        end(&mut builds, "deploy", Transition::Fail);
        assert_eq!(having(&builds, Pending), ["cleanup"]);
        end(&mut builds, "cleanup", Transition::Succeed);
        assert_eq!(status(&builds), Failed);
    }

    #[test]
    fn the_table_of_when_and_earlier_stages() {
        use Transition::{Enqueue, Skip};
        for (when, succeeded, failed, canceled) in [
            (When::OnSuccess, Enqueue, Skip, Skip),
            (When::OnFailure, Skip, Enqueue, Skip),
            (When::Always, Enqueue, Enqueue, Skip),
            (When::Manual, Skip, Skip, Skip),
        ] {
            for (earlier, transition) in
                [(Success, succeeded), (Failed, failed), (Canceled, canceled)]
            {
                let first = Build { status: earlier, ..build("first", 0, When::OnSuccess) };
                let decisions = process(&[first, build("second", 1, when)]);
                let expected = [Decision { id: "second", transition }];
                assert_eq!(decisions, expected, "{when:?} after {earlier:?}");
            }
            for earlier in [Pending, Running, Skipped] {
                let first = Build { status: earlier, ..build("first", 0, When::OnSuccess) };
                let decisions = process(&[first, build("second", 1, when)]);
                assert_eq!(decisions, [], "{when:?} waits after {earlier:?}");
            }
        }
    }

    #[test]
    fn jobs_of_a_stage_run_together_and_the_next_stage_waits_for_all() {
        let mut builds = vec![
            build("one", 0, When::OnSuccess),
            build("two", 0, When::OnSuccess),
            build("three", 1, When::OnSuccess),
        ];
        decide(&mut builds);
        assert_eq!(having(&builds, Pending), ["one", "two"]);
        end(&mut builds, "one", Transition::Succeed);
        assert_eq!(having(&builds, Created), ["three"]);
        end(&mut builds, "two", Transition::Succeed);
        assert_eq!(having(&builds, Pending), ["three"]);
    }

    #[test]
    fn stages_without_anything_to_wait_for_do_not_block() {
        let mut builds = vec![
            build("by hand", 0, When::Manual),
            build("on failure", 1, When::OnFailure),
            build("go", 5, When::OnSuccess),
        ];
        decide(&mut builds);
        assert_eq!(having(&builds, Skipped), ["by hand", "on failure"]);
        assert_eq!(having(&builds, Pending), ["go"]);
        let mut only_manual = vec![build("by hand", 0, When::Manual)];
        decide(&mut only_manual);
        assert_eq!(status(&only_manual), Success);
    }

    #[test]
    fn an_allowed_failure_lets_the_next_stage_run() {
        let mut builds = vec![
            Build { allow_failure: true, ..build("lint", 0, When::OnSuccess) },
            build("test", 1, When::OnSuccess),
        ];
        decide(&mut builds);
        end(&mut builds, "lint", Transition::Fail);
        assert_eq!(having(&builds, Pending), ["test"]);
        end(&mut builds, "test", Transition::Succeed);
        assert_eq!(status(&builds), Success);
    }

    #[test]
    fn nothing_is_decided_twice() {
        let mut builds = example();
        decide(&mut builds);
        assert_eq!(process(&builds), []);
        assert_eq!(process::<u8>(&[]), []);
    }
}
