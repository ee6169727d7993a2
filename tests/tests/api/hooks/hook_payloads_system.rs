//! Payloads of system hooks, field by field: users_hooks_events.md sections 7, 8 and 10.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Answer, Forge, Receiver, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, new_group, new_project, path_of_group, path_of_project,
};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, system_hook};
use crate::api::repositories::refs_support::{filled_fixture, new_branch, new_tag};
use crate::api::support::id_of;

on_every_store!(
    users_and_keys_are_told,
    deploy_keys_are_told,
    projects_are_told_with_their_teams,
    groups_are_told_with_their_members,
    a_project_that_moves_is_told_with_where_it_was,
    pushes_are_told_without_commits,
    system_events_have_no_switch,
    a_hook_test_sends_a_real_request,
);

/// The time of all events in these tests.
const MOMENT: &str = "2016-09-22T10:30:00Z";

/// An event: the common fields, and then the others.
fn event(name: &str, rest: Value) -> Value {
    let mut event = json!({"event_name": name, "created_at": MOMENT, "updated_at": MOMENT});
    for (field, value) in rest.as_object().expect("fields") {
        event[field] = value.clone();
    }
    event
}

#[track_caller]
fn assert_delivered(forge: &Forge, receiver: &Receiver, expected: &[Value]) {
    let told: Vec<String> =
        deliver_payloads(forge, receiver).iter().map(Value::to_string).collect();
    let expected: Vec<String> = expected.iter().map(Value::to_string).collect();
    assert_eq!(told, expected);
}

fn a_receiver(forge: &Forge, more: &[(&str, &str)]) -> Receiver {
    let receiver = Receiver::new();
    system_hook(forge, &receiver.url("/"), more);
    clear_outbox(forge);
    receiver
}

/// deploykey_create, deploykey_destroy
fn deploy_keys_are_told(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = path_of_project(&new_project(forge, &token, "Ship", &[]));
    let receiver = a_receiver(forge, &[]);
    let path = format!("{project}/deploy_keys");
    let form = [("title", "server"), ("key", &an_ssh_key(1))];
    let made = forge.post(&path).token(&token).form(&form).send().expect(201);
    let facts = json!({"key": made["key"], "id": id_of(&made)});
    assert_delivered(forge, &receiver, &[event("deploykey_create", facts.clone())]);
    forge.delete(&format!("{path}/{}", id_of(&made))).token(&token).send().expect(200);
    assert_delivered(forge, &receiver, &[event("deploykey_destroy", facts)]);
}

/// user_create, user_destroy, key_create, key_destroy
fn users_and_keys_are_told(forge: &Forge) {
    let receiver = a_receiver(forge, &[("token", "s3cret")]);
    let (eve, token) = forge.user("eve");
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.header("x-gitlab-event"), Some("System Hook"));
    assert_eq!(received.header("x-gitlab-token"), Some("s3cret"));
    let facts =
        json!({"name": "eve", "email": "eve@example.com", "user_id": eve, "username": "eve"});
    assert_eq!(received.body, event("user_create", facts.clone()).to_string());
    let key = an_ssh_key(1);
    let form = [("title", "laptop"), ("key", key.as_str())];
    let made = forge.post("/user/keys").token(&token).form(&form).send().expect(201);
    let of_key = json!({"key": made["key"], "id": id_of(&made), "username": "eve"});
    assert_delivered(forge, &receiver, &[event("key_create", of_key.clone())]);
    let path = format!("/user/keys/{}", id_of(&made));
    forge.delete(&path).token(&token).send().expect(200);
    assert_delivered(forge, &receiver, &[event("key_destroy", of_key)]);
    forge.delete(&format!("/users/{eve}")).token(ROOT).send().expect(200);
    assert_delivered(forge, &receiver, &[event("user_destroy", facts)]);
}

fn facts_of_project(project: &Value, owner: &str, email: &str, visibility: &str) -> Value {
    json!({
        "name": project["name"], "path": project["path"],
        "path_with_namespace": project["path_with_namespace"], "project_id": id_of(project),
        "owner_name": owner, "owner_email": email, "project_visibility": visibility
    })
}

