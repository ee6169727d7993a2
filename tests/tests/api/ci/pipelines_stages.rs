//! The order of stages, and the resulting status of the pipeline: reference sections 7.3 and 7.5.

use chrono::TimeDelta;
use hexforge_application::build::expiry;
use hexforge_domain::ci::status::Transition::{self, Cancel, Fail, Succeed};
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::ci::ci_support::{
    assert_statuses, build, ci_fixture, path_of, pipeline_now, push, run, step,
};
use crate::api::repositories::refs_support::ProjectFixture;
use crate::api::support::id_of;

on_every_store!(
    when_all_succeeds_manual_jobs_wait_and_those_for_failures_are_skipped,
    when_a_test_fails_jobs_for_failures_and_always_run,
    when_a_test_is_canceled_nothing_more_runs,
    only_manual_jobs_succeed_at_once,
    an_allowed_failure_does_not_stop_anything,
    a_pipeline_runs_while_one_of_its_builds_does,
    builds_of_which_nothing_is_heard_fail,
);

/// The example of section 7.5.
const FIVE_STAGES: &str = "\
stages: [build, test, test_failure, deploy, cleanup]
build: {stage: build, script: x}
test: {stage: test, script: x}
test_failure: {stage: test_failure, script: x, when: on_failure}
deploy: {stage: deploy, script: x}
production: {stage: deploy, script: x, when: manual}
cleanup: {stage: cleanup, script: x, when: always}
clear cache: {stage: cleanup, script: x, when: manual}
";

fn after_build_stage(forge: &Forge) -> (ProjectFixture, serde_json::Value) {
    let fixture = ci_fixture(forge, FIVE_STAGES);
    let pipeline = push(forge, &fixture, "topic");
    run(forge, &fixture, "build", Succeed);
    (fixture, pipeline)
}

#[track_caller]
fn assert_pipeline(
    forge: &Forge,
    fixture: &ProjectFixture,
    pipeline: &serde_json::Value,
    status: &str,
) {
    assert_eq!(pipeline_now(forge, fixture, pipeline)["status"], status);
}

/// "All succeed: build, test, deploy, cleanup run; pipeline success."
fn when_all_succeeds_manual_jobs_wait_and_those_for_failures_are_skipped(forge: &Forge) {
    let (fixture, pipeline) = after_build_stage(forge);
    for name in ["test", "deploy", "cleanup"] {
        assert_pipeline(forge, &fixture, &pipeline, "running");
        run(forge, &fixture, name, Succeed);
    }
    assert_pipeline(forge, &fixture, &pipeline, "success");
    assert_statuses(
        forge,
        &fixture,
        &[
            ("build", "success"),
            ("test", "success"),
            ("test_failure", "skipped"),
            ("deploy", "success"),
            ("production", "skipped"),
            ("cleanup", "success"),
            ("clear cache", "skipped"),
        ],
    );
    // A manual build can be played later; then the pipeline runs again.
    let play = format!("{}/play", path_of(&fixture, &build(forge, &fixture, "production")));
    let played = forge.post(&play).token(fixture.token("reporter")).send().expect(200);
    assert_eq!(
        (&played["status"], &played["user"]["username"]),
        (&json!("pending"), &json!("reporter"))
    );
    assert_pipeline(forge, &fixture, &pipeline, "running");
    run(forge, &fixture, "production", Succeed);
    assert_pipeline(forge, &fixture, &pipeline, "success");
}

/// "Test fails: test_failure then cleanup run, deploy is skipped; pipeline failed."
fn when_a_test_fails_jobs_for_failures_and_always_run(forge: &Forge) {
    let (fixture, pipeline) = after_build_stage(forge);
    run(forge, &fixture, "test", Fail);
    assert_pipeline(forge, &fixture, &pipeline, "running");
    run(forge, &fixture, "test_failure", Succeed);
    run(forge, &fixture, "cleanup", Succeed);
    assert_pipeline(forge, &fixture, &pipeline, "failed");
    assert_statuses(
        forge,
        &fixture,
        &[
            ("build", "success"),
            ("test", "failed"),
            ("test_failure", "success"),
            ("deploy", "skipped"),
            ("production", "skipped"),
            ("cleanup", "success"),
            ("clear cache", "skipped"),
        ],
    );
}

