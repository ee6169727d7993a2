//! Helpers of the tests about pipelines and builds: a repository with a configuration, and transitions of builds.

use hexforge_application::build;
use hexforge_domain::ci::status::Transition;
use hexforge_domain::id::BuildId;
use hexforge_tests::Forge;
use serde_json::Value;

use crate::api::repositories::refs_support::{
    ProjectFixture, empty_fixture_with_visibility, new_branch,
};
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
pub fn ci_fixture(forge: &Forge, configuration: &str) -> ProjectFixture {
    ci_fixture_with_visibility(forge, "0", configuration)
}

/// The same with a visibility level.
pub fn ci_fixture_with_visibility(
    forge: &Forge,
    level: &str,
    configuration: &str,
) -> ProjectFixture {
    let fixture = empty_fixture_with_visibility(forge, level);
    fixture.tree.write(".gitlab-ci.yml", configuration).commit("Build it\n\nAll of it.");
    forge.fill(fixture.project(), &fixture.tree);
    fixture
}

/// Creates a branch at `master` as `developer`, and returns the pipeline of this push.
#[track_caller]
pub fn push(forge: &Forge, fixture: &ProjectFixture, branch: &str) -> Value {
    new_branch(forge, fixture, branch, "master");
    let newest = pipelines(forge, fixture)[0].clone();
    assert_eq!(newest["ref"], branch, "the push created a pipeline");
    newest
}

/// The pipelines of the project, newest first.
#[track_caller]
pub fn pipelines(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let path = format!("{}/pipelines?per_page=100", fixture.cast.path);
    forge.get(&path).token(fixture.token("reporter")).send().expect(200)
}

/// A pipeline in its current state.
#[track_caller]
pub fn pipeline_now(forge: &Forge, fixture: &ProjectFixture, pipeline: &Value) -> Value {
    let path = format!("{}/pipelines/{}", fixture.cast.path, id_of(pipeline));
    forge.get(&path).token(fixture.token("reporter")).send().expect(200)
}

/// The builds of the project, newest first.
#[track_caller]
pub fn builds(forge: &Forge, fixture: &ProjectFixture) -> Vec<Value> {
    let path = format!("{}/builds?per_page=100", fixture.cast.path);
    let all = forge.get(&path).token(fixture.token("reporter")).send().expect(200);
    all.as_array().expect("a list").clone()
}

/// The newest build with this name.
#[track_caller]
pub fn build(forge: &Forge, fixture: &ProjectFixture, name: &str) -> Value {
    let found = builds(forge, fixture).into_iter().find(|build| build["name"] == name);
    found.expect("there is a build of that name")
}

/// The path of a build in the API.
pub fn path_of(fixture: &ProjectFixture, build: &Value) -> String {
    format!("{}/builds/{}", fixture.cast.path, id_of(build))
}

/// The names and statuses of the newest builds, in the order of their creation.
#[track_caller]
pub fn statuses(forge: &Forge, fixture: &ProjectFixture) -> Vec<(String, String)> {
    let mut seen = Vec::<(String, String)>::new();
    for build in builds(forge, fixture) {
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
pub fn assert_statuses(forge: &Forge, fixture: &ProjectFixture, expected: &[(&str, &str)]) {
    let found = statuses(forge, fixture);
    let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(found, expected);
}

/// Applies a transition to the newest build with this name, as a runner would.
#[track_caller]
pub fn step(forge: &Forge, fixture: &ProjectFixture, name: &str, transition: Transition) {
    let id = BuildId(id_of(&build(forge, fixture, name)));
    let moved = build::advance(&forge.app, id, transition).expect("the store can be written");
    assert!(moved, "{name} by {transition:?}");
}

/// Runs the newest build with this name until it has this final state.
#[track_caller]
pub fn run(forge: &Forge, fixture: &ProjectFixture, name: &str, end: Transition) {
    step(forge, fixture, name, Transition::Run);
    step(forge, fixture, name, end);
}
