//! Merges that wait for the pipeline of the head: merge_requests.md section 7.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    actions, commit_file, merge, new_request, put_request, request_notes, request_now,
};
use crate::api::groups::group_support::activity_in;
use crate::api::repositories::commits_support::{post_body, tip};
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, filled_fixture, new_branch,
};
use crate::api::support::id_of;

on_every_store!(
    an_active_pipeline_makes_the_merge_wait,
    a_second_call_renews_the_wishes,
    without_an_active_pipeline_it_merges_at_once,
    only_success_merges,
    a_push_to_the_source_branch_resets_it,
    a_removed_source_branch_resets_it,
    closing_keeps_it,
    what_cannot_be_merged_any_more_stays_open,
    a_setter_without_the_right_merges_nothing,
    the_switch_of_the_project_allows_no_waiting,
);

/// Reports a status of the head of a request, as a build of its source branch would, and runs the queued tasks.
#[track_caller]
pub fn report(forge: &Forge, fixture: &ProjectFixture, request: &Value, state: &str) {
    let sha = request["sha"].as_str().expect("an id");
    let path = format!("{}/statuses/{sha}", fixture.cast.path);
    let branch = request["source_branch"].as_str().expect("a name");
    let form = [("state", state), ("ref", branch), ("name", "ci")];
    forge.post(&path).token(fixture.token("developer")).form(&form).send().expect(201);
    do_tasks(forge);
}

/// A request from `feature/x` whose pipeline runs, and that `master` told to merge when it succeeds.
#[track_caller]
pub fn waiting(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let made = new_request(forge, fixture, "feature/x", "t");
    report(forge, fixture, &made, "running");
    let wishes = json!({"merge_when_build_succeeds": true, "should_remove_source_branch": true,
        "merge_commit_message": "M"});
    let waiting = merge(forge, fixture.token("master"), &made, &wishes).expect(200);
    assert_eq!(waiting["merge_when_build_succeeds"], true);
    waiting
}

/// The note that is written when the merge begins to wait.
pub fn enabled(request: &Value) -> String {
    let sha = request["sha"].as_str().expect("an id");
    format!("enabled an automatic merge when the build for {sha} succeeds")
}

/// Creates a branch with a commit of its own.
fn add_branch(forge: &Forge, fixture: &ProjectFixture, name: &str) {
    new_branch(forge, fixture, name, "master");
    commit_file(forge, fixture, name, name, "x\n");
}

/// State, flag and wish of a request.
fn facts(request: &Value) -> [Value; 3] {
    ["state", "merge_when_build_succeeds", "should_remove_source_branch"]
        .map(|field| request[field].clone())
}

/// Section 7, first two paragraphs: the merge waits, and is done as by the user who set it.
fn an_active_pipeline_makes_the_merge_wait(forge: &Forge) {
    let fixture = &filled_fixture(forge);
    add_branch(forge, fixture, "other");
    for (source, state) in [("feature/x", "pending"), ("other", "running")] {
        let made = new_request(forge, fixture, source, "t");
        report(forge, fixture, &made, state);
        let (before, master) = (actions(forge, fixture), tip(forge, fixture, "master"));
        let wishes = json!({"merge_when_build_succeeds": true,
            "should_remove_source_branch": true, "merge_commit_message": "M"});
        let waiting = merge(forge, fixture.token("master"), &made, &wishes).expect(200);
        assert_eq!(facts(&waiting), [json!("opened"), json!(true), json!(true)]);
        assert_eq!(waiting["merge_commit_sha"], Value::Null);
        assert_eq!(waiting["merge_status"], "can_be_merged");
        assert_eq!(request_notes(forge, &made), [enabled(&made)]);
        assert_eq!(actions(forge, fixture), before, "no event");
        assert_eq!(tip(forge, fixture, "master"), master);
        report(forge, fixture, &made, "success");
        let merged = request_now(forge, &made);
        assert_eq!(facts(&merged), [json!("merged"), json!(true), json!(true)]);
        let new = tip(forge, fixture, "master");
        assert_eq!(merged["merge_commit_sha"], new);
        let path = format!("{}/repository/commits/{new}", fixture.cast.path);
        let commit = forge.get(&path).token(ROOT).send().expect(200);
        assert_eq!((&commit["message"], &commit["author_name"]), (&json!("M"), &json!("master")));
        assert_eq!(request_notes(forge, &made), [enabled(&made), "merged".to_owned()]);
        let master = forge.get("/user").token(fixture.token("master")).send().expect(200);
        let events = activity_in(forge, &fixture.cast.project);
        for action in ["accepted", "pushed to", "deleted"] {
            assert!(events[..3].contains(&(action.to_owned(), id_of(&master))), "{events:?}");
        }
        let branch = format!("{}/{}", fixture.branches, source.replace('/', "%2F"));
        forge.get(&branch).token(ROOT).send().expect(404);
    }
}

