//! Triggers: reference section 8.1.

use chrono::TimeDelta;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{CONFIGURATION, builds, ci_fixture, pipelines};
use crate::api::groups::group_support::{error, fields_of, new_project, path_of_project};
use crate::api::repositories::refs_support::ProjectFixture;
use crate::api::support::message;

on_every_store!(
    triggers_are_made_listed_and_removed,
    only_masters_see_triggers,
    a_trigger_starts_a_pipeline,
    invalid_trigger_requests_are_refused,
    a_ref_in_the_path_wins_over_the_payload,
);

#[track_caller]
fn new_trigger(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let path = format!("{}/triggers", fixture.cast.path);
    forge.post(&path).token(fixture.token("master")).send().expect(201)
}

fn token(trigger: &Value) -> &str {
    trigger["token"].as_str().expect("a trigger has a token")
}

/// GET /projects/:id/triggers, POST /projects/:id/triggers, GET /projects/:id/triggers/:token,
/// DELETE /projects/:id/triggers/:token
fn triggers_are_made_listed_and_removed(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let (one, two) = (new_trigger(forge, &fixture), new_trigger(forge, &fixture));
    let now = "2016-09-22T10:30:00.000Z";
    let expected = json!({
        "token": token(&one), "created_at": now, "updated_at": now, "deleted_at": null,
        "last_used": null
    });
    assert_eq!(one, expected);
    assert_eq!(fields_of(&one), fields_of(&expected), "in this order");
    assert_ne!(token(&one), token(&two));
    assert!(token(&one).len() >= 20);
    let list = format!("{}/triggers", fixture.cast.path);
    let master = fixture.token("master");
    assert_eq!(forge.get(&list).token(master).send().expect(200), json!([one, two]));
    let path = format!("{list}/{}", token(&one));
    assert_eq!(forge.get(&path).token(master).send().expect(200), one);
    let gone = forge.delete(&path).token(master).send().expect(200);
    assert_eq!((&gone["token"], &gone["deleted_at"]), (&one["token"], &json!(now)));
    let missing = message("404 Trigger Not Found");
    assert_eq!(forge.get(&path).token(master).send().expect(404), missing);
    assert_eq!(forge.delete(&path).token(master).send().expect(404), missing);
    for strange in ["x", "1-x", "0"] {
        let path = format!("{list}/{strange}");
        assert_eq!(forge.get(&path).token(master).send().expect(404), missing, "{strange}");
    }
    assert_eq!(forge.get(&list).token(master).send().expect(200), json!([two]));
}

/// Only for masters and above.
fn only_masters_see_triggers(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let one = new_trigger(forge, &fixture);
    let list = format!("{}/triggers", fixture.cast.path);
    let path = format!("{list}/{}", token(&one));
    for (who, status) in [("stranger", 404), ("guest", 403), ("developer", 403)] {
        for (method, path) in [("GET", &list), ("POST", &list), ("GET", &path), ("DELETE", &path)] {
            let answer = forge.request(method, path).token(fixture.token(who)).send();
            assert_eq!(answer.status, status, "{who} {method} {path}");
        }
    }
    for who in ["master", "owner", "root"] {
        forge.get(&path).token(fixture.token(who)).send().expect(200);
    }
}

/// POST /projects/:id/trigger/builds: 201 with the token of a trigger, without a user.
fn a_trigger_starts_a_pipeline(forge: &Forge) {
    let configuration = "a: {script: a, only: [triggers]}\nb: {script: b, except: [triggers]}\n";
    let fixture = ci_fixture(forge, configuration);
    let one = new_trigger(forge, &fixture);
    forge.clock.advance(TimeDelta::minutes(1));
    let path = format!("{}/trigger/builds", fixture.cast.path);
    let form = [
        ("token", token(&one)),
        ("ref", "master"),
        ("variables[B]", "2"),
        ("variables[A]", "one = 1"),
    ];
    let started = forge.post(&path).form(&form).send().expect(201);
    assert_eq!(fields_of(&started), ["id", "variables"]);
    assert_eq!(started["variables"], json!({"A": "one = 1", "B": "2"}));
    let pipeline = pipelines(forge, &fixture)[0].clone();
    assert_eq!((&pipeline["ref"], &pipeline["user"]), (&json!("master"), &Value::Null));
    let names: Vec<Value> = builds(forge, &fixture).iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, [json!("a")], "of the jobs for triggers");
    let used = format!("{}/triggers/{}", fixture.cast.path, token(&one));
    let used = forge.get(&used).token(fixture.token("master")).send().expect(200);
    assert_eq!(used["last_used"], "2016-09-22T10:31:00.000Z");
    let body = json!({"token": token(&one), "ref": "master", "variables": {"C": "3"}});
    let again = forge.post(&path).json(&body).send().expect(201);
    assert_eq!(again["variables"], json!({"C": "3"}));
}