fn facts_of_team(project: &Value, user: i64, name: &str, level: &str, visibility: &str) -> Value {
    json!({
        "project_name": project["name"], "project_path": project["path"],
        "project_path_with_namespace": project["path_with_namespace"],
        "project_id": id_of(project), "user_username": name, "user_name": name,
        "user_email": format!("{name}@example.com"), "user_id": user, "access_level": level,
        "project_visibility": visibility
    })
}

/// project_create, user_add_to_team, user_remove_from_team, project_destroy
fn projects_are_told_with_their_teams(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let receiver = a_receiver(forge, &[]);
    let project = new_project(forge, &token, "Ship", &[("visibility_level", "10")]);
    let facts = facts_of_project(&project, "ada", "ada@example.com", "internal");
    let owner = facts_of_team(&project, ada, "ada", "Master", "internal");
    let mut news = deliver_payloads(forge, &receiver);
    news.sort_by_key(Value::to_string);
    let expected =
        [event("project_create", facts.clone()), event("user_add_to_team", owner.clone())];
    assert_eq!(json!(news).to_string(), json!(expected).to_string());
    let path = path_of_project(&project);
    add_member(forge, &path, bob, 30, &[]);
    let member = facts_of_team(&project, bob, "bob", "Developer", "internal");
    assert_delivered(forge, &receiver, &[event("user_add_to_team", member.clone())]);
    forge.delete(&format!("{path}/members/{bob}")).token(&token).send().expect(200);
    assert_delivered(forge, &receiver, &[event("user_remove_from_team", member)]);
    forge.delete(&path).token(&token).send().expect(200);
    let expected = [event("user_remove_from_team", owner), event("project_destroy", facts)];
    assert_delivered(forge, &receiver, &expected);
}

/// group_create, user_add_to_group, user_remove_from_group, group_destroy
fn groups_are_told_with_their_members(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let receiver = a_receiver(forge, &[]);
    let group = new_group(forge, &token, "team", &[]);
    let facts = json!({
        "name": group["name"], "path": "team", "group_id": id_of(&group), "owner_name": null,
        "owner_email": null
    });
    let member = |user: i64, name: &str, level: &str| {
        json!({
            "group_name": group["name"], "group_path": "team", "group_id": id_of(&group),
            "user_username": name, "user_name": name,
            "user_email": format!("{name}@example.com"), "user_id": user, "group_access": level
        })
    };
    let owner = event("user_add_to_group", member(ada, "ada", "Owner"));
    assert_delivered(forge, &receiver, &[event("group_create", facts.clone()), owner]);
    let path = path_of_group(&group);
    add_member(forge, &path, bob, 20, &[]);
    let reporter = member(bob, "bob", "Reporter");
    assert_delivered(forge, &receiver, &[event("user_add_to_group", reporter.clone())]);
    forge.delete(&format!("{path}/members/{bob}")).token(&token).send().expect(200);
    assert_delivered(forge, &receiver, &[event("user_remove_from_group", reporter)]);
    forge.delete(&path).token(&token).send().expect(200);
    let gone = event("user_remove_from_group", member(ada, "ada", "Owner"));
    assert_delivered(forge, &receiver, &[gone, event("group_destroy", facts)]);
}

/// project_rename, project_transfer
fn a_project_that_moves_is_told_with_where_it_was(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let group = new_group(forge, ROOT, "team", &[]);
    let project = new_project(forge, &token, "Ship", &[]);
    let receiver = a_receiver(forge, &[]);
    let form = [("name", "Ship"), ("path", "boat")];
    let renamed = forge.put(&path_of_project(&project)).token(&token).form(&form).send();
    let renamed = renamed.expect(200);
    let mut facts = facts_of_project(&renamed, "ada", "ada@example.com", "private");
    assert_eq!(facts["path_with_namespace"], "ada/boat");
    facts["old_path_with_namespace"] = json!("ada/ship");
    assert_delivered(forge, &receiver, &[event("project_rename", facts)]);
    let path = format!("/groups/{}/projects/{}", id_of(&group), id_of(&project));
    forge.post(&path).token(ROOT).send().expect(201);
    let name = group["name"].as_str().expect("a name");
    let mut facts = facts_of_project(&renamed, name, "", "private");
    facts["path_with_namespace"] = json!("team/boat");
    facts["old_path_with_namespace"] = json!("ada/boat");
    assert_delivered(forge, &receiver, &[event("project_transfer", facts)]);
}

