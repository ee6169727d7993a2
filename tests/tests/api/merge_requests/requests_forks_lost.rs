//! Requests of forks that are deleted or leave their origin: merge_requests.md sections 9, 16 and 17.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, Response, on_every_store};
use serde_json::{Value, json};

use super::requests_fork_support::{commit_to, forked, post_from};
use super::requests_pushes::{newest_version, push_url};
use super::requests_support::{
    actions, merge, path_of_request, put_request, request_notes, request_now,
};
use crate::api::groups::group_support::{add_member, new_group, path_of_group, path_of_project};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, empty_fixture_with_visibility, fill,
};
use crate::api::support::{id_of, message};

on_every_store!(
    a_deleted_fork_closes_as_its_remover,
    a_fork_deleted_by_somebody_else_leaves_its_requests_open,
    pushes_pass_over_requests_without_a_fork,
    a_removed_link_closes_with_event_and_delivery,
    requests_that_are_not_open_stay_as_they_are,
    requests_created_while_their_fork_is_deleted_are_closed,
);

/// The newest event of the project.
#[track_caller]
fn newest_event(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let path = format!("{}/events?per_page=1", fixture.cast.path);
    forge.get(&path).token(ROOT).send().expect(200)[0].clone()
}

/// Asserts what is written when a request is closed because its fork was lost.
#[track_caller]
fn assert_closed_by_stranger(forge: &Forge, fixture: &ProjectFixture, request: &Value) {
    let now = request_now(forge, request);
    assert_eq!((&now["state"], &now["sha"]), (&json!("closed"), &request["sha"]));
    assert_eq!(now["source_project_id"], request["source_project_id"]);
    assert_eq!(request_notes(forge, request), ["closed"]);
    let event = newest_event(forge, fixture);
    assert_eq!(
        (&event["action_name"], &event["author_username"], &event["target_id"]),
        (&json!("closed"), &json!("stranger"), &request["id"])
    );
}

/// Asserts that a request without its fork can be edited, but not moved, reopened or merged.
#[track_caller]
fn assert_only_editable(forge: &Forge, request: &Value) {
    let fields = json!({"title": "New", "description": "d", "target_branch": "other"});
    let edited = put_request(forge, ROOT, request, &fields).expect(200);
    assert_eq!(
        (&edited["title"], &edited["description"], &edited["target_branch"]),
        (&json!("New"), &json!("d"), &json!("master"))
    );
    let same = put_request(forge, ROOT, request, &json!({"state_event": "reopen"})).expect(200);
    assert_eq!(same["state"], "closed");
    let refused = merge(forge, ROOT, request, &json!({}));
    assert_eq!(refused.expect(405), message("405 Method Not Allowed"));
    for (part, field) in [("commits", "id"), ("changes", "changes")] {
        let path = format!("{}/{part}", path_of_request(request));
        let shown = forge.get(&path).token(ROOT).send().expect(200);
        let shown = if part == "commits" { shown[0][field].clone() } else { shown[field].clone() };
        let expected = if part == "commits" { &request["sha"] } else { &json!("new") };
        let found = if part == "commits" { &shown } else { &shown[0]["new_path"] };
        assert_eq!(found, expected, "{part}");
    }
}

/// DELETE /projects/:id: by the author of the request.
fn a_deleted_fork_closes_as_its_remover(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let receiver = Receiver::new();
    let on = [("merge_requests_events", "true")];
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &on);
    clear_outbox(forge);
    forge.delete(&path_of_project(&fork)).token(stranger).send().expect(200);
    do_tasks(forge);
    assert_closed_by_stranger(forge, &fixture, &made);
    let told = deliver_payloads(forge, &receiver);
    let [told] = &told[..] else { panic!("one delivery: {told:?}") };
    let row = &told["object_attributes"];
    assert_eq!(
        (&row["action"], &row["state"], &row["source"]),
        (&json!("close"), &json!("closed"), &Value::Null)
    );
    assert_eq!(row["target"]["path_with_namespace"], "ada/ship");
    assert_eq!(row["source_project_id"], id_of(&fork));
    assert_eq!(told["user"]["username"], "stranger");
    assert_eq!(row["last_commit"]["id"], made["sha"]);
    assert_only_editable(forge, &made);
}

/// A fork in a group of root's, and a request from it by the stranger, who is a developer there.
fn request_from_a_group(forge: &Forge) -> (ProjectFixture, Value, Value) {
    let fixture = empty_fixture_with_visibility(forge, "20");
    fill(forge, &fixture);
    let group = new_group(forge, ROOT, "team", &[]);
    let user = |who: &str| id_of(&forge.get("/user").token(fixture.token(who)).send().expect(200));
    add_member(forge, &path_of_group(&group), user("external"), 50, &[]);
    add_member(forge, &path_of_group(&group), user("stranger"), 30, &[]);
    let path = format!("/projects/fork/{}", fixture.project());
    let form = [("namespace", "team")];
    let fork = forge.post(&path).token(fixture.token("external")).form(&form).send().expect(201);
    do_tasks(forge);
    let stranger = fixture.token("stranger");
    commit_to(forge, stranger, &fork, "topic", "new");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    (fixture, fork, made)
}

