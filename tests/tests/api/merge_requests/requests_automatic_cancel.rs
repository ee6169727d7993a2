//! Which pipelines an automatic merge waits for, and who may cancel it: merge_requests.md section 7.

use hexforge_application::build;
use hexforge_domain::ci::status::Transition;
use hexforge_domain::id::BuildId;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use super::requests_automatic::{enabled, report, waiting};
use super::requests_fork_support::{forked, post_from};
use super::requests_support::{
    merge, new_request, path_of_request, post_request, put_request, request_notes, request_now,
};
use crate::api::ci::ci_support::{build as newest_build, ci_fixture, push};
use crate::api::groups::group_support::{error, no_project, path_of_project};
use crate::api::repositories::commits_support::{post_body, tip};
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, filled_fixture, new_branch, new_tag,
};
use crate::api::support::{MISSING, id_of, message};

on_every_store!(
    pipelines_of_other_refs_do_not_count,
    only_the_newest_pipeline_of_the_head_counts,
    the_pipeline_of_the_fork_decides,
    an_automatic_merge_is_cancelled,
    who_may_cancel,
    only_open_requests_are_cancelled,
    cancelling_in_an_archived_project,
);

/// Sends POST or PUT `cancel_merge_when_build_succeeds`.
fn cancel(forge: &Forge, method: &str, token: &str, request: &Value) -> Response {
    let path = format!("{}/cancel_merge_when_build_succeeds", path_of_request(request));
    forge.request(method, &path).token(token).send()
}

/// Section 7, "that very pipeline (head, source branch)": other branches and tags at the same commit do not count.
fn pipelines_of_other_refs_do_not_count(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    new_branch(forge, &fixture, "copy", "feature/x");
    new_tag(forge, &fixture, &[("tag_name", "v2"), ("ref", "feature/x")]);
    for other in ["copy", "v2"] {
        report(forge, &fixture, &json!({"sha": made["sha"], "source_branch": other}), "success");
        assert_eq!(request_now(forge, &made), made, "{other}");
    }
    // Nor do pipelines of the branch for another commit.
    let old = fixture.id("feature/x~1");
    report(forge, &fixture, &json!({"sha": old, "source_branch": "feature/x"}), "success");
    assert_eq!(request_now(forge, &made), made);
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made)["state"], "merged");
}

/// Sections 6.3 and 7: the pipeline of the head is the newest one, so an older one that succeeds merges nothing.
fn only_the_newest_pipeline_of_the_head_counts(forge: &Forge) {
    let fixture = ci_fixture(forge, "rspec: {script: x}\n");
    push(forge, &fixture, "topic");
    let file = json!({"action": "create", "file_path": "x", "content": "x\n"});
    let body = json!({"branch_name": "topic", "commit_message": "X", "actions": [file]});
    post_body(forge, &fixture, "developer", &body).expect(201);
    let old = newest_build(forge, &fixture, "rspec");
    let made = new_request(forge, &fixture, "topic", "t");
    let wishes = json!({"merge_when_build_succeeds": true});
    let waits = merge(forge, fixture.token("master"), &made, &wishes).expect(200);
    let again = format!("{}/pipeline", fixture.cast.path);
    let form = [("ref", "topic")];
    forge.post(&again).token(fixture.token("developer")).form(&form).send().expect(201);
    let new = newest_build(forge, &fixture, "rspec");
    assert_ne!(id_of(&old), id_of(&new));
    let succeed = |build: &Value| {
        for transition in [Transition::Run, Transition::Succeed] {
            let moved = build::advance(&forge.app, BuildId(id_of(build)), transition);
            assert!(moved.expect("the store can be written"));
        }
        do_tasks(forge);
    };
    succeed(&old);
    assert_eq!(request_now(forge, &made), waits);
    succeed(&new);
    assert_eq!(request_now(forge, &made)["state"], "merged");
}

/// Sections 6.3 and 7: the pipeline of the head is one of the source project.
fn the_pipeline_of_the_fork_decides(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let sha = made["sha"].as_str().expect("an id").to_owned();
    let say = |project: &str, token: &str, state: &str| {
        let path = format!("{project}/statuses/{sha}");
        let form = [("state", state), ("ref", "topic"), ("name", "ci")];
        forge.post(&path).token(token).form(&form).send().expect(201);
        do_tasks(forge);
    };
    let (target, source) = (fixture.cast.path.as_str(), path_of_project(&fork));
    say(&source, stranger, "running");
    let wishes = json!({"merge_when_build_succeeds": true});
    let waits = merge(forge, fixture.token("developer"), &made, &wishes).expect(200);
    assert_eq!(
        (&waits["state"], &waits["merge_when_build_succeeds"]),
        (&json!("opened"), &json!(true))
    );
    new_branch(forge, &fixture, "topic", &sha);
    say(target, fixture.token("developer"), "success");
    assert_eq!(request_now(forge, &made), waits);
    say(&source, stranger, "success");
    let merged = request_now(forge, &made);
    assert_eq!(merged["state"], "merged");
    assert_eq!(merged["merge_commit_sha"], tip(forge, &fixture, "master"));
}