/// Sections 7 and 10: events without a switch, and changes without an event.
fn system_events_have_no_switch(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (bob, of_bob) = forge.user("bob");
    let project = new_project(forge, &token, "Ship", &[("visibility_level", "20")]);
    let path = path_of_project(&project);
    let off = [("push_events", "false"), ("tag_push_events", "false")];
    let receiver = a_receiver(forge, &off);
    add_member(forge, &path, bob, 30, &[]);
    let member = facts_of_team(&project, bob, "bob", "Developer", "public");
    assert_delivered(forge, &receiver, &[event("user_add_to_team", member)]);
    // Neither a new level of a member nor a new display name is an event.
    let member = format!("{path}/members/{bob}");
    forge.put(&member).token(&token).form(&[("access_level", "40")]).send().expect(200);
    forge.put(&path).token(&token).form(&[("name", "Boat")]).send().expect(200);
    assert_delivered(forge, &receiver, &[]);
    // A fork is an ordinary project.
    let path = format!("/projects/fork/{}", id_of(&project));
    let form = [("namespace", "bob")];
    let fork = forge.post(&path).token(&of_bob).form(&form).send().expect(201);
    let made = facts_of_project(&fork, "bob", "bob@example.com", "public");
    let owner = facts_of_team(&fork, bob, "bob", "Master", "public");
    let mut news = deliver_payloads(forge, &receiver);
    news.sort_by_key(Value::to_string);
    let expected = [event("project_create", made), event("user_add_to_team", owner)];
    assert_eq!(json!(news).to_string(), json!(expected).to_string());
}

/// Section 10: the objects of 9.1 and 9.2 without commits, by the switches of section 7
fn pushes_are_told_without_commits(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let pushes = a_receiver(forge, &[]);
    let none = a_receiver(forge, &[("push_events", "false")]);
    let tags = a_receiver(forge, &[("push_events", "false"), ("tag_push_events", "true")]);
    new_branch(forge, &fixture, "one", "feature/x");
    let form = [("tag_name", "v2"), ("ref", "master"), ("message", "The second")];
    new_tag(forge, &fixture, &form);
    // System hooks do not hear of the removal of a tag.
    forge.delete(&format!("{}/v2", fixture.tags)).token(ROOT).send().expect(200);
    forge.deliver();
    let (push, tag) = (pushes.take_only(), tags.take_only());
    assert_eq!(none.count(), 0);
    assert_eq!(push.header("x-gitlab-event"), Some("System Hook"));
    let events = forge.get(&format!("{}/events", fixture.cast.path)).token(ROOT).send().expect(200);
    for (received, data, message) in
        [(push, &events[2]["data"], json!(null)), (tag, &events[1]["data"], json!(""))]
    {
        let mut expected = data.clone();
        expected["message"] = message;
        expected["commits"] = json!([]);
        expected["total_commits_count"] = json!(0);
        assert_eq!(received.body, expected.to_string());
    }
}

/// Section 7: GET /hooks/:id
fn a_hook_test_sends_a_real_request(forge: &Forge) {
    let receiver = Receiver::new();
    let hook = system_hook(forge, &receiver.url("/x"), &[("token", "s3cret")]);
    clear_outbox(forge);
    let path = format!("/hooks/{}", id_of(&hook));
    for answer in [200, 404, 500] {
        receiver.answer(Answer::status(answer));
        let tried = forge.get(&path).token(ROOT).send();
        tried.expect(200);
        let received = receiver.take_only();
        assert_eq!(received.body, tried.text(), "the response is the payload");
        assert_eq!(received.line, "POST /x HTTP/1.1");
        assert_eq!(received.header("x-gitlab-event"), Some("System Hook"));
        assert_eq!(received.header("x-gitlab-token"), Some("s3cret"));
        assert_eq!(received.key().len(), 36);
    }
    // The test request is never retried.
    assert_eq!(forge.deliver(), 0);
    assert_eq!(receiver.count(), 0);
}
