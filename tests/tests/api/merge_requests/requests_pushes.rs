//! What pushes do to merge requests: merge_requests.md section 9.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    actions, commit_file, merge, new_request, path_of_request, post_request, put_request,
    request_notes, request_now,
};
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, filled_fixture, new_branch,
};
use crate::api::support::{id_of, message};
use crate::api::tracker::tracker_support::{issue_now, new_issue, note_bodies};

on_every_store!(
    commits_on_the_source_branch_are_noted,
    a_removed_source_branch_leaves_the_request_open,
    a_push_to_the_target_resets_the_status,
    a_push_of_the_head_merges_the_request,
    a_forced_push_to_the_target_makes_a_version,
    closed_requests_are_not_touched,
    many_requests_of_a_branch_are_refreshed,
    a_new_source_branch_fills_the_request,
    pushed_commits_are_listed_oldest_first,
    commits_of_the_target_are_summed_up,
    the_calls_on_files_are_pushes,
    closed_and_merged_requests_keep_their_status,
);

/// The address of the repository, with the password of `master`.
pub fn push_url(forge: &Forge, fixture: &ProjectFixture) -> String {
    format!("http://master:{}@{}/ada/ship.git", fixture.token("master"), forge.address)
}

/// The number of versions of a request, and the newest one.
#[track_caller]
pub fn newest_version(forge: &Forge, request: &Value) -> (usize, Value) {
    let path = format!("{}/versions", path_of_request(request));
    let versions = forge.get(&path).token(ROOT).send().expect(200);
    let versions = versions.as_array().expect("a list");
    (versions.len(), versions[0].clone())
}

/// Rows 2, 6 and 7.
fn commits_on_the_source_branch_are_noted(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let old = made["sha"].as_str().expect("an id").to_owned();
    let new = commit_file(forge, &fixture, "feature/x", "b", "b\n");
    assert_eq!(request_now(forge, &made)["sha"], new);
    let (_, version) = newest_version(forge, &made);
    let page = "http://forge.test/ada/ship/merge_requests/1";
    let link = |version: &Value, old: &str| {
        format!(
            "[Compare with previous version]({page}/diffs?diff_id={}&start_sha={old})",
            id_of(version)
        )
    };
    let first = format!("added 1 commit\n\n* {} - Change\n\n{}", &new[..8], link(&version, &old));
    assert_eq!(request_notes(forge, &made), std::slice::from_ref(&first));
    // Commits that the target has already are summed up.
    let tree = &fixture.tree;
    let address = push_url(forge, &fixture);
    tree.git(&["fetch", "-q", &address, "feature/x:fetched"]);
    tree.git(&["checkout", "-q", "fetched"]);
    tree.git(&["merge", "-q", "--no-edit", "-m", "Update <it>", "master"]);
    tree.git(&["push", "-q", &address, "HEAD:feature/x"]);
    let merged = tree.git(&["rev-parse", "HEAD"]);
    let master = fixture.id("master");
    let (_, version) = newest_version(forge, &made);
    let second = format!(
        "added 3 commits\n\n* {}...{} - 2 commits from branch `master`\n\
         * {} - Update &lt;it&gt;\n\n{}",
        &new[..8],
        &master[..8],
        &merged[..8],
        link(&version, &new)
    );
    assert_eq!(request_notes(forge, &made), [first, second]);
    do_tasks(forge);
    assert_eq!(request_notes(forge, &made).len(), 2, "the queued task has nothing to do");
    assert_eq!(newest_version(forge, &made).0, 3);
    assert!(!actions(forge, &fixture).contains(&"commented on".to_owned()));
}

