//! Reading pipelines, retrying and canceling them: reference sections 7.1, 7.2 and 7.6.

use chrono::TimeDelta;
use hexforge_domain::ci::status::Transition::{Fail, Run, Succeed};
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{
    CONFIGURATION, assert_statuses, build, ci_fixture, ci_fixture_with_visibility, path_of,
    pipeline_now, pipelines, push, run, step,
};
use crate::api::groups::group_support::{
    error, fields_of, forbidden, new_project, no_project, path_of_project,
};
use crate::api::repositories::refs_support::{ProjectFixture, new_tag};
use crate::api::support::{HUGE, MISSING, id_of, ids, message};
use crate::api::tracker::tracker_support::user_summary;

on_every_store!(
    a_pipeline_has_every_field,
    pipelines_are_listed_newest_first_and_paged,
    scopes_choose_pipelines,
    scope_branches_lists_existing_branches,
    unknown_pipelines_are_404,
    who_may_read_and_change_pipelines,
    without_builds_every_call_is_forbidden,
    a_retry_runs_what_failed_again,
    a_retry_without_failures_changes_nothing,
    a_cancellation_ends_all_builds,
    a_cancellation_before_anything_ran_leaves_no_duration,
    durations_count_overlaps_once_and_waiting_not_at_all,
);

fn path(fixture: &ProjectFixture, pipeline: &Value) -> String {
    format!("{}/pipelines/{}", fixture.cast.path, id_of(pipeline))
}

#[track_caller]
fn post(
    forge: &Forge,
    fixture: &ProjectFixture,
    pipeline: &Value,
    what: &str,
    status: u16,
) -> Value {
    let path = format!("{}/{what}", path(fixture, pipeline));
    forge.post(&path).token(fixture.token("developer")).send().expect(status)
}

/// GET /projects/:id/pipelines/:pipeline_id: the object of section 7.1, for a push.
fn a_pipeline_has_every_field(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let pipeline = push(forge, &fixture, "topic");
    let user = id_of(&forge.get("/user").token(fixture.token("developer")).send().expect(200));
    let sha = fixture.id("topic");
    let now = "2016-09-22T10:30:00.000Z";
    let expected = json!({
        "id": id_of(&pipeline), "sha": sha, "ref": "topic", "status": "pending",
        "before_sha": sha, "tag": false, "yaml_errors": null, "user": user_summary(forge, user),
        "created_at": now, "updated_at": now, "started_at": null, "finished_at": null,
        "committed_at": null, "duration": null
    });
    let shown = pipeline_now(forge, &fixture, &pipeline);
    assert_eq!(shown, expected);
    assert_eq!(fields_of(&shown), fields_of(&expected), "in this order");
}

/// GET /projects/:id/pipelines
fn pipelines_are_listed_newest_first_and_paged(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    assert_eq!(pipelines(forge, &fixture), json!([]));
    let made: Vec<i64> = ["a", "b", "c"].map(|name| id_of(&push(forge, &fixture, name))).to_vec();
    assert_eq!(ids(&pipelines(forge, &fixture)), [made[2], made[1], made[0]]);
    let page = format!("{}/pipelines?per_page=2&page=2", fixture.cast.path);
    let page = forge.get(&page).token(fixture.token("reporter")).send();
    assert_eq!(ids(&page.expect(200)), [made[0]]);
    assert_eq!(page.header("X-Total"), Some("3"));
    assert_eq!(page.header("X-Total-Pages"), Some("2"));
}

