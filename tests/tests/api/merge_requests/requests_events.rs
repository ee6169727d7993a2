//! Events, deletion and counters of merge requests: merge_requests.md sections 17 and 19.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_automatic::report;
use super::requests_pushes::push_url;
use super::requests_support::{
    commit_file, merge, new_request, path_of_request, post_request, put_request, request_as,
    request_now,
};
use crate::api::groups::group_support::{
    add_member, error, forbidden, new_group, no_project, path_of_group, project_in,
};
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture, new_branch};
use crate::api::support::{MISSING, id_of, message};
use crate::api::tracker::tracker_support::{field_values, new_issue, new_label};

on_every_store!(
    each_step_is_an_event,
    comments_are_events_of_their_own,
    what_is_no_step_is_no_event,
    a_deleted_request_takes_its_parts_with_it,
    only_owners_delete,
    owners_of_a_group_delete,
    labels_count_the_open_requests_that_the_caller_may_read,
    a_deleted_label_leaves_the_request,
    a_deleted_user_takes_requests_along,
);

/// The events of the project, newest first.
#[track_caller]
fn events(forge: &Forge, fixture: &ProjectFixture) -> Vec<Value> {
    let path = format!("{}/events?per_page=100", fixture.cast.path);
    forge.get(&path).token(ROOT).send().expect(200).as_array().expect("a list").clone()
}

/// Section 17: the rows about the state.
fn each_step_is_an_event(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let close = json!({"state_event": "close"});
    put_request(forge, fixture.token("master"), &made, &close).expect(200);
    put_request(forge, ROOT, &made, &json!({"state_event": "reopen"})).expect(200);
    merge(forge, fixture.token("owner"), &made, &json!({})).expect(200);
    let found = events(forge, &fixture);
    let found: Vec<_> =
        found.iter().filter(|event| event["target_type"] == "MergeRequest").collect();
    let expected =
        [("accepted", "ada"), ("opened", "root"), ("closed", "master"), ("opened", "developer")];
    assert_eq!(found.len(), expected.len());
    for (event, (action, author)) in found.into_iter().zip(expected) {
        assert_eq!(
            (&event["action_name"], &event["author_username"]),
            (&json!(action), &json!(author))
        );
        assert_eq!((&event["target_id"], &event["target_title"]), (&made["id"], &json!("t")));
        assert_eq!((&event["data"], &event["title"]), (&Value::Null, &Value::Null));
        assert_eq!(event["project_id"], fixture.project());
        assert_eq!(event.get("note"), None);
    }
}

/// Section 17: the row about comments, by both calls.
fn comments_are_events_of_their_own(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let path = path_of_request(&made);
    let token = fixture.token("reporter");
    let form = [("body", "Hello")];
    let note = forge.post(&format!("{path}/notes")).token(token).form(&form).send().expect(201);
    let event = &events(forge, &fixture)[0];
    assert_eq!(
        (&event["action_name"], &event["target_type"], &event["target_id"]),
        (&json!("commented on"), &json!("Note"), &note["id"])
    );
    assert_eq!(
        (&event["author_username"], &event["target_title"]),
        (&json!("reporter"), &json!("t"))
    );
    let shown = &event["note"];
    assert_eq!((&shown["id"], &shown["body"]), (&note["id"], &json!("Hello")));
    assert_eq!(
        (&shown["noteable_type"], &shown["noteable_id"]),
        (&json!("MergeRequest"), &made["id"])
    );
    let form = [("note", "Again")];
    forge.post(&format!("{path}/comments")).token(token).form(&form).send().expect(201);
    let event = &events(forge, &fixture)[0];
    assert_eq!(
        (&event["action_name"], &event["note"]["body"]),
        (&json!("commented on"), &json!("Again"))
    );
}