/// Section 7, "A second such call renews what is remembered, without a note".
fn a_second_call_renews_the_wishes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    let wishes = json!({"merge_when_build_succeeds": true, "merge_commit_message": "N"});
    let again = merge(forge, fixture.token("developer"), &made, &wishes).expect(200);
    assert_eq!(facts(&again), [json!("opened"), json!(true), Value::Null]);
    assert_eq!(request_notes(forge, &made), [enabled(&made)]);
    report(forge, &fixture, &made, "success");
    let merged = request_now(forge, &made);
    assert_eq!(facts(&merged), [json!("merged"), json!(true), Value::Null]);
    let path = format!("{}/repository/commits/master", fixture.cast.path);
    let commit = forge.get(&path).token(ROOT).send().expect(200);
    assert_eq!((&commit["message"], &commit["author_name"]), (&json!("N"), &json!("developer")));
    assert_eq!(tip(forge, &fixture, "feature%2Fx"), made["sha"].as_str().expect("an id"));
}

/// Section 7, "Without an active pipeline it merges at once".
fn without_an_active_pipeline_it_merges_at_once(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (source, state) in [
        ("none", None),
        ("done", Some("success")),
        ("broken", Some("failed")),
        ("stopped", Some("canceled")),
        ("left-out", None),
    ] {
        add_branch(forge, &fixture, source);
        if source == "left-out" {
            skip_pipeline(forge, &fixture, source);
        }
        let made = new_request(forge, &fixture, source, "t");
        if let Some(state) = state {
            report(forge, &fixture, &made, state);
        }
        let wishes = json!({"merge_when_build_succeeds": true});
        let merged = merge(forge, ROOT, &made, &wishes).expect(200);
        assert_eq!(facts(&merged), [json!("merged"), json!(false), Value::Null], "{source}");
        assert_eq!(request_notes(forge, &made), ["merged"], "{source}");
    }
}

/// Commits a configuration to a branch, with the mark that makes its pipeline `skipped`.
#[track_caller]
fn skip_pipeline(forge: &Forge, fixture: &ProjectFixture, branch: &str) {
    let file = json!({"action": "create", "file_path": ".gitlab-ci.yml",
        "content": "rspec: {script: x}\n"});
    let body = json!({"branch_name": branch, "commit_message": "Not now [ci skip]",
        "actions": [file]});
    post_body(forge, fixture, "developer", &body).expect(201);
    let path = format!("{}/pipelines", fixture.cast.path);
    let pipelines = forge.get(&path).token(ROOT).send().expect(200);
    assert_eq!(
        (&pipelines[0]["ref"], &pipelines[0]["status"]),
        (&json!(branch), &json!("skipped"))
    );
}

/// Section 7, "A failed or cancelled pipeline changes nothing: the flag stays".
fn only_success_merges(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    for state in ["failed", "canceled", "pending", "running"] {
        report(forge, &fixture, &made, state);
        assert_eq!(request_now(forge, &made), made, "{state}");
    }
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made)["state"], "merged");
    assert_eq!(request_notes(forge, &made), [enabled(&made), "merged".to_owned()]);
}

/// Section 7, first row of the table: a push to the source branch.
fn a_push_to_the_source_branch_resets_it(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    let new = commit_file(forge, &fixture, "feature/x", "b", "b\n");
    let now = request_now(forge, &made);
    assert_eq!(facts(&now), [json!("opened"), json!(false), Value::Null]);
    let notes = request_notes(forge, &made);
    assert_eq!((notes.len(), &notes[0]), (2, &enabled(&made)));
    assert!(notes[1].starts_with("added 1 commit\n\n"), "{notes:?}");
    // The pipelines of the old head and, without a wish, of the new one merge nothing.
    report(forge, &fixture, &made, "success");
    report(forge, &fixture, &now, "success");
    assert_eq!(request_now(forge, &made), now);
    // The wish can be set again, with a note about the new head.
    report(forge, &fixture, &now, "running");
    let wishes = json!({"merge_when_build_succeeds": true});
    merge(forge, ROOT, &now, &wishes).expect(200);
    assert_eq!(request_notes(forge, &made)[2], enabled(&json!({"sha": new})));
    report(forge, &fixture, &now, "success");
    assert_eq!(request_now(forge, &made)["state"], "merged");
}