/// POST /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds: 201,
/// PUT /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds: 200. Section 7.
fn an_automatic_merge_is_cancelled(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    let mut notes = vec![enabled(&made)];
    for (method, status) in [("POST", 201), ("PUT", 200)] {
        let token = fixture.token("developer");
        let shown = cancel(forge, method, token, &made).expect(status);
        assert_eq!(
            (&shown["merge_when_build_succeeds"], &shown["should_remove_source_branch"]),
            (&json!(false), &Value::Null)
        );
        assert_eq!(shown["state"], "opened");
        notes.push("canceled the automatic merge".to_owned());
        assert_eq!(request_notes(forge, &made), notes);
        let again = cancel(forge, method, token, &made);
        assert_eq!(again.expect(406), message("Can't cancel the automatic merge"));
        if method == "POST" {
            let wishes = json!({"merge_when_build_succeeds": true});
            merge(forge, fixture.token("master"), &made, &wishes).expect(200);
            notes.push(enabled(&made));
        }
    }
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made)["state"], "opened");
}

/// A request by a user who is a reporter afterwards, and that waits for its pipeline.
fn waiting_of_a_reporter(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let made = waiting(forge, fixture);
    let developer = forge.get("/user").token(fixture.token("developer")).send().expect(200);
    let member = format!("{}/members/{}", fixture.cast.path, id_of(&developer));
    forge.put(&member).token(ROOT).form(&[("access_level", "20")]).send().expect(200);
    made
}

/// Section 7, first row of the cancel table, and the order of the checks: section 1.2.
fn who_may_cancel(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting_of_a_reporter(forge, &fixture);
    let unauthorized = message("401 Unauthorized");
    for method in ["POST", "PUT"] {
        for who in ["guest", "reporter"] {
            let refused = cancel(forge, method, fixture.token(who), &made);
            assert_eq!(refused.expect(401), unauthorized, "{who}");
        }
        for who in ["stranger", "external"] {
            let refused = cancel(forge, method, fixture.token(who), &made);
            assert_eq!(refused.expect(404), no_project(), "{who}");
        }
        let unknown = json!({"project_id": fixture.project(), "id": MISSING});
        let refused = cancel(forge, method, fixture.token("guest"), &unknown);
        assert_eq!(refused.expect(404), message("404 Not found"));
        let path =
            format!("{}/merge_requests/x/cancel_merge_when_build_succeeds", fixture.cast.path);
        let refused = forge.request(method, &path).token(fixture.token("stranger")).send();
        assert_eq!(refused.expect(400), error("merge_request_id is invalid"));
        let path = format!("{}/cancel_merge_when_build_succeeds", path_of_request(&made));
        assert_eq!(forge.request(method, &path).send().expect(401), unauthorized);
    }
    assert_eq!(request_now(forge, &made)["merge_when_build_succeeds"], true);
    // The author may, although below the level that merges.
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(401);
    cancel(forge, "POST", fixture.token("developer"), &made).expect(201);
}

/// Section 7, second row of the cancel table.
fn only_open_requests_are_cancelled(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    let not_allowed = message("405 Method Not Allowed");
    put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    // 401 comes before 405.
    cancel(forge, "POST", fixture.token("reporter"), &made).expect(401);
    assert_eq!(cancel(forge, "POST", ROOT, &made).expect(405), not_allowed);
    assert_eq!(request_now(forge, &made)["merge_when_build_succeeds"], true);
    put_request(forge, ROOT, &made, &json!({"state_event": "reopen"})).expect(200);
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made)["state"], "merged");
    assert_eq!(cancel(forge, "PUT", ROOT, &made).expect(405), not_allowed);
    let fields = json!({"title": "t", "source_branch": "master", "target_branch": "stable"});
    let plain = post_request(forge, &fixture, "developer", &fields).expect(201);
    let refused = cancel(forge, "POST", fixture.token("developer"), &plain);
    assert_eq!(refused.expect(406), message("Can't cancel the automatic merge"));
}

/// Sections 6.2 and 15: nobody may merge in an archived project, so only the author may cancel.
fn cancelling_in_an_archived_project(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send().expect(201);
    for who in ["master", "owner", "root"] {
        let refused = cancel(forge, "POST", fixture.token(who), &made);
        assert_eq!(refused.expect(401), message("401 Unauthorized"), "{who}");
    }
    cancel(forge, "POST", fixture.token("developer"), &made).expect(201);
}