/// DELETE /projects/:id: by somebody who may not change the request. It stays open, but cannot be merged.
fn a_fork_deleted_by_somebody_else_leaves_its_requests_open(forge: &Forge) {
    let (fixture, fork, made) = request_from_a_group(forge);
    let before = actions(forge, &fixture);
    let owner = fixture.token("external");
    forge.delete(&path_of_project(&fork)).token(owner).send().expect(200);
    // Also before the queued task removes the repository.
    let not_allowed = message("405 Method Not Allowed");
    assert_eq!(merge(forge, ROOT, &made, &json!({})).expect(405), not_allowed);
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["state"], "opened");
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
    assert_eq!(actions(forge, &fixture), before);
    assert_eq!(merge(forge, ROOT, &made, &json!({})).expect(405), not_allowed);
    let edited = put_request(forge, ROOT, &made, &json!({"title": "New"})).expect(200);
    assert_eq!((&edited["title"], &edited["sha"]), (&json!("New"), &made["sha"]));
    // Closing works, reopening does not.
    for word in ["close", "reopen"] {
        let now = put_request(forge, ROOT, &made, &json!({"state_event": word})).expect(200);
        assert_eq!(now["state"], "closed", "{word}");
    }
    forge.delete(&path_of_request(&made)).token(fixture.token("owner")).send().expect(200);
}

/// Section 9, "Requests whose source project is gone are passed over".
fn pushes_pass_over_requests_without_a_fork(forge: &Forge) {
    let (fixture, fork, made) = request_from_a_group(forge);
    merge(forge, ROOT, &made, &json!({"sha": "wrong"})).expect(409);
    forge.delete(&path_of_project(&fork)).token(fixture.token("external")).send().expect(200);
    do_tasks(forge);
    let before = request_now(forge, &made);
    assert_eq!(
        (&before["state"], &before["merge_status"]),
        (&json!("opened"), &json!("can_be_merged"))
    );
    let (tree, address) = (&fixture.tree, push_url(forge, &fixture));
    tree.git(&["fetch", "-q", &address, "refs/merge-requests/1/head:head"]);
    tree.git(&["push", "-q", "-f", &address, "master~1:master"]);
    tree.git(&["push", "-q", "-f", &address, "head:master"]);
    do_tasks(forge);
    assert_eq!(request_now(forge, &made), before);
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
    assert_eq!(newest_version(forge, &made).0, 1);
}

/// DELETE /projects/:id/fork: section 16, ruling.
fn a_removed_link_closes_with_event_and_delivery(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let receiver = Receiver::new();
    let on = [("merge_requests_events", "true")];
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &on);
    clear_outbox(forge);
    let link = format!("{}/fork", path_of_project(&fork));
    forge.delete(&link).token(stranger).send().expect(200);
    do_tasks(forge);
    assert_closed_by_stranger(forge, &fixture, &made);
    let told = deliver_payloads(forge, &receiver);
    let [told] = &told[..] else { panic!("one delivery: {told:?}") };
    let row = &told["object_attributes"];
    assert_eq!((&row["action"], &row["state"]), (&json!("close"), &json!("closed")));
    assert_eq!(told["user"]["username"], "stranger");
    assert_only_editable(forge, &made);
    // Pushes to the former fork do not reach it.
    commit_to(forge, stranger, &fork, "topic", "more");
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["sha"], made["sha"]);
}

/// Section 16: only open requests are closed.
fn requests_that_are_not_open_stay_as_they_are(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let merged = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let merged = merge(forge, ROOT, &merged, &json!({})).expect(200);
    commit_to(forge, stranger, &fork, "topic", "more");
    let closed = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let closed = put_request(forge, ROOT, &closed, &json!({"state_event": "close"})).expect(200);
    let before = actions(forge, &fixture);
    forge.delete(&path_of_project(&fork)).token(stranger).send().expect(200);
    do_tasks(forge);
    for request in [&merged, &closed] {
        assert_eq!(request_now(forge, request), *request);
    }
    assert_eq!(actions(forge, &fixture), before);
}

/// POST /projects/:id/merge_requests while DELETE /projects/:id removes the fork: each request is refused, or it is
/// created before the fork is deleted and closed with it. None stays open without its fork.
fn requests_created_while_their_fork_is_deleted_are_closed(forge: &Forge) {
    const AUTHORS: usize = 4;
    const EACH: usize = 4;
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let branch = |author: usize, number: usize| format!("topic-{author}-{number}");
    for author in 0..AUTHORS {
        for number in 0..EACH {
            let form = [("branch_name", &*branch(author, number)), ("ref", "topic")];
            let path = format!("{}/repository/branches", path_of_project(&fork));
            forge.post(&path).token(stranger).form(&form).send();
        }
    }
    let barrier = Barrier::new(AUTHORS + 1);
    let answers: Vec<Response> = thread::scope(|scope| {
        let authors: Vec<_> = (0..AUTHORS)
            .map(|author| {
                let (barrier, fixture, fork) = (&barrier, &fixture, &fork);
                scope.spawn(move || {
                    barrier.wait();
                    let post = |number| {
                        let more = json!({"source_branch": branch(author, number)});
                        post_from(forge, stranger, fork, fixture.project(), &more)
                    };
                    (0..EACH).map(post).collect::<Vec<_>>()
                })
            })
            .collect();
        barrier.wait();
        // Some requests are created first.
        thread::sleep(Duration::from_millis(30));
        forge.delete(&path_of_project(&fork)).token(stranger).send().expect(200);
        authors.into_iter().flat_map(|author| author.join().expect("no panic")).collect()
    });
    do_tasks(forge);
    for answer in answers {
        match answer.status {
            201 => {
                let made = answer.json();
                let now = request_now(forge, &made);
                assert_eq!(now["state"], "closed", "{now}");
                assert_eq!(request_notes(forge, &made), ["closed"]);
            }
            404 => assert_eq!(answer.json(), message("404 Project Not Found")),
            status => panic!("{status}: {}", answer.text()),
        }
    }
    let open = format!("{}/merge_requests?state=opened", fixture.cast.path);
    assert_eq!(forge.get(&open).token(ROOT).send().expect(200), json!([]));
}
