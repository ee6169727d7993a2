//! Commit statuses: reference section 8.3.

use hexforge_domain::ci::status::Transition::{Fail, Succeed};
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{ci_fixture, pipeline_now, pipelines, push, run};
use crate::api::groups::group_support::{error, fields_of, forbidden};
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture};
use crate::api::support::{id_of, ids, message};
use crate::api::tracker::tracker_support::user_summary;

on_every_store!(
    a_status_has_every_field_and_makes_a_pipeline,
    a_status_counts_in_the_pipeline_of_its_ref,
    a_status_with_the_same_fields_updates_the_existing_one,
    invalid_statuses_are_refused,
    statuses_are_found_by_ref_stage_and_name,
    who_may_read_and_post_statuses,
);

#[track_caller]
fn post(
    forge: &Forge,
    fixture: &ProjectFixture,
    sha: &str,
    form: &[(&str, &str)],
    status: u16,
) -> Value {
    let path = format!("{}/statuses/{sha}", fixture.cast.path);
    forge.post(&path).token(fixture.token("developer")).form(form).send().expect(status)
}

#[track_caller]
fn list(forge: &Forge, fixture: &ProjectFixture, sha: &str, query: &str, status: u16) -> Value {
    let path = format!("{}/repository/commits/{sha}/statuses{query}", fixture.cast.path);
    forge.get(&path).token(fixture.token("reporter")).send().expect(status)
}

/// POST /projects/:id/statuses/:sha: 201. Defaults: the first branch that contains the commit, and the name `default`.
fn a_status_has_every_field_and_makes_a_pipeline(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let sha = fixture.id("master~1");
    assert_eq!(list(forge, &fixture, &sha, "", 200), json!([]), "without pipelines");
    let said = post(forge, &fixture, &sha, &[("state", "success")], 201);
    let user = id_of(&forge.get("/user").token(fixture.token("developer")).send().expect(200));
    let now = "2016-09-22T10:30:00.000Z";
    let expected = json!({
        "id": id_of(&said), "sha": sha, "ref": "master", "status": "success",
        "name": "default", "target_url": null, "description": null, "created_at": now,
        "started_at": null, "finished_at": now, "allow_failure": false,
        "author": user_summary(forge, user)
    });
    assert_eq!(said, expected);
    assert_eq!(fields_of(&said), fields_of(&expected), "in this order");
    assert_eq!(list(forge, &fixture, &sha, "", 200), json!([said]));
    let made = pipelines(forge, &fixture);
    assert_eq!(made.as_array().map(Vec::len), Some(1));
    assert_eq!((&made[0]["status"], &made[0]["sha"]), (&json!("success"), &json!(sha)));
    let more = [
        ("state", "failed"),
        ("ref", "feature/x"),
        ("context", "ci"),
        ("target_url", "http://example.com/1"),
        ("description", "It broke"),
    ];
    let said = post(forge, &fixture, &fixture.id("feature/x"), &more, 201);
    let told = ["ref", "name", "target_url", "description", "status"].map(|name| &said[name]);
    assert_eq!(told, ["feature/x", "ci", "http://example.com/1", "It broke", "failed"]);
}

/// "It is attached to the latest pipeline of that reference and commit … and counts in its status".
fn a_status_counts_in_the_pipeline_of_its_ref(forge: &Forge) {
    let fixture = ci_fixture(forge, "rspec: {script: x}\n");
    let pipeline = push(forge, &fixture, "topic");
    let sha = fixture.id("topic");
    let form = [("state", "running"), ("ref", "topic"), ("name", "ci")];
    post(forge, &fixture, &sha, &form, 201);
    assert_eq!(pipelines(forge, &fixture).as_array().map(Vec::len), Some(1));
    run(forge, &fixture, "rspec", Succeed);
    assert_eq!(pipeline_now(forge, &fixture, &pipeline)["status"], "running");
    let form = [("state", "failed"), ("ref", "topic"), ("name", "ci")];
    post(forge, &fixture, &sha, &form, 201);
    assert_eq!(pipeline_now(forge, &fixture, &pipeline)["status"], "failed");
    let form = [("state", "success"), ("ref", "topic"), ("name", "ci")];
    post(forge, &fixture, &sha, &form, 201);
    assert_eq!(pipeline_now(forge, &fixture, &pipeline)["status"], "success", "the newest counts");
    // Another ref on the same commit gets its own pipeline.
    let form = [("state", "pending"), ("ref", "master"), ("name", "ci")];
    post(forge, &fixture, &sha, &form, 201);
    assert_eq!(pipelines(forge, &fixture).as_array().map(Vec::len), Some(2));
}