/// "Test canceled: nothing more runs; pipeline canceled."
fn when_a_test_is_canceled_nothing_more_runs(forge: &Forge) {
    let (fixture, pipeline) = after_build_stage(forge);
    run(forge, &fixture, "test", Cancel);
    assert_pipeline(forge, &fixture, &pipeline, "canceled");
    assert_statuses(
        forge,
        &fixture,
        &[
            ("build", "success"),
            ("test", "canceled"),
            ("test_failure", "skipped"),
            ("deploy", "skipped"),
            ("production", "skipped"),
            ("cleanup", "skipped"),
            ("clear cache", "skipped"),
        ],
    );
}

/// "Only manual jobs: `success` at once."
fn only_manual_jobs_succeed_at_once(forge: &Forge) {
    let fixture = ci_fixture(forge, "a: {script: a, when: manual}\nb: {script: b, when: manual}\n");
    let pipeline = push(forge, &fixture, "topic");
    assert_eq!((&pipeline["status"], &pipeline["duration"]), (&json!("success"), &json!(null)));
    assert_statuses(forge, &fixture, &[("a", "skipped"), ("b", "skipped")]);
}

/// "A failed `allow_failure` build counts as if it were not there, so the next stage runs."
fn an_allowed_failure_does_not_stop_anything(forge: &Forge) {
    let fixture = ci_fixture(
        forge,
        "a: {stage: build, script: a, allow_failure: true}\nb: {stage: deploy, script: b}\n",
    );
    let pipeline = push(forge, &fixture, "topic");
    step(forge, &fixture, "a", Transition::Run);
    assert_pipeline(forge, &fixture, &pipeline, "running");
    step(forge, &fixture, "a", Fail);
    assert_statuses(forge, &fixture, &[("a", "failed"), ("b", "pending")]);
    assert_pipeline(forge, &fixture, &pipeline, "pending");
    run(forge, &fixture, "b", Succeed);
    assert_pipeline(forge, &fixture, &pipeline, "success");
}

/// "One success and one pending: `running`. One failed and one canceled: `failed`."
fn a_pipeline_runs_while_one_of_its_builds_does(forge: &Forge) {
    let fixture = ci_fixture(forge, "a: {script: a}\nb: {script: b}\n");
    let pipeline = push(forge, &fixture, "topic");
    run(forge, &fixture, "a", Succeed);
    assert_pipeline(forge, &fixture, &pipeline, "running");
    run(forge, &fixture, "b", Fail);
    assert_pipeline(forge, &fixture, &pipeline, "failed");
    let other = push(forge, &fixture, "other");
    run(forge, &fixture, "a", Fail);
    run(forge, &fixture, "b", Cancel);
    assert_pipeline(forge, &fixture, &other, "failed");
}

/// Section 8.1: "pending or running without an update for 24 hours".
fn builds_of_which_nothing_is_heard_fail(forge: &Forge) {
    let fixture = ci_fixture(
        forge,
        "a: {stage: build, script: a}\nb: {stage: build, script: b}\nc: {stage: deploy, script: c}\n",
    );
    let pipeline = push(forge, &fixture, "topic");
    let tend =
        || expiry::fail_silent_builds(&forge.app, &|| true).expect("the store can be written");
    forge.clock.advance(TimeDelta::hours(1));
    step(forge, &fixture, "b", Transition::Run);
    forge.clock.advance(TimeDelta::minutes(5) - TimeDelta::seconds(1));
    assert_eq!(tend(), 0);
    forge.clock.advance(TimeDelta::seconds(1));
    assert_eq!(tend(), 1, "the one that runs");
    assert_statuses(forge, &fixture, &[("a", "pending"), ("b", "failed"), ("c", "created")]);
    forge.clock.advance(TimeDelta::hours(23) - TimeDelta::minutes(5) - TimeDelta::seconds(1));
    assert_eq!(tend(), 0);
    forge.clock.advance(TimeDelta::seconds(1));
    assert_eq!(tend(), 1, "and the one that waits");
    assert_statuses(forge, &fixture, &[("a", "failed"), ("b", "failed"), ("c", "skipped")]);
    assert_pipeline(forge, &fixture, &pipeline, "failed");
    assert_eq!(id_of(&pipeline_now(forge, &fixture, &pipeline)), id_of(&pipeline));
    assert_eq!(tend(), 0);
}
