//! The webhook of merge requests: merge_requests.md section 18.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, on_every_store};
use serde_json::{Value, json};

use super::requests_automatic::report;
use super::requests_fork_support::{commit_to, forked, post_from};
use super::requests_pushes::push_url;
use super::requests_support::{
    commit_file, merge, new_request, path_of_request, post_request, put_request,
};
use crate::api::groups::group_support::{fields_of, path_of_project};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::repositories::refs_support::{do_tasks, filled_fixture, new_branch};
use crate::api::support::id_of;

on_every_store!(
    a_request_is_delivered_with_its_row,
    each_step_is_delivered_once,
    pushes_are_delivered_with_the_old_tip,
    a_comment_is_delivered_with_its_request,
    a_request_that_a_push_merges_is_delivered,
    an_automatic_merge_is_delivered_when_it_is_done,
    commands_in_notes_are_delivered,
    what_is_no_step_is_not_delivered,
    only_hooks_of_the_target_hear_of_a_fork,
    hooks_without_the_switch_hear_nothing,
    a_request_without_head_has_no_last_commit,
);

/// A receiver of the hook of a project with these switches. Earlier events are not delivered.
fn a_receiver(forge: &Forge, project: &str, switches: &[(&str, &str)]) -> Receiver {
    let receiver = Receiver::new();
    hook_of(forge, project, &receiver.url("/"), switches);
    clear_outbox(forge);
    receiver
}

const REQUESTS: &[(&str, &str)] = &[("merge_requests_events", "true")];

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

/// Sections 9.3 and 18: `merge`, by the pusher.
fn a_request_that_a_push_merges_is_delivered(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let receiver = a_receiver(forge, &fixture.cast.path, REQUESTS);
    let tree = &fixture.tree;
    tree.git(&["merge", "-q", "--no-edit", "-m", "By hand", "feature/x"]);
    tree.git(&["push", "-q", &push_url(forge, &fixture), "master"]);
    do_tasks(forge);
    let payloads = deliver_payloads(forge, &receiver);
    assert_eq!(steps(&payloads), ["merge merged"]);
    assert_eq!(payloads[0]["user"]["username"], "master");
    let row = &payloads[0]["object_attributes"];
    assert_eq!((&row["id"], &row["merge_commit_sha"]), (&made["id"], &Value::Null));
    assert_eq!((&row["last_commit"]["id"], row.get("oldrev")), (&made["sha"], None));
}

/// Sections 7 and 18: setting and cancelling is no step; the merge is delivered as one by the user who set it.
fn an_automatic_merge_is_delivered_when_it_is_done(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    report(forge, &fixture, &made, "running");
    let receiver = a_receiver(forge, &fixture.cast.path, REQUESTS);
    let wishes = json!({"merge_when_build_succeeds": true, "should_remove_source_branch": true,
        "merge_commit_message": "M"});
    let cancel = format!("{}/cancel_merge_when_build_succeeds", path_of_request(&made));
    merge(forge, ROOT, &made, &wishes).expect(200);
    forge.post(&cancel).token(ROOT).send().expect(201);
    merge(forge, fixture.token("master"), &made, &wishes).expect(200);
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
    // The row shows the wish while it waits.
    put_request(forge, ROOT, &made, &json!({"title": "u"})).expect(200);
    report(forge, &fixture, &made, "success");
    let payloads = deliver_payloads(forge, &receiver);
    assert_eq!(steps(&payloads), ["update opened", "merge merged"]);
    let master = id_of(&forge.get("/user").token(fixture.token("master")).send().expect(200));
    for payload in &payloads {
        let row = &payload["object_attributes"];
        assert_eq!(
            (&row["merge_when_build_succeeds"], &row["merge_user_id"]),
            (&json!(true), &json!(master))
        );
        let params = json!({"force_remove_source_branch": null, "commit_message": "M",
            "should_remove_source_branch": true});
        assert_eq!(row["merge_params"], params);
    }
    assert_eq!(payloads[1]["user"]["username"], "master");
}

/// Section 12, "What is carried out has the effects of section 5, deliveries included".
fn commands_in_notes_are_delivered(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let both = [("merge_requests_events", "true"), ("note_events", "true")];
    let receiver = a_receiver(forge, &fixture.cast.path, &both);
    let notes = format!("{}/notes", path_of_request(&made));
    let labels = format!("{}/labels", fixture.cast.path);
    let form = [("name", "a"), ("color", "#FFAABB")];
    forge.post(&labels).token(ROOT).form(&form).send().expect(200);
    for (body, expected) in [
        ("Hello", vec!["note"]),
        ("Hello\n/label ~a", vec!["note", "update opened"]),
        ("/title u", vec!["update opened"]),
        ("/close", vec!["close closed"]),
        ("/reopen", vec!["reopen reopened"]),
        ("/wip", vec!["update reopened"]),
        ("/subscribe", vec![]),
        ("/due tomorrow", vec![]),
    ] {
        forge.post(&notes).token(ROOT).form(&[("body", body)]).send().expect(201);
        let mut told: Vec<String> = deliver_payloads(forge, &receiver)
            .iter()
            .map(|payload| match payload["object_kind"].as_str() {
                Some("note") => "note".to_owned(),
                _ => steps(std::slice::from_ref(payload)).swap_remove(0),
            })
            .collect();
        told.sort();
        assert_eq!(told, expected, "{body}");
    }
}

