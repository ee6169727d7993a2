//! What changes of merge requests cause, and what they leave alone: merge_requests.md sections 2.3, 5, 8.3 and 11.3.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, on_every_store};
use serde_json::{Value, json};

use super::requests_fixtures::{set_level, user_id, write_note};
use super::requests_support::{
    actions, commit_file, merge, new_request, path_of_request, post_request, put_request,
    request_notes, request_now,
};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::repositories::commits_support::post_commit;
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, filled_fixture, new_branch,
};
use crate::api::support::{field_error, id_of, message};
use crate::api::tracker::tracker_support::{new_issue, new_label, note_bodies};

on_every_store!(
    the_first_error_of_a_change_answers,
    a_closed_request_may_become_a_twin,
    labels_of_the_same_set_change_nothing,
    several_labels_are_one_note,
    a_field_with_its_old_value_changes_nothing,
    reopening_makes_a_version_and_forgets_the_check,
    another_target_branch_forgets_the_check,
    authors_below_developer_change_texts_and_states,
    only_changed_texts_mention,
    system_notes_are_neither_events_nor_deliveries,
);

/// The ids of the versions of a request, newest first.
#[track_caller]
fn versions(forge: &Forge, request: &Value) -> Vec<i64> {
    let path = format!("{}/versions", path_of_request(request));
    let list = forge.get(&path).token(ROOT).send().expect(200);
    list.as_array().expect("a list").iter().map(id_of).collect()
}

/// Makes `feature/x` conflict with `master`, and lets a merge find that.
#[track_caller]
fn find_conflict(forge: &Forge, fixture: &ProjectFixture, request: &Value) {
    let actions = json!([{"action": "update", "file_path": "README", "content": "other\n"}]);
    post_commit(forge, fixture, "developer", "feature/x", actions).expect(201);
    do_tasks(forge);
    merge(forge, ROOT, request, &json!({})).expect(406);
    assert_eq!(request_now(forge, request)["merge_status"], "cannot_be_merged");
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 4, "the first matching row answers".
fn the_first_error_of_a_change_answers(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let long = "x".repeat(256);
    for (fields, expected) in [
        (json!({"title": " ", "target_branch": " "}), field_error("title", "can't be blank")),
        (
            json!({"title": long, "target_branch": ""}),
            field_error("title", "is too long (maximum is 255 characters)"),
        ),
    ] {
        assert_eq!(put_request(forge, ROOT, &made, &fields).expect(400), expected, "{fields}");
    }
    let same = json!({"title": " ", "target_branch": "feature/x"});
    let text = "You can not use same project/branch for source and target";
    assert_eq!(put_request(forge, ROOT, &made, &same).expect(422), json!({"error": [text]}));
}

/// PUT /projects/:id/merge_requests/:merge_request_id: only open requests are twins, and the state is changed first.
fn a_closed_request_may_become_a_twin(forge: &Forge) {
    let fixture = filled_fixture(forge);
    new_request(forge, &fixture, "feature/x", "first");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "stable"});
    let second = post_request(forge, &fixture, "developer", &fields).expect(201);
    let moved = json!({"target_branch": "master"});
    let text = r#"Cannot Create: This merge request already exists: ["first"]"#;
    let twin = put_request(forge, ROOT, &second, &moved);
    assert_eq!(twin.expect(409), json!({"message": [text]}));
    let both = json!({"state_event": "close", "target_branch": "master"});
    let closed = put_request(forge, ROOT, &second, &both).expect(200);
    assert_eq!((&closed["state"], &closed["target_branch"]), (&json!("closed"), &json!("master")));
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 21, row 7.
fn labels_of_the_same_set_change_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let made = new_request(forge, &fixture, "feature/x", "t");
    let before = put_request(forge, ROOT, &made, &json!({"labels": "a,b"})).expect(200);
    let url = receiver.url("/");
    hook_of(forge, &fixture.cast.path, &url, &[("merge_requests_events", "true")]);
    clear_outbox(forge);
    forge.clock.advance(TimeDelta::minutes(1));
    let after = put_request(forge, ROOT, &made, &json!({"labels": " b ,a,a"})).expect(200);
    assert_eq!(after, before);
    assert_eq!(request_notes(forge, &made).len(), 1);
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 11.3, row "labels".
fn several_labels_are_one_note(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = &fixture.cast.path;
    let label = |name: &str| id_of(&new_label(forge, ROOT, path, name));
    let (a, b, c) = (label("a"), label("b"), label("c"));
    let made = new_request(forge, &fixture, "feature/x", "t");
    put_request(forge, ROOT, &made, &json!({"labels": "c"})).expect(200);
    put_request(forge, ROOT, &made, &json!({"labels": "a,b"})).expect(200);
    put_request(forge, ROOT, &made, &json!({"labels": ""})).expect(200);
    let expected = [
        format!("added ~{c} label"),
        format!("added ~{a} ~{b} and removed ~{c} labels"),
        format!("removed ~{a} ~{b} labels"),
    ];
    assert_eq!(request_notes(forge, &made), expected);
    // An unknown title is made in the target project.
    put_request(forge, ROOT, &made, &json!({"labels": "d"})).expect(200);
    let labels = forge.get(&format!("{path}/labels")).token(ROOT).send().expect(200);
    let d = labels.as_array().expect("a list").iter().find(|label| label["name"] == "d");
    assert_eq!(d.expect("the label was made")["color"], "#428BCA");
}