/// Section 9.1, rows 4 and 5.
fn a_removed_source_branch_leaves_the_request_open(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let path = format!("{}/feature%2Fx", fixture.branches);
    forge.delete(&path).token(ROOT).send().expect(200);
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["sha"]), (&json!("opened"), &Value::Null));
    assert_eq!(
        merge(forge, ROOT, &made, &json!({})).expect(405),
        message("405 Method Not Allowed")
    );
    let changes = format!("{}/changes", path_of_request(&made));
    assert_eq!(forge.get(&changes).token(ROOT).send().expect(200)["changes"], json!([]));
    new_branch(forge, &fixture, "feature/x", made["sha"].as_str().expect("an id"));
    assert_eq!(request_now(forge, &made)["sha"], made["sha"]);
    let notes = request_notes(forge, &made);
    assert_eq!(
        notes[..2],
        ["deleted source branch `feature/x`", "restored source branch `feature/x`"]
    );
    assert!(notes[2].starts_with("added 1 commit\n\n* "), "{notes:?}");
    merge(forge, ROOT, &made, &json!({})).expect(200);
}

/// Row 3 and section 9.2.
fn a_push_to_the_target_resets_the_status(forge: &Forge) {
    let fixture = filled_fixture(forge);
    new_branch(forge, &fixture, "stable", "master");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "stable"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let check = || merge(forge, ROOT, &made, &json!({"sha": "wrong"})).expect(409);
    check();
    assert_eq!(request_now(forge, &made)["merge_status"], "can_be_merged");
    let updated = request_now(forge, &made)["updated_at"].clone();
    commit_file(forge, &fixture, "stable", "more", "x");
    let now = request_now(forge, &made);
    assert_eq!((&now["merge_status"], &now["updated_at"]), (&json!("unchecked"), &updated));
    do_tasks(forge);
    assert_eq!(newest_version(forge, &made).0, 1);
    check();
    forge.delete(&format!("{}/stable", fixture.branches)).token(ROOT).send().expect(200);
    assert_eq!(request_now(forge, &made)["merge_status"], "unchecked");
    do_tasks(forge);
    assert_eq!(newest_version(forge, &made).0, 1);
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
}

/// Section 9.3.
fn a_push_of_the_head_merges_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "description": "Fixes #1"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["merge", "-q", "--no-edit", "-m", "By hand", "feature/x"]);
    tree.git(&["push", "-q", &push_url(forge, &fixture), "master"]);
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["merge_commit_sha"]), (&json!("merged"), &Value::Null));
    assert_eq!(now["sha"], made["sha"]);
    assert_eq!(request_notes(forge, &made), ["merged"]);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "closed");
    let expected = ["mentioned in merge request !1", "closed via merge request !1"];
    assert_eq!(note_bodies(forge, ROOT, &issue), expected);
    assert!(actions(forge, &fixture)[..3].contains(&"accepted".to_owned()));
    do_tasks(forge);
    assert_eq!(request_now(forge, &made), now);
}

/// Row 3.
fn a_forced_push_to_the_target_makes_a_version(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["push", "-q", "-f", &push_url(forge, &fixture), "master~1:master"]);
    do_tasks(forge);
    let (count, version) = newest_version(forge, &made);
    assert_eq!(
        (count, &version["start_commit_sha"]),
        (2, &json!(tree.git(&["rev-parse", "master~1"])))
    );
    do_tasks(forge);
    assert_eq!(newest_version(forge, &made).0, 2);
}

/// PUT /projects/:id/merge_requests/:merge_request_id
fn closed_requests_are_not_touched(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let closed = put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    commit_file(forge, &fixture, "feature/x", "b", "b\n");
    do_tasks(forge);
    assert_eq!(request_now(forge, &made), closed);
    assert_eq!(request_notes(forge, &made), ["closed"]);
}

/// More requests than one push refreshes itself: the queued task does the rest.
fn many_requests_of_a_branch_are_refreshed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made: Vec<Value> = (0..8)
        .map(|number| {
            let target = format!("target{number}");
            new_branch(forge, &fixture, &target, "master");
            let fields =
                json!({"title": "t", "source_branch": "feature/x", "target_branch": target});
            post_request(forge, &fixture, "developer", &fields).expect(201)
        })
        .collect();
    let new = commit_file(forge, &fixture, "feature/x", "b", "b\n");
    do_tasks(forge);
    for request in &made {
        assert_eq!(request_now(forge, request)["sha"], new);
        assert_eq!(request_notes(forge, request).len(), 1);
    }
}

