//! Helpers of the tests about pipelines and builds: a repository with a configuration, and transitions of builds.

use hexforge_application::build;
use hexforge_domain::ci::status::Transition;
use hexforge_domain::id::BuildId;
use hexforge_tests::Forge;
use serde_json::Value;

use crate::api::repositories::refs_support::{Stage, new_branch, stage_of};
use crate::api::support::id_of;

/// A configuration with three jobs in two stages.
pub const CONFIGURATION: &str = "\
stages: [build, test]
compile:
  stage: build
  script: make
rspec:
  script: [rspec, 'rspec --slow']
  tags: [ruby]
lint:
  script: lint
  allow_failure: true
";

/// A private project whose `master` has this configuration. It has no pipeline yet.
pub fn a_ci_stage(forge: &Forge, configuration: &str) -> Stage {
    ci_stage_of(forge, "0", configuration)
}

/// The same with a visibility level.
pub fn ci_stage_of(forge: &Forge, level: &str, configuration: &str) -> Stage {
    let stage = stage_of(forge, level);
    stage.tree.write(".gitlab-ci.yml", configuration).commit("Build it\n\nAll of it.");
    forge.fill(stage.project(), &stage.tree);
    stage
}

/// Creates a branch at `master` as `developer`, and returns the pipeline of this push.
#[track_caller]
pub fn push(forge: &Forge, stage: &Stage, branch: &str) -> Value {
    new_branch(forge, stage, branch, "master");
    let newest = pipelines(forge, stage)[0].clone();
    assert_eq!(newest["ref"], branch, "the push created a pipeline");
    newest
}

/// The pipelines of the project, newest first.
#[track_caller]
pub fn pipelines(forge: &Forge, stage: &Stage) -> Value {
    let path = format!("{}/pipelines?per_page=100", stage.cast.path);
    forge.get(&path).token(stage.token("reporter")).send().expect(200)
}

/// A pipeline in its current state.
#[track_caller]
pub fn pipeline_now(forge: &Forge, stage: &Stage, pipeline: &Value) -> Value {
    let path = format!("{}/pipelines/{}", stage.cast.path, id_of(pipeline));
    forge.get(&path).token(stage.token("reporter")).send().expect(200)
}

/// The builds of the project, newest first.
#[track_caller]
pub fn builds(forge: &Forge, stage: &Stage) -> Vec<Value> {
    let path = format!("{}/builds?per_page=100", stage.cast.path);
    let all = forge.get(&path).token(stage.token("reporter")).send().expect(200);
    all.as_array().expect("a list").clone()
}

/// The newest build with this name.
#[track_caller]
pub fn build(forge: &Forge, stage: &Stage, name: &str) -> Value {
    let found = builds(forge, stage).into_iter().find(|build| build["name"] == name);
    found.expect("there is a build of that name")
}

/// The path of a build in the API.
pub fn path_of(stage: &Stage, build: &Value) -> String {
    format!("{}/builds/{}", stage.cast.path, id_of(build))
}

/// The names and statuses of the newest builds, in the order of their creation.
#[track_caller]
pub fn statuses(forge: &Forge, stage: &Stage) -> Vec<(String, String)> {
    let mut seen = Vec::<(String, String)>::new();
    for build in builds(forge, stage) {
        let text = |field: &str| build[field].as_str().expect("a text").to_owned();
        if !seen.iter().any(|(name, _)| *name == text("name")) {
            seen.push((text("name"), text("status")));
        }
    }
    seen.reverse();
    seen
}

/// Asserts names and statuses of the newest builds, in the order of their creation.
#[track_caller]
pub fn assert_statuses(forge: &Forge, stage: &Stage, expected: &[(&str, &str)]) {
    let found = statuses(forge, stage);
    let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(found, expected);
}

/// Applies a transition to the newest build with this name, as a runner would.
#[track_caller]
pub fn step(forge: &Forge, stage: &Stage, name: &str, transition: Transition) {
    let id = BuildId(id_of(&build(forge, stage, name)));
    let moved = build::advance(&forge.app, id, transition).expect("the store can be written");
    assert!(moved, "{name} by {transition:?}");
}

/// Runs the newest build with this name until it has this final state.
#[track_caller]
pub fn run(forge: &Forge, stage: &Stage, name: &str, end: Transition) {
    step(forge, stage, name, Transition::Run);
    step(forge, stage, name, end);
}
