//! What a merge writes: merge_requests.md sections 6.4, 6.5 and 10.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, on_every_store};
use serde_json::{Value, json};

use super::requests_fork_support::{forked, post_from};
use super::requests_support::{
    actions, commit_file, merge, new_request, path_of_request, post_request, request_notes,
    request_now,
};
use crate::api::groups::group_support::{add_member, path_of_project};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of, system_hook};
use crate::api::repositories::commits_support::tip;
use crate::api::repositories::refs_support::{do_tasks, filled_fixture, new_branch};
use crate::api::support::id_of;

on_every_store!(
    a_fast_forward_still_gives_a_merge_commit,
    the_namespace_of_a_fork_is_not_named,
    a_merge_is_a_push_by_the_caller,
    hooks_hear_of_the_push_of_a_merge,
    other_requests_of_a_removed_branch_are_told,
    a_source_branch_that_moved_stays,
    a_removed_branch_may_be_created_again,
    the_source_branch_of_a_fork_is_removed_by_who_may_push_there,
    the_merge_commit_is_kept,
);

const REMOVE: &str = "should_remove_source_branch";

/// The commit at the tip of `master`, as branches show it.
#[track_caller]
fn master_commit(forge: &Forge, project: &str) -> Value {
    let path = format!("{project}/repository/branches/master");
    forge.get(&path).token(ROOT).send().expect(200)["commit"].clone()
}

/// Section 6.4: always a merge commit. Author and committer are the caller with the primary e-mail address, and a
/// description of blanks is left out.
fn a_fast_forward_still_gives_a_merge_commit(forge: &Forge) {
    let fixture = filled_fixture(forge);
    new_branch(forge, &fixture, "ahead", "master");
    let head = commit_file(forge, &fixture, "ahead", "ahead", "x\n");
    let before = tip(forge, &fixture, "master");
    let form = [("email", "second@example.com")];
    forge.post("/user/emails").token(fixture.token("developer")).form(&form).send().expect(201);
    let fields = json!({"title": " Ahead ", "source_branch": "ahead", "target_branch": "master",
        "description": " \n\t"});
    let made = post_request(forge, &fixture, "master", &fields).expect(201);
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
    let commit = master_commit(forge, &fixture.cast.path);
    assert_eq!(commit["parent_ids"], json!([before, head]));
    let text = "Merge branch 'ahead' into 'master'\n\nAhead\n\nSee merge request !1";
    assert_eq!(commit["message"], text);
    for role in ["author", "committer"] {
        let person = ["name", "email"].map(|field| commit[format!("{role}_{field}")].clone());
        assert_eq!(person, ["developer", "developer@example.com"], "{role}");
    }
    let dates = ["authored_date", "committed_date"].map(|field| commit[field].clone());
    assert_eq!(dates, ["2016-09-22T10:30:00.000+00:00", "2016-09-22T10:30:00.000+00:00"]);
}

/// Section 6.4, "The namespace of a fork is not named".
fn the_namespace_of_a_fork_is_not_named(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let before = tip(forge, &fixture, "master");
    merge(forge, fixture.token("master"), &made, &json!({})).expect(200);
    let commit = master_commit(forge, &fixture.cast.path);
    let text = "Merge branch 'topic' into 'master'\n\nFrom the fork\n\nSee merge request !1";
    assert_eq!(commit["message"], text);
    assert_eq!(commit["parent_ids"], json!([before, made["sha"]]));
}

/// Section 6.5 step 1: the event of the push and the pipeline.
fn a_merge_is_a_push_by_the_caller(forge: &Forge) {
    let fixture = filled_fixture(forge);
    commit_file(forge, &fixture, "master", ".gitlab-ci.yml", "rspec: {script: x}\n");
    let made = new_request(forge, &fixture, "feature/x", "t");
    let before = tip(forge, &fixture, "master");
    let merged = merge(forge, fixture.token("master"), &made, &json!({})).expect(200);
    let path = format!("{}/events?per_page=2", fixture.cast.path);
    let events = forge.get(&path).token(ROOT).send().expect(200);
    let events = events.as_array().expect("a list");
    let push = events.iter().find(|event| event["action_name"] == "pushed to");
    let push = push.expect("a merge is a push");
    assert_eq!(
        (&push["author_username"], &push["target_type"], &push["target_id"]),
        (&json!("master"), &Value::Null, &Value::Null)
    );
    let data = &push["data"];
    assert_eq!(
        (&data["ref"], &data["before"], &data["after"]),
        (&json!("refs/heads/master"), &json!(before), &merged["merge_commit_sha"])
    );
    assert_eq!(data["total_commits_count"], 2);
    let accepted = events.iter().find(|event| event["action_name"] == "accepted");
    let accepted = accepted.expect("a merge is accepted");
    assert_eq!(
        (&accepted["author_username"], &accepted["target_type"], &accepted["target_id"]),
        (&json!("master"), &json!("MergeRequest"), &made["id"])
    );
    assert_eq!((&accepted["target_title"], &accepted["data"]), (&json!("t"), &Value::Null));
    let pipelines = format!("{}/pipelines", fixture.cast.path);
    let pipelines = forge.get(&pipelines).token(ROOT).send().expect(200);
    assert_eq!(
        (&pipelines[0]["ref"], &pipelines[0]["sha"], &pipelines[0]["status"]),
        (&json!("master"), &merged["merge_commit_sha"], &json!("pending"))
    );
    assert_eq!(pipelines[0]["user"]["username"], "master");
}