/// 404 for unknown tokens and tokens of other projects; 400 if there is no job to run.
fn invalid_trigger_requests_are_refused(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let one = new_trigger(forge, &fixture);
    let other = new_project(forge, fixture.token("developer"), "Other", &[]);
    let path = format!("{}/trigger/builds", fixture.cast.path);
    let start = |path: &str, token: &str, reference: &str, status: u16| {
        let form = [("token", token), ("ref", reference)];
        forge.post(path).form(&form).send().expect(status)
    };
    let missing = message("404 Not Found");
    assert_eq!(start(&path, "1-nonsense", "master", 404), missing);
    assert_eq!(start("/projects/987654/trigger/builds", token(&one), "master", 404), missing);
    let elsewhere = format!("{}/trigger/builds", path_of_project(&other));
    assert_eq!(start(&elsewhere, token(&one), "master", 404), missing, "a project that is there");
    let public = new_project(forge, fixture.token("developer"), "Open", &[("public", "true")]);
    let public = format!("{}/trigger/builds", path_of_project(&public));
    let unauthorized = message("401 Unauthorized");
    assert_eq!(start(&public, token(&one), "master", 401), unauthorized, "everybody sees it");
    assert_eq!(start(&path, token(&one), "nowhere", 400), message("No builds created"));
    let incomplete = forge.post(&path).send().expect(400);
    assert_eq!(incomplete, error("token is missing, ref is missing"));
    for (variables, answer) in odd_variables() {
        let body = json!({"token": token(&one), "ref": "master", "variables": variables});
        assert_eq!(forge.post(&path).json(&body).send().expect(400), answer, "{variables}");
    }
    let body = json!({"ref": "master", "variables": 7});
    let both = forge.post(&path).json(&body).send().expect(400);
    assert_eq!(both, error("token is missing, variables is invalid"));
    assert_eq!(pipelines(forge, &fixture), json!([]));
}

/// Variables that are not an object of texts, with the answers.
fn odd_variables() -> [(Value, Value); 6] {
    let invalid = error("variables is invalid");
    let no_texts = message("variables needs to be a map of key-valued strings");
    [
        (json!({"A": {"b": 1}}), no_texts.clone()),
        (json!({"A": "1", "B": 2}), no_texts),
        (json!("text"), invalid.clone()),
        (json!(["A"]), invalid.clone()),
        (json!(7), invalid.clone()),
        (json!(true), invalid),
    ]
}

/// Section 15 of the rest of v3. POST /projects/:id/ref/:reference/trigger/builds
fn a_ref_in_the_path_wins_over_the_payload(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let one = new_trigger(forge, &fixture);
    let branch = [("branch_name", "topic/one"), ("ref", "master")];
    let branches = forge.post(&fixture.branches).token(fixture.token("master"));
    branches.form(&branch).send().expect(200);
    let path = |reference: &str| format!("{}/ref/{reference}/trigger/builds", fixture.cast.path);
    // The payload of a push to another project, with the token in the query.
    let payload = json!({
        "object_kind": "push", "ref": "refs/heads/elsewhere", "project_id": 7,
        "commits": [{"id": "a", "message": "b"}], "total_commits_count": 1
    });
    let with_token = |path: String, token: &str| format!("{path}?token={token}&ref=nowhere");
    for (reference, shown) in [("master", "master"), ("topic%2Fone", "topic/one")] {
        let address = with_token(path(reference), token(&one));
        let started = forge.post(&address).json(&payload).send().expect(201);
        assert_eq!(fields_of(&started), ["id", "variables"]);
        assert_eq!(started["variables"], json!({}));
        assert_eq!(pipelines(forge, &fixture)[0]["ref"], shown);
    }
    let body = json!({"variables": {"A": "1"}, "ref": "nowhere"});
    let started = forge.post(&with_token(path("master"), token(&one))).json(&body).send();
    assert_eq!(started.expect(201)["variables"], json!({"A": "1"}));
    let before = pipelines(forge, &fixture);
    let missing = forge.post(&path("master")).json(&payload).send().expect(400);
    assert_eq!(missing, error("token is missing"));
    let unknown = forge.post(&with_token(path("master"), "1-nonsense")).send().expect(404);
    assert_eq!(unknown, message("404 Not Found"));
    let elsewhere = format!("/projects/987654/ref/master/trigger/builds?token={}", token(&one));
    assert_eq!(forge.post(&elsewhere).send().expect(404), message("404 Not Found"));
    let nowhere = forge.post(&with_token(path("nowhere"), token(&one))).send().expect(400);
    assert_eq!(nowhere, message("No builds created"));
    for (variables, answer) in odd_variables() {
        let body = json!({"variables": variables});
        let odd = forge.post(&with_token(path("master"), token(&one))).json(&body).send();
        assert_eq!(odd.expect(400), answer, "{variables}");
    }
    for (level, status) in [("0", 404), ("10", 404), ("20", 401)] {
        let fields = [("visibility_level", level)];
        let other = new_project(forge, fixture.token("developer"), &format!("o{level}"), &fields);
        let other = format!("{}/ref/master/trigger/builds", path_of_project(&other));
        let refused = forge.post(&with_token(other, token(&one))).send();
        assert_eq!(refused.status, status, "{level}");
    }
    assert_eq!(pipelines(forge, &fixture), before);
}