/// Section 17, "No event".
fn what_is_no_step_is_no_event(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    report(forge, &fixture, &made, "running");
    let before = events(forge, &fixture);
    for fields in [
        json!({"title": "WIP: u", "description": "d", "labels": "bug"}),
        json!({"title": "u", "assignee_id": 1}),
        json!({"state_event": "merge"}),
        json!({"state_event": "reopen"}),
    ] {
        put_request(forge, ROOT, &made, &fields).expect(200);
    }
    merge(forge, ROOT, &made, &json!({"merge_when_build_succeeds": true})).expect(200);
    let cancel = format!("{}/cancel_merge_when_build_succeeds", path_of_request(&made));
    forge.post(&cancel).token(ROOT).send().expect(201);
    let notes = format!("{}/notes", path_of_request(&made));
    forge.post(&notes).token(ROOT).form(&[("body", "/wip")]).send().expect(201);
    forge.post(&notes).token(ROOT).form(&[("body", ":tada:")]).send().expect(201);
    // The title of the target in older events is the current one.
    let now = events(forge, &fixture);
    let actions = |events: &[Value]| -> Vec<Value> {
        events.iter().map(|event| event["action_name"].clone()).collect()
    };
    assert_eq!(actions(&now), actions(&before));
    // A push to the source branch is an event of the push alone.
    commit_file(forge, &fixture, "feature/x", "b", "b\n");
    let now = events(forge, &fixture);
    assert_eq!(now.len(), before.len() + 1);
    assert_eq!(
        (&now[0]["action_name"], &now[0]["target_type"]),
        (&json!("pushed to"), &Value::Null)
    );
}

/// DELETE /projects/:id/merge_requests/:merge_request_id: section 19.
fn a_deleted_request_takes_its_parts_with_it(forge: &Forge) {
    let fixture = filled_fixture(forge);
    new_branch(forge, &fixture, "other", "feature/x");
    let before = events(forge, &fixture);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let path = path_of_request(&made);
    let form = [("body", "Hello")];
    let note = forge.post(&format!("{path}/notes")).token(ROOT).form(&form).send().expect(201);
    put_request(forge, ROOT, &made, &json!({"labels": "bug", "state_event": "close"})).expect(200);
    let owner = fixture.token("owner");
    let shown = request_as(forge, owner, &made);
    let answer = forge.delete(&path).token(owner).send().expect(200);
    assert_eq!(answer, shown, "the object of section 2");
    assert_eq!(events(forge, &fixture), before, "its events and those of its notes are gone");
    let gone = message("404 Not found");
    let parts = ["", "/commits", "/changes", "/versions", "/comments", "/notes", "/closes_issues"];
    for part in parts {
        let answer = forge.get(&format!("{path}{part}")).token(ROOT).send();
        assert_eq!(answer.expect(404), gone, "{part}");
    }
    forge.get(&format!("{path}/notes/{}", id_of(&note))).token(ROOT).send().expect(404);
    for again in [owner, ROOT] {
        assert_eq!(forge.delete(&path).token(again).send().expect(403), forbidden());
    }
    // The hidden reference stays, and the iid is not given again.
    let refs = fixture.tree.git(&["ls-remote", &push_url(forge, &fixture)]);
    assert!(refs.contains("refs/merge-requests/1/head"), "{refs}");
    let next = new_request(forge, &fixture, "feature/x", "t");
    assert_eq!(next["iid"], 2);
    let labels = forge.get(&format!("{}/labels", fixture.cast.path)).token(ROOT).send();
    assert_eq!(labels.expect(200)[0]["open_merge_requests_count"], 0);
}

/// DELETE /projects/:id/merge_requests/:merge_request_id: sections 1.2, 1.3 and 19.
fn only_owners_delete(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let path = path_of_request(&made);
    for who in ["guest", "reporter", "developer", "master"] {
        let refused = forge.delete(&path).token(fixture.token(who)).send();
        assert_eq!(refused.expect(403), forbidden(), "{who}");
    }
    let refused = forge.delete(&path).token(fixture.token("stranger")).send();
    assert_eq!(refused.expect(404), no_project());
    assert_eq!(forge.delete(&path).send().expect(401), message("401 Unauthorized"));
    let base = format!("{}/merge_requests", fixture.cast.path);
    let refused = forge.delete(&format!("{base}/x")).token(fixture.token("stranger")).send();
    assert_eq!(refused.expect(400), error("merge_request_id is invalid"));
    let refused = forge.delete(&format!("{base}/{MISSING}")).token(fixture.token("owner")).send();
    assert_eq!(refused.expect(403), forbidden());
    request_now(forge, &made);
    forge.delete(&path).token(ROOT).send().expect(200);
    // Also in an archived project.
    let made = new_request(forge, &fixture, "feature/x", "t");
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send().expect(201);
    forge.delete(&path_of_request(&made)).token(fixture.token("owner")).send().expect(200);
}