/// PUT /projects/:id/merge_requests/:merge_request_id: no note and no new time without a change.
fn a_field_with_its_old_value_changes_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    forge.clock.advance(TimeDelta::minutes(1));
    let fields = json!({"title": " t ", "target_branch": "master"});
    let same = put_request(forge, fixture.token("developer"), &made, &fields).expect(200);
    assert_eq!(same, made);
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
    assert_eq!(versions(forge, &made).len(), 1);
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 5, effects of `reopen`.
fn reopening_makes_a_version_and_forgets_the_check(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    find_conflict(forge, &fixture, &made);
    let event = |word: &str| put_request(forge, ROOT, &made, &json!({"state_event": word}));
    assert_eq!(event("close").expect(200)["merge_status"], "cannot_be_merged");
    let before = versions(forge, &made).len();
    let reopened = event("reopen").expect(200);
    assert_eq!(reopened["merge_status"], "unchecked");
    assert_eq!(versions(forge, &made).len(), before + 1);
    // It is not asked whether the branches still exist.
    event("close").expect(200);
    let branch = format!("{}/feature%2Fx", fixture.branches);
    forge.delete(&branch).token(ROOT).send().expect(200);
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["sha"], reopened["sha"], "closed ones are not touched");
    let reopened = event("reopen").expect(200);
    assert_eq!((&reopened["state"], &reopened["sha"]), (&json!("reopened"), &json!(null)));
    // A merged request stays merged.
    new_branch(forge, &fixture, "other", "master");
    commit_file(forge, &fixture, "other", "new", "new");
    let other = new_request(forge, &fixture, "other", "other");
    merge(forge, ROOT, &other, &json!({})).expect(200);
    let same = put_request(forge, ROOT, &other, &json!({"state_event": "reopen"})).expect(200);
    assert_eq!(same, request_now(forge, &other));
    assert_eq!((&same["state"], versions(forge, &other).len()), (&json!("merged"), 1));
}

/// PUT /projects/:id/merge_requests/:merge_request_id: sections 2.3 and 8.3.
fn another_target_branch_forgets_the_check(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    find_conflict(forge, &fixture, &made);
    let target = |branch: &str| {
        let changed = put_request(forge, ROOT, &made, &json!({"target_branch": branch}));
        changed.expect(200)["merge_status"].clone()
    };
    let before = versions(forge, &made).len();
    assert_eq!(target("stable"), "unchecked");
    assert_eq!(versions(forge, &made).len(), before + 1);
    target("master");
    merge(forge, ROOT, &made, &json!({})).expect(406);
    put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    let before = versions(forge, &made).len();
    assert_eq!(target("stable"), "unchecked");
    assert_eq!(versions(forge, &made).len(), before, "no version while closed");
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 5, last rule, and section 1.3.
fn authors_below_developer_change_texts_and_states(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let made = new_request(forge, &fixture, "feature/x", "t");
    set_level(forge, &fixture, "developer", "20");
    let url = receiver.url("/");
    hook_of(forge, &fixture.cast.path, &url, &[("merge_requests_events", "true")]);
    clear_outbox(forge);
    let author = fixture.token("developer");
    forge.clock.advance(TimeDelta::minutes(1));
    let fields = json!({"labels": "a", "milestone_id": 1,
        "assignee_id": user_id(forge, &fixture, "guest")});
    assert_eq!(put_request(forge, author, &made, &fields).expect(200), made);
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
    for (word, state) in [("close", "closed"), ("reopen", "reopened")] {
        let changed = put_request(forge, author, &made, &json!({"state_event": word}));
        assert_eq!(changed.expect(200)["state"], state);
    }
    let fields = json!({"description": "d", "target_branch": "stable"});
    put_request(forge, author, &made, &fields).expect(200);
    assert_eq!(deliver_payloads(forge, &receiver).len(), 3);
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 14, "in title or description (new or changed)".
fn only_changed_texts_mention(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "description": "see #1"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let same = json!({"title": "t", "description": "see #1"});
    put_request(forge, ROOT, &made, &same).expect(200);
    assert_eq!(note_bodies(forge, ROOT, &issue), Vec::<String>::new());
    put_request(forge, ROOT, &made, &json!({"title": "about #1"})).expect(200);
    assert_eq!(note_bodies(forge, ROOT, &issue), ["mentioned in merge request !1"]);
}

/// Section 11.3: "author: who acted. Never an event, never a delivery, not counted."
fn system_notes_are_neither_events_nor_deliveries(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let made = new_request(forge, &fixture, "feature/x", "t");
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &[("note_events", "true")]);
    clear_outbox(forge);
    let events = actions(forge, &fixture);
    put_request(forge, fixture.token("master"), &made, &json!({"title": "u"})).expect(200);
    let notes = forge.get(&format!("{}/notes", path_of_request(&made))).token(ROOT).send();
    let note = &notes.expect(200)[0];
    assert_eq!((&note["system"], &note["author"]["username"]), (&json!(true), &json!("master")));
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
    assert_eq!(actions(forge, &fixture), events);
    assert_eq!(request_now(forge, &made)["user_notes_count"], 0);
    let missing = put_request(
        forge,
        ROOT,
        &json!({"id": 99, "project_id": made["project_id"]}),
        &json!({"title": "x"}),
    );
    assert_eq!(missing.expect(404), message("404 Not found"));
    write_note(forge, ROOT, &made, "a note").expect(201);
    assert_eq!(deliver_payloads(forge, &receiver).len(), 1);
}