/// The last sentence of the section.
fn a_status_with_the_same_fields_updates_the_existing_one(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let sha = fixture.id("master");
    let say = |state: &str, more: &[(&str, &str)], status: u16| {
        let form: Vec<_> = [("state", state)].into_iter().chain(more.iter().copied()).collect();
        post(forge, &fixture, &sha, &form, status)
    };
    let first = say("pending", &[("description", "d")], 201);
    assert_eq!((&first["status"], &first["started_at"]), (&json!("pending"), &Value::Null));
    let refused = say("pending", &[("description", "d")], 400);
    let text = "Cannot transition status via :enqueue from :pending \
                (Reason(s): Status cannot transition via \"enqueue\")";
    assert_eq!(refused, message(text));
    let running = say("running", &[("description", "d")], 201);
    assert_eq!((id_of(&running), &running["status"]), (id_of(&first), &json!("running")));
    let other = say("running", &[("description", "other")], 201);
    assert_ne!(id_of(&other), id_of(&first), "another description");
    let done = say("success", &[("description", "other")], 201);
    assert_eq!(id_of(&done), id_of(&other));
    let again = say("success", &[("description", "other")], 201);
    assert_ne!(id_of(&again), id_of(&other), "a finished status is not updated");
}

/// 400 and 404.
fn invalid_statuses_are_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let sha = fixture.id("master");
    assert_eq!(post(forge, &fixture, &sha, &[], 400), error("state is missing"));
    for state in ["skipped", "created", "x", ""] {
        let refused = post(forge, &fixture, &sha, &[("state", state)], 400);
        assert_eq!(refused, error("state does not have a valid value"), "{state}");
    }
    let missing = message("404 Commit Not Found");
    let nowhere = "1".repeat(40);
    assert_eq!(post(forge, &fixture, &nowhere, &[("state", "success")], 404), missing);
    assert_eq!(list(forge, &fixture, &nowhere, "", 404), missing);
    // No branch contains this commit.
    fixture.tree.git(&["checkout", "-q", "--detach"]);
    let lost = fixture.tree.write("lost", "x").commit("Lost");
    fixture.tree.git(&["tag", "keeper"]);
    forge.fill(fixture.project(), &fixture.tree);
    let refused = post(forge, &fixture, &lost, &[("state", "success")], 404);
    assert_eq!(refused, message("404 References for commit Not Found"));
}

/// GET /projects/:id/repository/commits/:sha/statuses: includes builds; `all` also shows superseded ones.
fn statuses_are_found_by_ref_stage_and_name(forge: &Forge) {
    let fixture = ci_fixture(forge, "rspec: {script: x}\n");
    let pipeline = push(forge, &fixture, "topic");
    let sha = fixture.id("topic");
    run(forge, &fixture, "rspec", Fail);
    let path = format!("{}/pipelines/{}/retry", fixture.cast.path, id_of(&pipeline));
    forge.post(&path).token(fixture.token("developer")).send().expect(201);
    let said = post(forge, &fixture, &sha, &[("state", "success"), ("ref", "topic")], 201);
    let beside = post(forge, &fixture, &sha, &[("state", "success"), ("ref", "master")], 201);
    let names = |query: &str| {
        let found = list(forge, &fixture, &sha, query, 200);
        let found = found.as_array().expect("a list").clone();
        found.iter().map(|one| format!("{}/{}", one["name"], one["status"])).collect::<Vec<_>>()
    };
    let (rspec, done) = ("\"rspec\"/\"pending\"", "\"default\"/\"success\"");
    assert_eq!(names(""), [rspec, done, done]);
    assert_eq!(names("?all=true"), ["\"rspec\"/\"failed\"", rspec, done, done]);
    assert_eq!(names("?ref=topic"), [rspec, done]);
    assert_eq!(names("?stage=external&ref=topic"), [done]);
    assert_eq!(names("?name=rspec"), [rspec]);
    assert_eq!(names("?name=nobody"), Vec::<String>::new());
    let page = list(forge, &fixture, &sha, "?per_page=2&page=2", 200);
    assert_eq!(ids(&page), [id_of(&beside)]);
    assert!(id_of(&said) < id_of(&beside));
}

/// Reading: reporters, 403 for guests. Posting: developers.
fn who_may_read_and_post_statuses(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let sha = fixture.id("master");
    let read = format!("{}/repository/commits/{sha}/statuses", fixture.cast.path);
    let say = format!("{}/statuses/{sha}?state=success", fixture.cast.path);
    for (who, reads, says) in [
        ("stranger", 404, 404),
        ("guest", 403, 403),
        ("reporter", 200, 403),
        ("developer", 200, 201),
        ("master", 200, 201),
        ("root", 200, 201),
    ] {
        let token = fixture.token(who);
        let answer = forge.get(&read).token(token).send();
        assert_eq!(answer.status, reads, "{who} reads");
        let answer = forge.post(&say).token(token).send();
        assert_eq!(answer.status, says, "{who} says");
        if says == 403 {
            assert_eq!(answer.json(), forbidden());
        }
    }
    forge.get(&read).send().expect(401);
}