/// Sections 6.5 step 1 and 18, last sentence: system hooks hear only of the push of a merge.
fn hooks_hear_of_the_push_of_a_merge(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (project, system) = (Receiver::new(), Receiver::new());
    hook_of(forge, &fixture.cast.path, &project.url("/"), &[("push_events", "true")]);
    system_hook(forge, &system.url("/"), &[]);
    clear_outbox(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    forge.deliver();
    assert_eq!((project.take().len(), system.take().len()), (0, 0));
    let before = tip(forge, &fixture, "master");
    let merged = merge(forge, fixture.token("master"), &made, &json!({})).expect(200);
    for payload in [
        deliver_payloads(forge, &project),
        system.take().iter().map(hexforge_tests::Received::json).collect(),
    ] {
        let [payload] = &payload[..] else { panic!("one push: {payload:?}") };
        assert_eq!(payload["object_kind"], "push");
        assert_eq!(
            (&payload["ref"], &payload["before"], &payload["after"]),
            (&json!("refs/heads/master"), &json!(before), &merged["merge_commit_sha"])
        );
        assert_eq!(payload["user_name"], "master");
    }
}

/// Section 6.5 step 4 and section 9: the removal is a push to the source branch of other requests.
fn other_requests_of_a_removed_branch_are_told(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "stable"});
    let other = post_request(forge, &fixture, "developer", &fields).expect(201);
    merge(forge, ROOT, &made, &json!({REMOVE: true})).expect(200);
    do_tasks(forge);
    let now = request_now(forge, &other);
    assert_eq!((&now["state"], &now["sha"]), (&json!("opened"), &Value::Null));
    assert_eq!(request_notes(forge, &other), ["deleted source branch `feature/x`"]);
    assert_eq!(request_notes(forge, &made), ["merged"]);
}

/// Section 6.5 step 4: a branch with commits that were not merged is not removed.
fn a_source_branch_that_moved_stays(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    // So many requests are refreshed by the queued task only, so the head of the first stays for now.
    for number in 0..5 {
        let target = format!("target{number}");
        let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": target});
        post_request(forge, &fixture, "developer", &fields).expect(201);
    }
    let new = commit_file(forge, &fixture, "feature/x", "more", "x\n");
    assert_eq!(request_now(forge, &made)["sha"], made["sha"]);
    merge(forge, ROOT, &made, &json!({REMOVE: true})).expect(200);
    do_tasks(forge);
    assert_eq!(tip(forge, &fixture, "feature%2Fx"), new);
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["sha"]), (&json!("merged"), &made["sha"]));
}

/// Section 6.5 step 4: the branch is removed once.
fn a_removed_branch_may_be_created_again(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    merge(forge, ROOT, &made, &json!({REMOVE: true})).expect(200);
    let head = made["sha"].as_str().expect("an id");
    new_branch(forge, &fixture, "feature/x", head);
    do_tasks(forge);
    assert_eq!(tip(forge, &fixture, "feature%2Fx"), head);
    let removed = actions(forge, &fixture).iter().filter(|action| *action == "deleted").count();
    assert_eq!(removed, 1);
}

/// Sections 6.5 step 4 and 16: branch removal needs the merger's right to push to the fork.
fn the_source_branch_of_a_fork_is_removed_by_who_may_push_there(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let project = path_of_project(&fork);
    let developer = forge.get("/user").token(fixture.token("developer")).send().expect(200);
    add_member(forge, &project, id_of(&developer), 30, &[]);
    merge(forge, fixture.token("developer"), &made, &json!({REMOVE: true})).expect(200);
    let branch = format!("{project}/repository/branches/topic");
    forge.get(&branch).token(stranger).send().expect(404);
    let events = format!("{project}/events?per_page=1");
    let events = forge.get(&events).token(ROOT).send().expect(200);
    assert_eq!(
        (&events[0]["action_name"], &events[0]["author_username"]),
        (&json!("deleted"), &json!("developer"))
    );
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["sha"]), (&json!("merged"), &made["sha"]));
    let commits = format!("{}/commits", path_of_request(&made));
    let commits = forge.get(&commits).token(fixture.token("reporter")).send().expect(200);
    assert_eq!(commits[0]["id"], made["sha"]);
}

/// Section 10: merge commits stay, whatever is forced or deleted.
fn the_merge_commit_is_kept(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let merged = merge(forge, ROOT, &made, &json!({})).expect(200);
    let tree = &fixture.tree;
    let address =
        format!("http://master:{}@{}/ada/ship.git", fixture.token("master"), forge.address);
    tree.git(&["push", "-q", "-f", &address, "master~1:master"]);
    forge.delete(&format!("{}/feature%2Fx", fixture.branches)).token(ROOT).send().expect(200);
    do_tasks(forge);
    let id = merged["merge_commit_sha"].as_str().expect("an id");
    let head = made["sha"].as_str().expect("an id");
    for kept in [id, head] {
        let path = format!("{}/repository/commits/{kept}", fixture.cast.path);
        let commit = forge.get(&path).token(fixture.token("reporter")).send().expect(200);
        assert_eq!(commit["id"], kept);
    }
}