/// The parameter `scope` of the original.
fn scopes_choose_pipelines(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let gone = push(forge, &fixture, "gone");
    let old = push(forge, &fixture, "topic");
    post(forge, &fixture, &gone, "cancel", 200);
    let branch = format!("{}/gone", fixture.branches);
    forge.delete(&branch).token(fixture.token("developer")).send().expect(200);
    new_tag(forge, &fixture, &[("tag_name", "v1"), ("ref", "master")]);
    let tag = pipelines(forge, &fixture)[0].clone();
    let form = [("ref", "topic")];
    let create = format!("{}/pipeline", fixture.cast.path);
    let new = forge.post(&create).token(fixture.token("developer")).form(&form).send().expect(201);
    let scoped = |scope: &str, status: u16| {
        let path = format!("{}/pipelines?scope={scope}", fixture.cast.path);
        forge.get(&path).token(fixture.token("reporter")).send().expect(status)
    };
    assert_eq!(ids(&scoped("running", 200)), [id_of(&new), id_of(&tag), id_of(&old)]);
    assert_eq!(ids(&scoped("branches", 200)), [id_of(&new)]);
    assert_eq!(ids(&scoped("tags", 200)), [id_of(&tag)]);
    assert_eq!(scoped("finished", 400), error("scope does not have a valid value"));
    let tags = format!("{}/repository/tags/v1", fixture.cast.path);
    forge.delete(&tags).token(fixture.token("developer")).send().expect(200);
    assert_eq!(ids(&scoped("tags", 200)), [0; 0]);
}

/// "the latest pipeline of each existing branch", in pages. A branch that is created again has its newest pipeline.
fn scope_branches_lists_existing_branches(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let made = ["a", "b", "c"].map(|name| id_of(&push(forge, &fixture, name)));
    let scoped = |page: &str| {
        let path = format!("{}/pipelines?scope=branches&{page}", fixture.cast.path);
        let answer = forge.get(&path).token(fixture.token("reporter")).send();
        (ids(&answer.expect(200)), answer.header("X-Total").map(str::to_owned))
    };
    assert_eq!(scoped("per_page=2"), (vec![made[2], made[1]], Some("3".to_owned())));
    assert_eq!(scoped("per_page=2&page=2"), (vec![made[0]], Some("3".to_owned())));
    let gone = format!("{}/b", fixture.branches);
    forge.delete(&gone).token(fixture.token("developer")).send().expect(200);
    assert_eq!(scoped("per_page=2"), (vec![made[2], made[0]], Some("2".to_owned())));
    // A status may name a branch that does not exist.
    let tip = fixture.id("master");
    let status = format!("{}/statuses/{tip}", fixture.cast.path);
    let form = [("state", "success"), ("ref", "nowhere")];
    forge.post(&status).token(fixture.token("developer")).form(&form).send().expect(201);
    assert_eq!(scoped(""), (vec![made[2], made[0]], Some("2".to_owned())));
    let again = id_of(&push(forge, &fixture, "b"));
    assert_eq!(scoped(""), (vec![again, made[2], made[0]], Some("3".to_owned())));
}

/// 404 for unknown ids and for pipelines of other projects; 400 for ids that are not numbers.
fn unknown_pipelines_are_404(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let pipeline = push(forge, &fixture, "topic");
    let other = new_project(forge, fixture.token("developer"), "Other", &[]);
    let elsewhere = format!("{}/pipelines/{}", path_of_project(&other), id_of(&pipeline));
    let missing = format!("{}/pipelines/{MISSING}", fixture.cast.path);
    let huge = format!("{}/pipelines/{HUGE}", fixture.cast.path);
    let nonsense = format!("{}/pipelines/x", fixture.cast.path);
    let token = fixture.token("developer");
    for (method, suffix) in [("GET", ""), ("POST", "/retry"), ("POST", "/cancel")] {
        for path in [&elsewhere, &missing, &huge] {
            let answer = forge.request(method, &format!("{path}{suffix}")).token(token).send();
            assert_eq!(answer.expect(404), message("404 Not found"), "{method} {path}{suffix}");
        }
        let answer = forge.request(method, &format!("{nonsense}{suffix}")).token(token).send();
        assert_eq!(answer.expect(400), error("pipeline_id is invalid"));
    }
    let gone = forge.get(&format!("/projects/{MISSING}/pipelines")).token(token).send();
    assert_eq!(gone.expect(404), no_project());
}

