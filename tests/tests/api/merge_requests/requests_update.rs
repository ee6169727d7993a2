//! Changing merge requests: merge_requests.md sections 5, 11.3 and 15.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    actions, new_request, post_request, put_request, request_as, request_notes,
};
use crate::api::groups::group_support::{error, forbidden};
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{field_error, id_of};

on_every_store!(
    every_field_is_changed_and_noted,
    a_request_is_closed_and_reopened,
    twins_cannot_be_opened,
    wrong_changes_store_nothing,
    who_may_change_a_request,
    work_in_progress_is_noted,
    ticked_tasks_are_noted,
);

/// PUT /projects/:id/merge_requests/:merge_request_id
fn every_field_is_changed_and_noted(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "Old title");
    let goal = format!("{}/milestones", fixture.cast.path);
    let goal = forge.post(&goal).token(ROOT).form(&[("title", "1.0")]).send().expect(201);
    let user = id_of(&forge.get("/user").token(fixture.token("guest")).send().expect(200));
    let events = actions(forge, &fixture);
    forge.clock.advance(TimeDelta::minutes(1));
    let fields = json!({
        "title": " New title ", "description": "", "target_branch": "stable", "labels": "bug",
        "assignee_id": user, "milestone_id": id_of(&goal), "source_branch": "other",
    });
    let changed = put_request(forge, fixture.token("developer"), &made, &fields).expect(200);
    assert_eq!((&changed["title"], &changed["description"]), (&json!("New title"), &json!("")));
    assert_eq!(
        (&changed["target_branch"], &changed["source_branch"]),
        (&json!("stable"), &json!("feature/x"))
    );
    assert_eq!((&changed["labels"], &changed["milestone"]), (&json!(["bug"]), &goal));
    assert_eq!(changed["assignee"]["username"], "guest");
    assert_eq!(changed["updated_at"], "2016-09-22T10:31:00.000Z");
    assert_eq!(changed, request_as(forge, fixture.token("developer"), &made));
    let labels = forge.get(&format!("{}/labels", fixture.cast.path)).token(ROOT).send().expect(200);
    let bug = id_of(&labels[0]);
    let mut expected = vec![
        "changed title from **{-Old-} title** to **{+New+} title**".to_owned(),
        format!("added ~{bug} label"),
        "changed target branch from `master` to `stable`".to_owned(),
        "changed milestone to %1".to_owned(),
        "assigned to @guest".to_owned(),
    ];
    assert_eq!(request_notes(forge, &made), expected);
    let cleared = json!({"labels": "", "assignee_id": 0, "milestone_id": ""});
    let changed = put_request(forge, ROOT, &made, &cleared).expect(200);
    assert_eq!((&changed["labels"], &changed["assignee"]), (&json!([]), &Value::Null));
    assert_eq!(changed["milestone"], Value::Null);
    expected.push(format!("removed ~{bug} label"));
    expected.push("removed milestone".to_owned());
    expected.push("removed assignee".to_owned());
    assert_eq!(request_notes(forge, &made), expected);
    assert_eq!(changed["user_notes_count"], 0);
    assert_eq!(actions(forge, &fixture), events, "edits are no events");
}

/// PUT /projects/:id/merge_requests/:merge_request_id
fn a_request_is_closed_and_reopened(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    let event = |word: &str| json!({"state_event": word});
    let put = |fields: &Value| put_request(forge, fixture.token("developer"), &made, fields);
    for (word, state) in [
        ("reopen", "opened"),
        ("merge", "opened"),
        ("close", "closed"),
        ("close", "closed"),
        ("merge", "closed"),
        ("reopen", "reopened"),
        ("reopen", "reopened"),
    ] {
        assert_eq!(put(&event(word)).expect(200)["state"], state, "{word}");
    }
    let both = put(&json!({"state_event": "close", "title": "b request"})).expect(200);
    assert_eq!((&both["state"], &both["title"]), (&json!("closed"), &json!("b request")));
    let expected = [
        "closed",
        "reopened",
        "closed",
        "changed title from **{-a-} request** to **{+b+} request**",
    ];
    assert_eq!(request_notes(forge, &made), expected);
    assert_eq!(actions(forge, &fixture)[..4], ["closed", "opened", "closed", "opened"]);
}