/// Rows 2, 5 and 6: a request that was made before its source branch.
fn a_new_source_branch_fills_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "later", "t");
    assert_eq!(made["sha"], Value::Null);
    assert_eq!(newest_version(forge, &made).1["state"], "empty");
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "-b", "later", "master"]);
    let head = tree.write("later", "x\n").commit("Later");
    tree.git(&["push", "-q", &push_url(forge, &fixture), "later"]);
    assert_eq!(request_now(forge, &made)["sha"], head);
    let notes = request_notes(forge, &made);
    assert_eq!((notes.len(), &*notes[0]), (2, "restored source branch `later`"));
    let added = format!("added 1 commit\n\n* {} - Later\n\n", &head[..8]);
    assert!(notes[1].starts_with(&added), "{notes:?}");
    let (count, version) = newest_version(forge, &made);
    assert_eq!((count, &version["head_commit_sha"]), (2, &json!(head)));
    let commits = format!("{}/commits", path_of_request(&made));
    assert_eq!(forge.get(&commits).token(ROOT).send().expect(200)[0]["id"], head);
    merge(forge, ROOT, &made, &json!({})).expect(200);
}

/// The note without its link.
#[track_caller]
fn without_link(note: &str) -> &str {
    let (text, link) = note.split_once("\n\n[Compare with previous version](").expect("a link");
    assert!(link.ends_with(')'), "{note}");
    text
}

/// Row 6: section 11.3, "then one per new commit, oldest first".
fn pushed_commits_are_listed_oldest_first(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "feature/x"]);
    let ids = ["A", "B & C"].map(|title| tree.write(&title[..1], title).commit(title));
    tree.git(&["push", "-q", &push_url(forge, &fixture), "feature/x"]);
    let expected =
        format!("added 2 commits\n\n* {} - A\n* {} - B &amp; C", &ids[0][..8], &ids[1][..8]);
    assert_eq!(without_link(&request_notes(forge, &made)[0]), expected);
    // A forced push has only the commits that the old tip lacks.
    tree.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let other = tree.write("D", "d").commit("D");
    tree.git(&["push", "-q", "-f", &push_url(forge, &fixture), "feature/x"]);
    let expected = format!("added 1 commit\n\n* {} - D", &other[..8]);
    assert_eq!(without_link(&request_notes(forge, &made)[1]), expected);
}

/// Row 6: section 11.3, "pushed commits that the target already has, in one line first".
fn commits_of_the_target_are_summed_up(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (tree, address) = (&fixture.tree, push_url(forge, &fixture));
    let (two, three) = (fixture.id("master~1"), fixture.id("master"));
    tree.git(&["checkout", "-q", "-b", "behind", &two]);
    let own = tree.write("own", "x\n").commit("Own");
    tree.git(&["push", "-q", &address, "behind"]);
    let made = new_request(forge, &fixture, "behind", "t");
    tree.git(&["merge", "-q", "--no-edit", "-m", "Update", "master"]);
    let merged = tree.git(&["rev-parse", "HEAD"]);
    tree.git(&["push", "-q", &address, "behind"]);
    let expected = format!(
        "added 2 commits\n\n* {} - 1 commit from branch `master`\n* {} - Update",
        &three[..8],
        &merged[..8]
    );
    assert_eq!(without_link(&request_notes(forge, &made)[0]), expected);
    assert_eq!(request_now(forge, &made)["sha"], merged);
    assert_ne!(own, merged);
    // Nothing but commits of the target.
    let first = fixture.id("v1.0.0");
    new_branch(forge, &fixture, "old", &first);
    let made = new_request(forge, &fixture, "old", "t");
    tree.git(&["push", "-q", &address, "master:old"]);
    let expected = format!(
        "added 2 commits\n\n* {}...{} - 2 commits from branch `master`",
        &first[..8],
        &three[..8]
    );
    assert_eq!(without_link(&request_notes(forge, &made)[0]), expected);
}