/// Section 18, "None", and section 5: labels of an author who may not set them.
fn what_is_no_step_is_not_delivered(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "WIP: t");
    let receiver = a_receiver(forge, &fixture.cast.path, REQUESTS);
    let developer = fixture.token("developer");
    let member = forge.get("/user").token(developer).send().expect(200);
    let member = format!("{}/members/{}", fixture.cast.path, id_of(&member));
    forge.put(&member).token(ROOT).form(&[("access_level", "20")]).send().expect(200);
    put_request(forge, developer, &made, &json!({"labels": "bug"})).expect(200);
    put_request(forge, developer, &made, &json!({"milestone_id": 0, "assignee_id": 1})).expect(200);
    merge(forge, ROOT, &made, &json!({})).expect(405);
    let subscription = format!("{}/subscription", path_of_request(&made));
    forge.post(&subscription).token(ROOT).send().expect(201);
    forge.delete(&subscription).token(ROOT).send().expect(200);
    let notes = format!("{}/notes", path_of_request(&made));
    forge.post(&notes).token(ROOT).form(&[("body", "Hello")]).send().expect(201);
    let comments = format!("{}/award_emoji", path_of_request(&made));
    forge.post(&comments).token(ROOT).form(&[("name", "thumbsup")]).send();
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
}

/// Section 18: hooks of the target project, with both projects in the row.
fn only_hooks_of_the_target_hear_of_a_fork(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let (of_target, of_fork) = (
        a_receiver(forge, &fixture.cast.path, REQUESTS),
        a_receiver(forge, &path_of_project(&fork), REQUESTS),
    );
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let old = made["sha"].clone();
    let new = commit_to(forge, stranger, &fork, "topic", "more");
    do_tasks(forge);
    merge(forge, ROOT, &made, &json!({})).expect(200);
    let payloads = deliver_payloads(forge, &of_target);
    assert_eq!(of_fork.take().len(), 0);
    assert_eq!(steps(&payloads), ["open opened", "update opened", "merge merged"]);
    for payload in &payloads {
        assert_eq!(payload["project"]["path_with_namespace"], "ada/ship");
        let row = &payload["object_attributes"];
        assert_eq!(
            (&row["source"]["path_with_namespace"], &row["target"]["path_with_namespace"]),
            (&json!("stranger/ship"), &json!("ada/ship"))
        );
        assert_eq!(
            (&row["source_project_id"], &row["target_project_id"]),
            (&json!(id_of(&fork)), &json!(fixture.project()))
        );
        let id = row["last_commit"]["id"].as_str().expect("an id");
        let page = format!("http://forge.test/ada/ship/commit/{id}");
        assert_eq!(row["last_commit"]["url"], page, "under the target project");
    }
    let row = &payloads[1]["object_attributes"];
    assert_eq!((&row["oldrev"], &row["last_commit"]["id"]), (&old, &json!(new)));
}

/// Section 18: hooks with `merge_requests_events`.
fn hooks_without_the_switch_hear_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let off = [("merge_requests_events", "false"), ("issues_events", "true")];
    let receiver = a_receiver(forge, &fixture.cast.path, &off);
    let made = new_request(forge, &fixture, "feature/x", "t");
    put_request(forge, ROOT, &made, &json!({"title": "u"})).expect(200);
    merge(forge, ROOT, &made, &json!({})).expect(200);
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
}

/// Section 18: "null while `sha` is null", and "`oldrev` is absent, not null, outside of pushes".
fn a_request_without_head_has_no_last_commit(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = a_receiver(forge, &fixture.cast.path, REQUESTS);
    let made = new_request(forge, &fixture, "later", "t");
    put_request(forge, ROOT, &made, &json!({"title": "u"})).expect(200);
    let payloads = deliver_payloads(forge, &receiver);
    assert_eq!(steps(&payloads), ["open opened", "update opened"]);
    for payload in &payloads {
        let row = &payload["object_attributes"];
        assert_eq!((row.get("last_commit"), row.get("oldrev")), (Some(&Value::Null), None));
    }
}
