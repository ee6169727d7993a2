//! Commits, changes and versions: merge_requests.md sections 8 and 10.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    commit_file, merge, new_request, path_of_request, post_request, put_request, request_as,
    request_now,
};
use crate::api::groups::group_support::{error, fields_of};
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture, new_branch};
use crate::api::support::{id_of, message};
use crate::api::tracker::tracker_support::field_values;

on_every_store!(
    commits_and_changes_are_those_of_the_newest_version,
    each_push_makes_a_version,
    versions_show_commits_and_changes,
    hidden_references_cannot_be_pushed_to,
    commits_that_change_nothing_are_listed,
    long_lists_of_files_are_cut,
    lists_come_whole,
    changes_are_those_of_a_comparison,
    who_may_read_versions,
);

/// A part of a request, as an administrator sees it.
#[track_caller]
pub fn list(forge: &Forge, request: &Value, part: &str) -> Value {
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
    assert_eq!(first, std::slice::from_ref(&expected));
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

/// Section 8.3: `"0"` and `empty` for commits that change nothing.
fn commits_that_change_nothing_are_listed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "-b", "idle", "master"]);
    let head = tree.commit("Nothing");
    forge.fill(fixture.project(), tree);
    let made = new_request(forge, &fixture, "idle", "t");
    let versions = versions_of(forge, &made);
    assert_eq!((&versions[0]["state"], &versions[0]["real_size"]), (&json!("empty"), &json!("0")));
    let commits = list(forge, &made, "commits");
    assert_eq!((&commits[0]["id"], &commits[1]), (&json!(head), &Value::Null));
    assert_eq!(list(forge, &made, "changes")["changes"], json!([]));
    merge(forge, ROOT, &made, &json!({})).expect(200);
}

/// Section 8.3: `"1000+"` when cut. The request can be merged all the same.
fn long_lists_of_files_are_cut(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let tree = &fixture.tree;
    for (branch, count, size, shown) in [
        ("exact", 1000, "1000", 1000),
        ("more", 1001, "1000+", 1000),
        ("huge", 10_000, "1000+", 1000),
    ] {
        tree.git(&["checkout", "-q", "-b", branch, "master"]);
        for number in 0..count {
            tree.write(&format!("{branch}/{}/{number:05}", number / 100), "x\n");
        }
        tree.commit(branch);
        forge.fill(fixture.project(), tree);
        let made = new_request(forge, &fixture, branch, "t");
        let version = &versions_of(forge, &made)[0];
        assert_eq!(
            (&version["state"], &version["real_size"]),
            (&json!("collected"), &json!(size)),
            "{branch}"
        );
        let changes = list(forge, &made, "changes");
        let changes = changes["changes"].as_array().expect("a list");
        assert_eq!(changes.len(), shown, "{branch}");
        assert_eq!(changes[0]["new_path"], format!("{branch}/0/00000"));
        let detail = list(forge, &made, &format!("versions/{}", id_of(version)));
        assert_eq!(detail["diffs"].as_array().map(Vec::len), Some(shown), "{branch}");
        assert_eq!(merge(forge, ROOT, &made, &json!({})).expect(200)["state"], "merged");
    }
}

/// Sections 8.1 and 8.3: whole lists without paging, newest first.
fn lists_come_whole(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let mut ids: Vec<String> = (0..24)
        .map(|number| commit_file(forge, &fixture, "feature/x", &format!("f{number}"), "x\n"))
        .collect();
    ids.insert(0, made["sha"].as_str().expect("an id").to_owned());
    ids.reverse();
    for (part, field) in [("commits", "id"), ("versions", "head_commit_sha")] {
        let path = format!("{}/{part}?per_page=5&page=2", path_of_request(&made));
        let answer = forge.get(&path).token(ROOT).send();
        let found = answer.expect(200);
        assert_eq!(field_values(&found, field), ids.iter().collect::<Vec<_>>(), "{part}");
        for header in ["X-Total", "X-Per-Page", "X-Page", "Link"] {
            assert_eq!(answer.header(header), None, "{part} {header}");
        }
    }
}