/// DELETE /projects/:id/merge_requests/:merge_request_id: "group's owner".
fn owners_of_a_group_delete(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let (owner, of_owner) = forge.user("eve");
    let (master, of_master) = forge.user("mallory");
    add_member(forge, &path_of_group(&group), owner, 50, &[]);
    add_member(forge, &path_of_group(&group), master, 40, &[]);
    let project = project_in(forge, &group, "ship", &[]);
    let path = format!("/projects/{}/merge_requests", id_of(&project));
    let fields = json!({"title": "t", "source_branch": "a", "target_branch": "b"});
    let made = forge.post(&path).token(&of_master).json(&fields).send().expect(201);
    let refused = forge.delete(&path_of_request(&made)).token(&of_master).send();
    assert_eq!(refused.expect(403), forbidden());
    forge.delete(&path_of_request(&made)).token(&of_owner).send().expect(200);
}

/// Section 19: `open_merge_requests_count` of labels, and the counters of issues.
fn labels_count_the_open_requests_that_the_caller_may_read(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let guest = id_of(&forge.get("/user").token(fixture.token("guest")).send().expect(200));
    let made: Vec<Value> = ["one", "two", "three", "four"]
        .into_iter()
        .map(|source| {
            new_branch(forge, &fixture, source, "feature/x");
            commit_file(forge, &fixture, source, source, "x\n");
            let assignee = if source == "one" { guest } else { 0 };
            let fields = json!({"title": "t", "source_branch": source, "labels": "bug",
                "target_branch": "master", "assignee_id": assignee});
            post_request(forge, &fixture, "developer", &fields).expect(201)
        })
        .collect();
    let path = fixture.cast.path.as_str();
    new_issue(forge, ROOT, path, "an issue", &[("labels", "bug")]);
    let counts = |who: &str| {
        let labels = forge.get(&format!("{path}/labels")).token(fixture.token(who)).send();
        let labels = labels.expect(200);
        let count = |field: &str| labels[0][field].as_u64().expect("a number");
        (count("open_merge_requests_count"), count("open_issues_count"))
    };
    assert_eq!((counts("reporter"), counts("guest")), ((4, 1), (1, 1)));
    put_request(forge, ROOT, &made[1], &json!({"state_event": "close"})).expect(200);
    merge(forge, ROOT, &made[2], &json!({})).expect(200);
    assert_eq!((counts("reporter"), counts("guest")), ((2, 1), (1, 1)));
    put_request(forge, ROOT, &made[1], &json!({"state_event": "reopen"})).expect(200);
    assert_eq!((counts("reporter"), counts("guest")), ((3, 1), (1, 1)));
    let project = forge.get(path).token(fixture.token("reporter")).send().expect(200);
    assert_eq!(project["open_issues_count"], 1);
}

/// Section 19, last sentence: labels. No call deletes milestones.
fn a_deleted_label_leaves_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = fixture.cast.path.as_str();
    new_label(forge, ROOT, path, "bug");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "labels": "bug,other"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    assert_eq!(made["labels"], json!(["bug", "other"]));
    forge.delete(&format!("{path}/labels?name=bug")).token(ROOT).send().expect(200);
    assert_eq!(request_now(forge, &made)["labels"], json!(["other"]));
}

/// Section 19, last sentence: requests authored by or assigned to a deleted user go.
fn a_deleted_user_takes_requests_along(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let user = |who: &str| id_of(&forge.get("/user").token(fixture.token(who)).send().expect(200));
    let new = |who: &str, target: &str, assignee: i64| {
        let fields = json!({"title": target, "source_branch": "feature/x",
            "target_branch": target, "assignee_id": assignee});
        post_request(forge, &fixture, who, &fields).expect(201)
    };
    new("developer", "authored", 0);
    new("owner", "assigned", user("guest"));
    let noted = new("owner", "noted", 0);
    let notes = format!("{}/notes", path_of_request(&noted));
    for who in ["developer", "owner"] {
        forge.post(&notes).token(fixture.token(who)).form(&[("body", who)]).send().expect(201);
    }
    let titles = || {
        let path = format!("{}/merge_requests?sort=asc", fixture.cast.path);
        let list = forge.get(&path).token(ROOT).send().expect(200);
        field_values(&list, "title").into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(titles(), ["authored", "assigned", "noted"]);
    forge.delete(&format!("/users/{}", user("developer"))).token(ROOT).send().expect(200);
    assert_eq!(titles(), ["assigned", "noted"]);
    assert_eq!(request_now(forge, &noted)["user_notes_count"], 1);
    forge.delete(&format!("/users/{}", user("guest"))).token(ROOT).send().expect(200);
    assert_eq!(titles(), ["noted"]);
}
