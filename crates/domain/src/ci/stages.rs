//! Going through the stages of a pipeline: which builds are queued, skipped or left waiting.

use super::set::{Member, status_of};
use super::status::{Status, Transition};
use super::when::When;

/// What the stages are processed by: the latest build of a name. `I` is how the caller knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageBuild<I> {
    /// Whose decision it is.
    pub id: I,
    /// The place of its stage.
    pub stage_index: i32,
    /// Where it is.
    pub status: Status,
    /// When it runs.
    pub when: When,
    /// Whether its failure counts for nothing.
    pub allow_failure: bool,
}

impl<I> StageBuild<I> {
    /// What it adds to the status of its pipeline.
    pub fn member(&self) -> Member {
        Member { status: self.status, allow_failure: self.allow_failure, when: self.when }
    }
}

/// What is to happen to a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<I> {
    /// The build.
    pub id: I,
    /// What happens to it.
    pub transition: Transition,
}

/// Decides about the created builds whose stage is reached, in stage order. A stage that has
/// nothing left to wait for lets the next one be decided in the same pass.
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
            let transition = after(build.when, earlier);
            build.status = transition.target();
            decisions.push(Decision { id: build.id, transition });
        }
    }
    decisions
}

/// What becomes of a created build after earlier stages that ended like this.
fn after(when: When, earlier: Status) -> Transition {
    let runs = match when {
        When::OnSuccess => earlier == Status::Success,
        When::OnFailure => earlier == Status::Failed,
        When::Always => matches!(earlier, Status::Success | Status::Failed),
        When::Manual => false,
    };
    if runs { Transition::Enqueue } else { Transition::Skip }
}