/// Section 7, first row of the table: the removal of the source branch.
fn a_removed_source_branch_resets_it(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    let branch = format!("{}/feature%2Fx", fixture.branches);
    forge.delete(&branch).token(ROOT).send().expect(200);
    let now = request_now(forge, &made);
    assert_eq!(facts(&now), [json!("opened"), json!(false), Value::Null]);
    let notes = request_notes(forge, &made);
    assert_eq!(notes, [enabled(&made), "deleted source branch `feature/x`".to_owned()]);
    new_branch(forge, &fixture, "feature/x", made["sha"].as_str().expect("an id"));
    report(forge, &fixture, &made, "success");
    assert_eq!(facts(&request_now(forge, &made)), [json!("opened"), json!(false), Value::Null]);
}

/// Section 7, last row of the table: closing keeps the flag.
fn closing_keeps_it(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    let closed = put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    assert_eq!(facts(&closed), [json!("closed"), json!(true), json!(true)]);
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made), closed);
    let reopened = put_request(forge, ROOT, &made, &json!({"state_event": "reopen"})).expect(200);
    assert_eq!(facts(&reopened), [json!("reopened"), json!(true), json!(true)]);
    report(forge, &fixture, &made, "running");
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made)["state"], "merged");
}

/// Section 7, "if it still passes 6.3": conflicts and work in progress.
fn what_cannot_be_merged_any_more_stays_open(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    put_request(forge, ROOT, &made, &json!({"title": "WIP: t"})).expect(200);
    report(forge, &fixture, &made, "success");
    let now = request_now(forge, &made);
    assert_eq!(facts(&now), [json!("opened"), json!(true), json!(true)]);
    put_request(forge, ROOT, &made, &json!({"title": "t"})).expect(200);
    commit_file(forge, &fixture, "master", "x", "another\n");
    report(forge, &fixture, &made, "running");
    report(forge, &fixture, &made, "success");
    let now = request_now(forge, &made);
    assert_eq!(facts(&now), [json!("opened"), json!(true), json!(true)]);
    assert_eq!(now["merge_status"], "cannot_be_merged");
    assert!(!request_notes(forge, &made).contains(&"merged".to_owned()));
}

/// Section 7, "merged as by the user who set it": one who may merge no more, or is blocked.
fn a_setter_without_the_right_merges_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = waiting(forge, &fixture);
    let master = id_of(&forge.get("/user").token(fixture.token("master")).send().expect(200));
    let member = format!("{}/members/{master}", fixture.cast.path);
    let set_level = |level: &str| {
        forge.put(&member).token(ROOT).form(&[("access_level", level)]).send().expect(200);
    };
    set_level("20");
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made), made);
    set_level("40");
    forge.put(&format!("/users/{master}/block")).token(ROOT).send().expect(200);
    report(forge, &fixture, &made, "running");
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made), made);
    forge.put(&format!("/users/{master}/unblock")).token(ROOT).send().expect(200);
    report(forge, &fixture, &made, "running");
    report(forge, &fixture, &made, "success");
    assert_eq!(request_now(forge, &made)["state"], "merged");
}

/// Sections 6.3 row 4, 15 and 21.5: with the switch only `success` and `skipped` can be merged, and nothing waits.
fn the_switch_of_the_project_allows_no_waiting(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let set = |value: &str| {
        let form = [("name", "Ship"), ("only_allow_merge_if_build_succeeds", value)];
        forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
    };
    set("true");
    let made = request_now(forge, &new_request(forge, &fixture, "feature/x", "t"));
    for state in ["pending", "running", "failed", "canceled"] {
        report(forge, &fixture, &made, state);
        for waits in [true, false] {
            let wishes = json!({"merge_when_build_succeeds": waits});
            merge(forge, ROOT, &made, &wishes).expect(405);
        }
        assert_eq!(request_now(forge, &made), made, "{state}");
    }
    report(forge, &fixture, &made, "success");
    assert_eq!(merge(forge, ROOT, &made, &json!({})).expect(200)["state"], "merged");
    for source in ["none", "left-out"] {
        add_branch(forge, &fixture, source);
        if source == "left-out" {
            skip_pipeline(forge, &fixture, source);
        }
        let made = new_request(forge, &fixture, source, "t");
        assert_eq!(merge(forge, ROOT, &made, &json!({})).expect(200)["state"], "merged");
    }
    set("false");
    add_branch(forge, &fixture, "broken");
    let made = new_request(forge, &fixture, "broken", "t");
    report(forge, &fixture, &made, "failed");
    assert_eq!(merge(forge, ROOT, &made, &json!({})).expect(200)["state"], "merged");
}
