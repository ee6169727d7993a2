//! Pipelines created by pushes and by API calls: reference section 7.4.

use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::project::ProjectEvent;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{CONFIGURATION, assert_statuses, ci_fixture, pipelines, push};
use crate::api::groups::group_support::{error, forbidden};
use crate::api::repositories::refs_support::{ProjectFixture, new_branch, new_tag};
use crate::api::support::{field_error, id_of, queued_events};

on_every_store!(
    a_requested_pipeline_is_pending,
    missing_refs_and_configurations_are_refused,
    a_wrong_configuration_fails_the_pipeline_of_a_push_only,
    a_mark_in_the_message_skips_the_pipeline_of_a_push_only,
    each_pushed_ref_makes_a_pipeline,
    pushes_without_jobs_create_no_pipeline,
    only_developers_create_pipelines,
    pipelines_and_builds_are_recorded_for_hooks,
);

#[track_caller]
fn create_pipeline(forge: &Forge, fixture: &ProjectFixture, reference: &str, status: u16) -> Value {
    let path = format!("{}/pipeline", fixture.cast.path);
    let form = [("ref", reference)];
    forge.post(&path).token(fixture.token("developer")).form(&form).send().expect(status)
}

/// Commits to `master` without a push event.
fn commit(forge: &Forge, fixture: &ProjectFixture, configuration: Option<&str>, text: &str) {
    match configuration {
        Some(configuration) => {
            fixture.tree.write(".gitlab-ci.yml", configuration);
        }
        None => {
            fixture.tree.git(&["rm", "-q", "--ignore-unmatch", ".gitlab-ci.yml"]);
        }
    }
    fixture.tree.commit(text);
    forge.fill(fixture.project(), &fixture.tree);
}

/// POST /projects/:id/pipeline: 201, `before_sha` is all zeros, and the builds of the first stage are pending.
fn a_requested_pipeline_is_pending(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    for reference in ["master", "refs/heads/master"] {
        let made = create_pipeline(forge, &fixture, reference, 201);
        let zeros = "0".repeat(40);
        assert_eq!((&made["status"], &made["ref"]), (&json!("pending"), &json!("master")));
        assert_eq!((&made["before_sha"], &made["tag"]), (&json!(zeros), &json!(false)));
        assert_eq!(made["sha"], fixture.id("master"));
        assert_eq!(made["user"]["username"], "developer");
        let expected = [("compile", "pending"), ("rspec", "created"), ("lint", "created")];
        assert_statuses(forge, &fixture, &expected);
    }
    fixture.tree.git(&["tag", "v1"]);
    forge.fill(fixture.project(), &fixture.tree);
    assert_eq!(create_pipeline(forge, &fixture, "v1", 201)["tag"], true);
}

/// The table of errors, from top to bottom.
fn missing_refs_and_configurations_are_refused(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let path = format!("{}/pipeline", fixture.cast.path);
    let token = fixture.token("developer");
    let missing = forge.post(&path).token(token).send().expect(400);
    assert_eq!(missing, error("ref is missing"));
    for unknown in ["nowhere", "", "master~1", &fixture.id("master"), "refs/heads/nowhere", ".."] {
        let refused = create_pipeline(forge, &fixture, unknown, 400);
        assert_eq!(refused, field_error("base", "Reference not found"), "{unknown}");
    }
    commit(forge, &fixture, None, "No more");
    let refused = create_pipeline(forge, &fixture, "master", 400);
    assert_eq!(refused, field_error("base", "Missing .gitlab-ci.yml file"));
    commit(forge, &fixture, Some("rspec: {stage: nowhere, script: x}\n"), "Wrong");
    let text = "rspec job: stage parameter should be build, test, deploy";
    assert_eq!(create_pipeline(forge, &fixture, "master", 400), field_error("base", text));
    commit(forge, &fixture, Some("rspec: {script: x, only: [tags]}\n"), "For tags");
    let refused = create_pipeline(forge, &fixture, "master", 400);
    assert_eq!(refused, field_error("base", "No builds for this pipeline."));
    assert_eq!(pipelines(forge, &fixture), json!([]), "nothing was stored");
}

/// A push creates a failed pipeline without builds that has the error text.
fn a_wrong_configuration_fails_the_pipeline_of_a_push_only(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    commit(forge, &fixture, Some("rspec: {image: x}\n"), "Wrong [ci skip]");
    let pipeline = push(forge, &fixture, "topic");
    assert_eq!(pipeline["status"], "failed", "which wins over the mark");
    assert_eq!(pipeline["yaml_errors"], "jobs:rspec script can't be blank");
    assert_statuses(forge, &fixture, &[]);
    // There is nothing to retry: 201, and the pipeline does not change.
    let path = format!("{}/pipelines/{}/retry", fixture.cast.path, id_of(&pipeline));
    let retried = forge.post(&path).token(fixture.token("developer")).send().expect(201);
    assert_eq!(retried, pipeline);
}

