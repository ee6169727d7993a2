//! The webhook of merge requests: merge_requests.md section 18.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    commit_file, merge, new_request, path_of_request, post_request, put_request,
};
use crate::api::groups::group_support::fields_of;
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::repositories::refs_support::{filled_fixture, new_branch};
use crate::api::support::id_of;

on_every_store!(
    a_request_is_delivered_with_its_row,
    each_step_is_delivered_once,
    pushes_are_delivered_with_the_old_tip,
    a_comment_is_delivered_with_its_request,
);

/// The actions and states of the payloads.
fn steps(payloads: &[Value]) -> Vec<String> {
    let step = |payload: &Value| {
        let row = &payload["object_attributes"];
        format!("{} {}", row["action"], row["state"]).replace('"', "")
    };
    payloads.iter().map(step).collect()
}

fn a_request_is_delivered_with_its_row(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let url = receiver.url("/");
    hook_of(forge, &fixture.cast.path, &url, &[("merge_requests_events", "true")]);
    clear_outbox(forge);
    let guest = id_of(&forge.get("/user").token(fixture.token("guest")).send().expect(200));
    let developer = id_of(&forge.get("/user").token(fixture.token("developer")).send().expect(200));
    let fields = json!({"title": "WIP: t", "source_branch": "feature/x", "target_branch": "master",
        "assignee_id": guest, "description": "d", "labels": "bug"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.header("x-gitlab-event"), Some("Merge Request Hook"));
    let payload = received.json();
    let members = ["object_kind", "user", "project", "object_attributes", "repository", "assignee"];
    assert_eq!(fields_of(&payload), members);
    assert_eq!(payload["object_kind"], "merge_request");
    assert_eq!(payload["user"]["username"], "developer");
    assert_eq!(payload["assignee"]["username"], "guest");
    assert_eq!(payload["project"]["path_with_namespace"], "ada/ship");
    let project = &payload["project"];
    let sha = made["sha"].as_str().expect("an id");
    let expected = json!({
        "id": id_of(&made), "target_branch": "master", "source_branch": "feature/x",
        "source_project_id": fixture.project(), "author_id": developer, "assignee_id": guest,
        "title": "WIP: t", "created_at": "2016-09-22 10:30:00 UTC",
        "updated_at": "2016-09-22 10:30:00 UTC", "milestone_id": null, "state": "opened",
        "merge_status": "unchecked", "target_project_id": fixture.project(), "iid": 1,
        "description": "d", "position": 0, "locked_at": null, "updated_by_id": null,
        "merge_error": null, "merge_params": {"force_remove_source_branch": null},
        "merge_when_build_succeeds": false, "merge_user_id": null, "merge_commit_sha": null,
        "deleted_at": null, "in_progress_merge_commit_sha": null, "lock_version": null,
        "source": project, "target": project,
        "last_commit": {
            "id": sha, "message": "Beside\n",
            "timestamp": payload["object_attributes"]["last_commit"]["timestamp"],
            "url": format!("http://forge.test/ada/ship/commit/{sha}"),
            "author": {"name": "Ada", "email": "ada@example.com"}
        },
        "work_in_progress": true, "url": made["web_url"], "action": "open"
    });
    assert_eq!(payload["object_attributes"], expected);
    assert_eq!(fields_of(&payload["object_attributes"]), fields_of(&expected));
}

fn each_step_is_delivered_once(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let url = receiver.url("/");
    hook_of(forge, &fixture.cast.path, &url, &[("merge_requests_events", "true")]);
    let made = new_request(forge, &fixture, "feature/x", "t");
    clear_outbox(forge);
    for (fields, expected) in [
        (json!({"state_event": "close", "title": "u"}), vec!["close closed", "update closed"]),
        (json!({"state_event": "close"}), vec![]),
        (json!({"state_event": "reopen"}), vec!["reopen reopened"]),
        (json!({"title": "u"}), vec!["update reopened"]),
        (json!({"labels": "bug"}), vec!["update reopened"]),
        (json!({"labels": "bug"}), vec![]),
        (json!({"state_event": "merge"}), vec![]),
        (json!({"assignee_id": 999_999}), vec![]),
    ] {
        put_request(forge, ROOT, &made, &fields).expect(200);
        assert_eq!(steps(&deliver_payloads(forge, &receiver)), expected, "{fields}");
    }
    merge(forge, ROOT, &made, &json!({})).expect(200);
    let payloads = deliver_payloads(forge, &receiver);
    assert_eq!(steps(&payloads), ["merge merged"]);
    assert!(payloads[0]["object_attributes"]["merge_commit_sha"].is_string());
    assert_eq!(payloads[0].get("assignee"), None);
    forge.delete(&path_of_request(&made)).token(fixture.token("owner")).send().expect(200);
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
}

fn pushes_are_delivered_with_the_old_tip(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let url = receiver.url("/");
    hook_of(forge, &fixture.cast.path, &url, &[("merge_requests_events", "true")]);
    let made = new_request(forge, &fixture, "feature/x", "t");
    clear_outbox(forge);
    let old = made["sha"].as_str().expect("an id").to_owned();
    let new = commit_file(forge, &fixture, "feature/x", "b", "b\n");
    let payload = deliver_payloads(forge, &receiver).swap_remove(0);
    let row = &payload["object_attributes"];
    assert_eq!((&row["action"], &row["oldrev"]), (&json!("update"), &json!(old)));
    assert_eq!(row["last_commit"]["id"], new);
    assert_eq!(fields_of(row).last(), Some(&"oldrev"));
    let branch = format!("{}/feature%2Fx", fixture.branches);
    forge.delete(&branch).token(ROOT).send().expect(200);
    let payload = deliver_payloads(forge, &receiver).swap_remove(0);
    let row = &payload["object_attributes"];
    assert_eq!((&row["oldrev"], &row["last_commit"]), (&json!(new), &Value::Null));
    new_branch(forge, &fixture, "feature/x", &new);
    let payload = deliver_payloads(forge, &receiver).swap_remove(0);
    assert_eq!(payload["object_attributes"].get("oldrev"), None);
    commit_file(forge, &fixture, "master", "unrelated", "x");
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
}

fn a_comment_is_delivered_with_its_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &[("note_events", "true")]);
    let made = new_request(forge, &fixture, "feature/x", "t");
    clear_outbox(forge);
    let notes = format!("{}/notes", path_of_request(&made));
    let form = [("body", "Hello")];
    let note = forge.post(&notes).token(fixture.token("reporter")).form(&form).send().expect(201);
    let payload = deliver_payloads(forge, &receiver).swap_remove(0);
    let members = [
        "object_kind",
        "user",
        "project_id",
        "project",
        "object_attributes",
        "repository",
        "merge_request",
    ];
    assert_eq!(fields_of(&payload), members);
    let row = &payload["object_attributes"];
    assert_eq!((&row["note"], &row["noteable_type"]), (&json!("Hello"), &json!("MergeRequest")));
    let url = format!("{}#note_{}", made["web_url"].as_str().expect("a URL"), id_of(&note));
    assert_eq!((&row["noteable_id"], &row["url"]), (&made["id"], &json!(url)));
    let request = &payload["merge_request"];
    assert_eq!((&request["iid"], &request["last_commit"]["id"]), (&json!(1), &made["sha"]));
    assert_eq!((request.get("url"), request.get("action")), (None, None));
    assert_eq!(fields_of(request).last(), Some(&"work_in_progress"));
}