/// Section 1.1: reading for reporters, and in a public project for all users; changing for developers.
fn who_may_read_and_change_pipelines(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let pipeline = push(forge, &fixture, "topic");
    let list = format!("{}/pipelines", fixture.cast.path);
    for (who, status) in [("stranger", 404), ("guest", 403), ("reporter", 200), ("root", 200)] {
        forge.get(&list).token(fixture.token(who)).send().expect(status);
        forge.get(&path(&fixture, &pipeline)).token(fixture.token(who)).send().expect(status);
    }
    forge.get(&list).send().expect(401);
    for what in ["retry", "cancel"] {
        let path = format!("{}/{what}", path(&fixture, &pipeline));
        for (who, status) in [("stranger", 404), ("guest", 403), ("reporter", 403)] {
            forge.post(&path).token(fixture.token(who)).send().expect(status);
        }
        let done = if what == "retry" { 201 } else { 200 };
        for who in ["developer", "master", "owner", "root"] {
            forge.post(&path).token(fixture.token(who)).send().expect(done);
        }
    }
    // `public_builds` does not affect pipelines.
    let form = [("name", "Ship"), ("visibility_level", "20"), ("public_builds", "false")];
    forge.put(&fixture.cast.path).token(fixture.token("owner")).form(&form).send().expect(200);
    for who in ["stranger", "external", "guest"] {
        forge.get(&list).token(fixture.token(who)).send().expect(200);
    }
    assert_eq!(forge.get(&list).send().expect(401), message("401 Unauthorized"));
}

/// Section 1.1, subtractions: `builds_enabled` false.
fn without_builds_every_call_is_forbidden(forge: &Forge) {
    let fixture = ci_fixture_with_visibility(forge, "20", CONFIGURATION);
    let pipeline = push(forge, &fixture, "topic");
    let form = [("name", "Ship"), ("builds_enabled", "false")];
    forge.put(&fixture.cast.path).token(fixture.token("owner")).form(&form).send().expect(200);
    let one = path(&fixture, &pipeline);
    for who in ["stranger", "reporter", "master", "owner", "root"] {
        let token = fixture.token(who);
        for (method, path) in [
            ("GET", format!("{}/pipelines", fixture.cast.path)),
            ("GET", one.clone()),
            ("POST", format!("{}/pipeline?ref=master", fixture.cast.path)),
            ("POST", format!("{one}/retry")),
            ("POST", format!("{one}/cancel")),
        ] {
            let answer = forge.request(method, &path).token(token).send();
            assert_eq!(answer.expect(403), forbidden(), "{who} {method} {path}");
        }
    }
}

/// POST /projects/:id/pipelines/:pipeline_id/retry: also retries allowed failures, but no canceled builds.
fn a_retry_runs_what_failed_again(forge: &Forge) {
    let configuration = "\
stages: [build, test, deploy]
compile: {stage: build, script: make}
rspec: {script: rspec}
lint: {script: lint, allow_failure: true}
other: {script: other}
release: {stage: deploy, script: release}
";
    let fixture = ci_fixture(forge, configuration);
    let pipeline = push(forge, &fixture, "topic");
    run(forge, &fixture, "compile", Succeed);
    run(forge, &fixture, "rspec", Fail);
    run(forge, &fixture, "lint", Fail);
    let other = build(forge, &fixture, "other");
    let cancel = format!("{}/cancel", path_of(&fixture, &other));
    forge.post(&cancel).token(fixture.token("developer")).send().expect(201);
    assert_statuses(
        forge,
        &fixture,
        &[
            ("compile", "success"),
            ("rspec", "failed"),
            ("lint", "failed"),
            ("other", "canceled"),
            ("release", "skipped"),
        ],
    );
    let failed = pipeline_now(forge, &fixture, &pipeline);
    assert_eq!(failed["status"], "failed");
    let old = build(forge, &fixture, "rspec");
    forge.clock.advance(TimeDelta::minutes(5));
    let path = format!("{}/retry", path(&fixture, &pipeline));
    let retried = forge.post(&path).token(fixture.token("master")).send().expect(201);
    assert_eq!(retried["status"], "running", "some are done and some wait");
    for unchanged in ["started_at", "finished_at", "created_at", "user"] {
        assert_eq!(retried[unchanged], failed[unchanged], "{unchanged}");
    }
    let again = build(forge, &fixture, "rspec");
    assert_ne!(id_of(&again), id_of(&old));
    assert_eq!(
        (&again["status"], &again["user"]["username"]),
        (&json!("pending"), &json!("master"))
    );
    let kept =
        forge.get(&path_of(&fixture, &old)).token(fixture.token("reporter")).send().expect(200);
    assert_eq!(kept["status"], "failed", "the old one stays");
    assert_statuses(
        forge,
        &fixture,
        &[
            ("compile", "success"),
            ("other", "canceled"),
            ("release", "created"),
            ("rspec", "pending"),
            ("lint", "pending"),
        ],
    );
}