/// A push creates a skipped pipeline without builds; an API call creates builds nevertheless.
fn a_mark_in_the_message_skips_the_pipeline_of_a_push_only(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    commit(forge, &fixture, Some(CONFIGURATION), "Change\n\nonly words [SKIP ci]");
    assert_eq!(push(forge, &fixture, "topic")["status"], "skipped");
    assert_statuses(forge, &fixture, &[]);
    assert_eq!(create_pipeline(forge, &fixture, "topic", 201)["status"], "pending");
    // Only the message of the newest commit counts.
    commit(forge, &fixture, Some(CONFIGURATION), "And on");
    assert_eq!(push(forge, &fixture, "later")["status"], "pending");
}

/// A branch and a tag on one commit get one pipeline each; deleting a ref creates none.
fn each_pushed_ref_makes_a_pipeline(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    push(forge, &fixture, "feature/x");
    new_tag(forge, &fixture, &[("tag_name", "v1"), ("ref", "master"), ("message", "annotated")]);
    let all = pipelines(forge, &fixture);
    let told = |at: usize| (all[at]["ref"].clone(), all[at]["tag"].clone(), all[at]["sha"].clone());
    let sha = json!(fixture.id("master"));
    assert_eq!(told(0), (json!("v1"), json!(true), sha.clone()), "the commit, not the tag object");
    assert_eq!(told(1), (json!("feature/x"), json!(false), sha));
    let branch = format!("{}/feature/x", fixture.branches);
    forge.delete(&branch).token(fixture.token("developer")).send().expect(200);
    let tag = format!("{}/v1", fixture.tags);
    forge.delete(&tag).token(fixture.token("master")).send().expect(200);
    assert_eq!(pipelines(forge, &fixture), all);
}

/// Pushes without a pipeline: no configuration, no job for the ref, or builds are disabled in the project.
fn pushes_without_jobs_create_no_pipeline(forge: &Forge) {
    let fixture = ci_fixture(forge, "rspec: {script: x, except: [topic, tags]}\n");
    new_branch(forge, &fixture, "topic", "master");
    assert_eq!(pipelines(forge, &fixture), json!([]));
    push(forge, &fixture, "other");
    commit(forge, &fixture, None, "No more");
    new_branch(forge, &fixture, "without", "master");
    commit(forge, &fixture, Some(CONFIGURATION), "Again");
    let form = [("name", "Ship"), ("builds_enabled", "false")];
    forge.put(&fixture.cast.path).token(fixture.token("owner")).form(&form).send().expect(200);
    new_branch(forge, &fixture, "disabled", "master");
    let form = [("name", "Ship"), ("builds_enabled", "true")];
    forge.put(&fixture.cast.path).token(fixture.token("owner")).form(&form).send().expect(200);
    let all = pipelines(forge, &fixture);
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
}

/// 403 below developer, checked after the parameters.
fn only_developers_create_pipelines(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let path = format!("{}/pipeline", fixture.cast.path);
    for who in ["stranger", "guest", "reporter"] {
        let token = fixture.token(who);
        let unread = forge.post(&path).token(token).send().expect(400);
        assert_eq!(unread, error("ref is missing"), "{who}");
        let status = if who == "stranger" { 404 } else { 403 };
        let form = [("ref", "nowhere")];
        let refused = forge.post(&path).token(token).form(&form).send().expect(status);
        if status == 403 {
            assert_eq!(refused, forbidden(), "{who}");
        }
    }
    let form = [("ref", "master")];
    for who in ["developer", "master", "owner", "root"] {
        forge.post(&path).token(fixture.token(who)).form(&form).send().expect(201);
    }
}

/// The last sentence of section 7.6, and the facts that sections 9.6 and 9.7 about hooks need.
fn pipelines_and_builds_are_recorded_for_hooks(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let before = queued_events(forge).len();
    let pipeline = push(forge, &fixture, "topic");
    let told: Vec<ProjectEvent> = queued_events(forge)
        .into_iter()
        .skip(before)
        .filter_map(|event| match event {
            SystemEvent::InProject(event) => Some(*event),
            _ => None,
        })
        .collect();
    let mut builds = Vec::new();
    let mut moved = Vec::new();
    for event in told {
        match event {
            ProjectEvent::Build(news) => builds.push(news),
            ProjectEvent::Pipeline(news) => moved.push(news),
            other => panic!("nobody wrote: {other:?}"),
        }
    }
    let names: Vec<&str> = builds.iter().map(|news| news.build.name.as_str()).collect();
    assert_eq!(names, ["compile", "rspec", "lint"]);
    let first = &builds[0];
    assert_eq!(first.project_name, "ada / Ship");
    assert_eq!(first.commit.message, "Build it\n\nAll of it.\n");
    assert_eq!(first.build.user.as_ref().map(|user| user.username.as_str()), Some("developer"));
    assert_eq!((builds[1].allow_failure, builds[2].allow_failure), (false, true));
    let [news] = &moved[..] else { panic!("one change of the status: {moved:?}") };
    assert_eq!(news.pipeline.id.0, id_of(&pipeline));
    assert_eq!((news.stages.join(" ").as_str(), news.builds.len()), ("build test", 3));
    assert_eq!(news.project.path_with_namespace, "ada/ship");
    assert_eq!(news.default_branch.as_deref(), Some("master"));
}