/// Section 9, "by git, by the calls on branches and files".
fn the_calls_on_files_are_pushes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let files = format!("{}/repository/files", fixture.cast.path);
    let mut old = made["sha"].as_str().expect("an id").to_owned();
    let mut seen = 0;
    for method in ["POST", "PUT", "DELETE", "pick"] {
        merge(forge, ROOT, &made, &json!({"sha": "wrong"})).expect(409);
        let token = fixture.token("developer");
        let answer = if method == "pick" {
            let two = fixture.id("master");
            let path = format!("{}/repository/commits/{two}/cherry_pick", fixture.cast.path);
            let ours = json!({"action": "update", "file_path": "README", "content": "two\n"});
            let body = json!({"branch_name": "feature/x", "commit_message": "Ready",
                "actions": [ours]});
            let commits = format!("{}/repository/commits", fixture.cast.path);
            forge.post(&commits).token(token).json(&body).send().expect(201);
            seen += 1;
            old = request_now(forge, &made)["sha"].as_str().expect("an id").to_owned();
            forge.post(&path).token(token).form(&[("branch", "feature/x")]).send()
        } else {
            let body = json!({"file_path": "file", "branch_name": "feature/x",
                "content": method, "commit_message": method});
            forge.request(method, &files).token(token).json(&body).send()
        };
        assert!([200, 201].contains(&answer.status), "{method}: {}", answer.text());
        seen += 1;
        let now = request_now(forge, &made);
        let new = now["sha"].as_str().expect("an id").to_owned();
        assert_ne!(new, old, "{method}");
        assert_eq!(now["merge_status"], "unchecked", "{method}");
        let title = if method == "pick" { "Three" } else { method };
        let notes = request_notes(forge, &made);
        assert_eq!(notes.len(), seen, "{method}");
        let expected = format!("added 1 commit\n\n* {} - {title}", &new[..8]);
        assert_eq!(without_link(&notes[seen - 1]), expected);
        assert!(notes[seen - 1].ends_with(&format!("start_sha={old})")), "{notes:?}");
        old = new;
    }
    assert_eq!(newest_version(forge, &made).0, seen + 1);
}

/// Section 9, "Closed and merged ones are never touched".
fn closed_and_merged_requests_keep_their_status(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let closed = new_request(forge, &fixture, "feature/x", "t");
    merge(forge, ROOT, &closed, &json!({"sha": "wrong"})).expect(409);
    let closed = put_request(forge, ROOT, &closed, &json!({"state_event": "close"})).expect(200);
    assert_eq!(closed["merge_status"], "can_be_merged");
    new_branch(forge, &fixture, "other", "master");
    commit_file(forge, &fixture, "other", "other", "x\n");
    let merged = new_request(forge, &fixture, "other", "t");
    let merged = merge(forge, ROOT, &merged, &json!({})).expect(200);
    // Forced, so that open requests would get a version.
    fixture.tree.git(&["push", "-q", "-f", &push_url(forge, &fixture), "master~1:master"]);
    do_tasks(forge);
    for request in [&closed, &merged] {
        let now = request_now(forge, request);
        assert_eq!(
            (&now["state"], &now["merge_status"]),
            (&request["state"], &json!("can_be_merged"))
        );
        assert_eq!(newest_version(forge, request).0, 1);
    }
    // A push of its head does not merge a closed request.
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["merge", "-q", "--no-edit", "-m", "By hand", "feature/x"]);
    tree.git(&["push", "-q", "-f", &push_url(forge, &fixture), "master"]);
    do_tasks(forge);
    assert_eq!(request_now(forge, &closed)["state"], "closed");
    assert_eq!(request_notes(forge, &closed), ["closed"]);
}