/// Section 8.2, "as in compare": every kind of change, in path order.
fn changes_are_those_of_a_comparison(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "master"]);
    tree.write("renamed-from", "one\ntwo\nthree\nfour\nfive\n").write("gone", "x\n");
    tree.write("run", "x\n").write("binary", b"\0one").commit("Before");
    tree.git(&["checkout", "-q", "-b", "changed"]);
    tree.git(&["mv", "renamed-from", "renamed-to"]);
    tree.git(&["rm", "-q", "gone"]);
    tree.git(&["update-index", "--chmod=+x", "run"]);
    let module = format!("160000,{},module", "1".repeat(40));
    tree.git(&["update-index", "--add", "--cacheinfo", &module]);
    tree.git(&["commit", "-q", "-m", "Changed"]);
    tree.git(&["reset", "-q", "--hard"]);
    tree.write("binary", b"\0two").write("large", "x".repeat(200_000)).write("README", "4\n");
    tree.git(&["add", "binary", "large", "README"]);
    tree.git(&["commit", "-q", "-m", "More"]);
    // What happens on the target branch does not show.
    tree.git(&["checkout", "-q", "-f", "master"]);
    tree.write("later", "x\n").commit("Later");
    forge.fill(fixture.project(), tree);
    let made = new_request(forge, &fixture, "changed", "t");
    let changes = &list(forge, &made, "changes")["changes"];
    let paths = ["README", "binary", "gone", "large", "module", "renamed-to", "run"];
    assert_eq!(
        field_values(changes, "new_path"),
        paths.map(|path| json!(path)).iter().collect::<Vec<_>>()
    );
    let flags = |path: &str| {
        let index = paths.iter().position(|one| *one == path).expect("it is there");
        ["new_file", "renamed_file", "deleted_file"].map(|flag| changes[index][flag] == true)
    };
    assert_eq!(flags("README"), [false, false, false]);
    assert_eq!(flags("gone"), [false, false, true]);
    assert_eq!(flags("large"), [true, false, false]);
    assert_eq!(flags("renamed-to"), [false, true, false]);
    assert_eq!(changes[5]["old_path"], "renamed-from");
    assert_eq!(
        (&changes[6]["a_mode"], &changes[6]["b_mode"]),
        (&json!("100644"), &json!("100755"))
    );
    assert_eq!((&changes[4]["b_mode"], &changes[3]["diff"]), (&json!("160000"), &json!("")));
    let compare = format!("{}/repository/compare", fixture.cast.path);
    let query = [("from", "master"), ("to", "changed")];
    let compared = forge.get(&compare).token(ROOT).query(&query).send().expect(200);
    assert_eq!(*changes, compared["diffs"]);
    let version = id_of(&versions_of(forge, &made)[0]);
    assert_eq!(list(forge, &made, &format!("versions/{version}"))["diffs"], *changes);
}

/// Section 1.3: reporters on a private project, and authors and assignees whatever their level.
fn who_may_read_versions(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let user = |who: &str| id_of(&forge.get("/user").token(fixture.token(who)).send().expect(200));
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let version = id_of(&versions_of(forge, &made)[0]);
    let parts = ["commits", "changes", "versions"].map(str::to_owned);
    let read = |who: &str, status: u16| {
        for part in parts.iter().chain([&format!("versions/{version}")]) {
            let path = format!("{}/{part}", path_of_request(&made));
            let answer = forge.get(&path).token(fixture.token(who)).send();
            assert_eq!(answer.status, status, "{part} by {who}");
        }
    };
    read("guest", 403);
    read("reporter", 200);
    read("stranger", 404);
    put_request(forge, ROOT, &made, &json!({"assignee_id": user("guest")})).expect(200);
    read("guest", 200);
    let member = format!("{}/members/{}", fixture.cast.path, user("developer"));
    forge.put(&member).token(ROOT).form(&[("access_level", "10")]).send().expect(200);
    read("developer", 200);
    let text = format!("{}/versions/x", path_of_request(&made));
    let refused = forge.get(&text).token(fixture.token("stranger")).send();
    assert_eq!(refused.expect(400), error("version_id is invalid"));
}