/// PUT /projects/:id/merge_requests/:merge_request_id
fn twins_cannot_be_opened(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let first = new_request(forge, &fixture, "feature/x", "first");
    put_request(forge, ROOT, &first, &json!({"state_event": "close"})).expect(200);
    new_request(forge, &fixture, "feature/x", "second");
    let reopened = put_request(forge, ROOT, &first, &json!({"state_event": "reopen"}));
    assert_eq!(reopened.expect(200)["state"], "closed");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "stable"});
    let third = post_request(forge, &fixture, "developer", &fields).expect(201);
    let twin = put_request(forge, ROOT, &third, &json!({"target_branch": "master", "title": ""}));
    let text = r#"Cannot Create: This merge request already exists: ["second"]"#;
    assert_eq!(twin.expect(409), json!({"message": [text]}));
    let same = put_request(forge, ROOT, &third, &json!({"target_branch": "feature/x"}));
    let text = "You can not use same project/branch for source and target";
    assert_eq!(same.expect(422), json!({"error": [text]}));
    assert_eq!(request_as(forge, fixture.token("developer"), &third), third);
}

/// PUT /projects/:id/merge_requests/:merge_request_id
fn wrong_changes_store_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    for (fields, expected) in [
        (json!({"title": " ", "state_event": "close"}), field_error("title", "can't be blank")),
        (json!({"target_branch": " "}), field_error("target_branch", "can't be blank")),
        (json!({"state_event": "burn"}), error("state_event does not have a valid value")),
        (json!({"assignee_id": "x"}), error("assignee_id is invalid")),
    ] {
        assert_eq!(put_request(forge, ROOT, &made, &fields).expect(400), expected, "{fields}");
    }
    assert_eq!(request_as(forge, fixture.token("developer"), &made), made);
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
}

/// PUT /projects/:id/merge_requests/:merge_request_id: sections 1.3 and 15.
fn who_may_change_a_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    let fields = json!({"title": "changed"});
    for who in ["guest", "reporter"] {
        let answer = put_request(forge, fixture.token(who), &made, &fields);
        assert_eq!(answer.expect(403), forbidden(), "{who}");
    }
    for who in ["developer", "master", "owner", "root"] {
        put_request(forge, fixture.token(who), &made, &fields).expect(200);
    }
    let guest = id_of(&forge.get("/user").token(fixture.token("guest")).send().expect(200));
    put_request(forge, ROOT, &made, &json!({"assignee_id": guest})).expect(200);
    put_request(forge, fixture.token("guest"), &made, &fields).expect(200);
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send();
    for who in ["guest", "developer", "owner", "root"] {
        let answer = put_request(forge, fixture.token(who), &made, &fields);
        assert_eq!(answer.expect(403), forbidden(), "{who}");
    }
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 11.3.
fn work_in_progress_is_noted(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "x");
    for (title, wip) in [("WIP: x", true), ("[wip] x", true), ("WIP y", true), ("z", false)] {
        let changed = put_request(forge, ROOT, &made, &json!({"title": title})).expect(200);
        assert_eq!(changed["work_in_progress"], wip, "{title}");
    }
    let expected = [
        "marked as a **Work In Progress**",
        "changed title from **{-[wip] x-}** to **{+WIP y+}**",
        "unmarked as a Work In Progress",
        "changed title from **{-WIP y-}** to **{+z+}**",
    ];
    assert_eq!(request_notes(forge, &made), expected);
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 11.3.
fn ticked_tasks_are_noted(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "x");
    for text in ["- [ ] paint", "- [x] paint", "- [ ] paint", "nothing"] {
        put_request(forge, ROOT, &made, &json!({"description": text})).expect(200);
    }
    let expected =
        ["marked the task **paint** as completed", "marked the task **paint** as incomplete"];
    assert_eq!(request_notes(forge, &made), expected);
}
