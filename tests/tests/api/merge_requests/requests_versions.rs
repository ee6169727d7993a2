//! Commits, changes and versions: merge_requests.md sections 8 and 10.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    commit_file, new_request, path_of_request, post_request, put_request, request_as, request_now,
};
use crate::api::groups::group_support::fields_of;
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture, new_branch};
use crate::api::support::{id_of, message};

on_every_store!(
    commits_and_changes_are_those_of_the_newest_version,
    each_push_makes_a_version,
    versions_show_commits_and_changes,
    hidden_references_cannot_be_pushed_to,
);

#[track_caller]
fn list(forge: &Forge, request: &Value, part: &str) -> Value {
    forge.get(&format!("{}/{part}", path_of_request(request))).token(ROOT).send().expect(200)
}

/// GET /projects/:id/merge_requests/:merge_request_id/commits,
/// GET /projects/:id/merge_requests/:merge_request_id/changes
fn commits_and_changes_are_those_of_the_newest_version(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let second = commit_file(forge, &fixture, "feature/x", "b", "b\n");
    commit_file(forge, &fixture, "master", "unrelated", "x\n");
    let commits = list(forge, &made, "commits");
    let ids: Vec<&Value> =
        commits.as_array().expect("a list").iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&json!(second), &made["sha"]]);
    let expected =
        ["id", "short_id", "title", "author_name", "author_email", "created_at", "message"];
    assert_eq!(fields_of(&commits[0]), expected);
    let changes = list(forge, &made, "changes");
    let mut shown = changes.clone();
    let diffs = shown.as_object_mut().and_then(|object| object.remove("changes"));
    assert_eq!(shown, request_now(forge, &made));
    assert_eq!(fields_of(&changes).last(), Some(&"changes"));
    let expected = json!([
        {"old_path": "b", "new_path": "b", "a_mode": "0", "b_mode": "100644",
            "diff": "--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+b\n", "new_file": true,
            "renamed_file": false, "deleted_file": false},
        {"old_path": "x", "new_path": "x", "a_mode": "0", "b_mode": "100644",
            "diff": "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n", "new_file": true,
            "renamed_file": false, "deleted_file": false},
    ]);
    assert_eq!(diffs, Some(expected));
}

fn versions_of(forge: &Forge, request: &Value) -> Vec<Value> {
    list(forge, request, "versions").as_array().expect("a list").clone()
}

fn delete_branch(forge: &Forge, fixture: &ProjectFixture, name: &str) {
    let path = format!("{}/{name}", fixture.branches);
    forge.delete(&path).token(ROOT).send().expect(200);
}

/// GET /projects/:id/merge_requests/:merge_request_id/versions
fn each_push_makes_a_version(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let first = versions_of(forge, &made);
    let expected = json!({
        "id": id_of(&first[0]), "head_commit_sha": fixture.id("feature/x"),
        "base_commit_sha": fixture.id("v1.0.0"), "start_commit_sha": fixture.id("master"),
        "created_at": "2016-09-22T10:30:00.000Z", "merge_request_id": id_of(&made),
        "state": "collected", "real_size": "1"
    });
    assert_eq!(first, [expected.clone()]);
    assert_eq!(fields_of(&first[0]), fields_of(&expected));
    let second = commit_file(forge, &fixture, "feature/x", "b", "b\n");
    let versions = versions_of(forge, &made);
    assert_eq!(versions.len(), 2);
    assert_eq!(
        (&versions[0]["head_commit_sha"], &versions[0]["real_size"]),
        (&json!(second), &json!("2"))
    );
    assert_eq!(versions[1], first[0]);
    delete_branch(forge, &fixture, "feature%2Fx");
    let versions = versions_of(forge, &made);
    let gone = &versions[0];
    assert_eq!((versions.len(), &gone["state"]), (3, &json!("empty")));
    assert_eq!((&gone["head_commit_sha"], &gone["real_size"]), (&Value::Null, &Value::Null));
    assert_eq!(request_now(forge, &made)["sha"], Value::Null);
    new_branch(forge, &fixture, "feature/x", &second);
    assert_eq!(versions_of(forge, &made).len(), 4);
    assert_eq!(request_now(forge, &made)["sha"], second);
    // Another target branch and reopening make versions; closed requests get none.
    put_request(forge, ROOT, &made, &json!({"target_branch": "stable"})).expect(200);
    let versions = versions_of(forge, &made);
    assert_eq!((versions.len(), &versions[0]["start_commit_sha"]), (5, &Value::Null));
    put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    commit_file(forge, &fixture, "feature/x", "c", "c\n");
    assert_eq!(versions_of(forge, &made).len(), 5);
    put_request(forge, ROOT, &made, &json!({"state_event": "reopen"})).expect(200);
    assert_eq!(versions_of(forge, &made).len(), 6);
}

/// GET /projects/:id/merge_requests/:merge_request_id/versions/:version_id
fn versions_show_commits_and_changes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let first = versions_of(forge, &made)[0].clone();
    commit_file(forge, &fixture, "feature/x", "b", "b\n");
    let path = |request: &Value| format!("{}/versions/{}", path_of_request(request), first["id"]);
    let mut shown = forge.get(&path(&made)).token(ROOT).send().expect(200);
    assert_eq!(fields_of(&shown)[8..], ["commits", "diffs"]);
    assert_eq!((&shown["commits"][0]["id"], &shown["commits"][1]), (&made["sha"], &Value::Null));
    assert_eq!((&shown["diffs"][0]["new_path"], &shown["diffs"][1]), (&json!("x"), &Value::Null));
    for part in ["commits", "diffs"] {
        shown.as_object_mut().expect("an object").remove(part);
    }
    assert_eq!(shown, first);
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "other"});
    let other = post_request(forge, &fixture, "developer", &fields).expect(201);
    let answer = forge.get(&path(&other)).token(ROOT).send();
    assert_eq!(answer.expect(404), message("404 Not found"));
}

/// Section 10.
fn hidden_references_cannot_be_pushed_to(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let url =
        format!("http://developer:{}@{}/ada/ship.git", fixture.token("developer"), forge.address);
    let refs = fixture.tree.git(&["ls-remote", &url]);
    assert!(refs.contains("refs/merge-requests/1/head"), "{refs}");
    assert!(!refs.contains("refs/keep-around/"), "{refs}");
    let kept = format!("master:refs/keep-around/{}", fixture.id("master"));
    for refspec in ["master:refs/merge-requests/1/head", ":refs/merge-requests/1/head", &kept] {
        let pushed = fixture.tree.command(&["push", "-q", "-f", &url, refspec]).output();
        assert!(!pushed.expect("git can be started").status.success(), "{refspec}");
    }
    assert_eq!(request_as(forge, fixture.token("developer"), &made), made);
    let branches = forge.get(&fixture.branches).token(ROOT).send().expect(200);
    assert_eq!(branches.as_array().map(Vec::len), Some(2));
}