/// The sample of the specification: a retried pipeline without other builds is pending. Without failed builds the
/// answer is 201, too.
fn a_retry_without_failures_changes_nothing(forge: &Forge) {
    let fixture = ci_fixture(forge, "rspec: {script: rspec}\n");
    let pipeline = push(forge, &fixture, "topic");
    let before = pipeline_now(forge, &fixture, &pipeline);
    forge.clock.advance(TimeDelta::minutes(5));
    assert_eq!(post(forge, &fixture, &pipeline, "retry", 201), before);
    run(forge, &fixture, "rspec", Fail);
    assert_eq!(post(forge, &fixture, &pipeline, "retry", 201)["status"], "pending");
}

/// POST /projects/:id/pipelines/:pipeline_id/cancel: 200, and the answer shows the new status.
fn a_cancellation_ends_all_builds(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let pipeline = push(forge, &fixture, "topic");
    step(forge, &fixture, "compile", Run);
    forge.clock.advance(TimeDelta::seconds(90));
    let canceled = post(forge, &fixture, &pipeline, "cancel", 200);
    assert_eq!((&canceled["status"], &canceled["duration"]), (&json!("canceled"), &json!(90)));
    assert_eq!(canceled["finished_at"], "2016-09-22T10:31:30.000Z");
    let expected = [("compile", "canceled"), ("rspec", "skipped"), ("lint", "skipped")];
    assert_statuses(forge, &fixture, &expected);
    forge.clock.advance(TimeDelta::minutes(1));
    assert_eq!(post(forge, &fixture, &pipeline, "cancel", 200), canceled, "nothing to cancel");
}

/// The last sentence of the section about durations.
fn a_cancellation_before_anything_ran_leaves_no_duration(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let pipeline = push(forge, &fixture, "topic");
    let canceled = post(forge, &fixture, &pipeline, "cancel", 200);
    assert_eq!(canceled["status"], "canceled");
    assert_eq!((&canceled["started_at"], &canceled["duration"]), (&Value::Null, &Value::Null));
    assert_eq!(canceled["finished_at"], "2016-09-22T10:30:00.000Z");
}

/// Section 7.6: the union of the intervals.
fn durations_count_overlaps_once_and_waiting_not_at_all(forge: &Forge) {
    let fixture = ci_fixture(forge, "a: {script: a}\nb: {script: b}\nc: {script: c}\n");
    let pipeline = push(forge, &fixture, "topic");
    let wait = |seconds| forge.clock.advance(TimeDelta::seconds(seconds));
    wait(100);
    step(forge, &fixture, "a", Run);
    wait(10);
    step(forge, &fixture, "b", Run);
    wait(10);
    step(forge, &fixture, "a", Succeed);
    wait(10);
    step(forge, &fixture, "b", Succeed);
    wait(1000);
    run(forge, &fixture, "c", Succeed);
    let done = pipeline_now(forge, &fixture, &pipeline);
    assert_eq!((&done["status"], &done["duration"]), (&json!("success"), &json!(30)));
    assert_eq!(done["started_at"], "2016-09-22T10:31:40.000Z");
}
