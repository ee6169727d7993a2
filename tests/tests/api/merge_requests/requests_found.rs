//! Requests that a push merges or moves in part: merge_requests.md sections 9 rows 1 and 3, and 9.3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_pushes::{newest_version, push_url};
use super::requests_support::{
    actions, new_request, path_of_request, post_request, request_notes, request_now,
};
use crate::api::repositories::commits_support::tip;
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, filled_fixture, new_branch,
};

on_every_store!(
    a_fast_forward_merges_the_request,
    a_push_that_goes_further_merges_the_request,
    the_pusher_is_the_acting_user,
    one_push_of_both_branches_merges_the_request,
    a_push_of_a_head_that_is_not_refreshed_yet_merges_the_request,
    a_new_target_branch_merges_nothing,
    a_squash_and_a_pick_merge_nothing,
    more_requests_than_a_push_marks_are_merged,
    own_commits_are_not_told,
    a_push_of_some_of_the_commits_makes_a_version,
);

/// A request from the new branch `ahead`, which has one commit more than `master`.
fn ahead(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "-b", "ahead", "master"]);
    tree.write("ahead", "x\n").commit("Ahead");
    tree.git(&["push", "-q", &push_url(forge, fixture), "ahead"]);
    new_request(forge, fixture, "ahead", "t")
}

#[track_caller]
fn assert_found_merged(forge: &Forge, fixture: &ProjectFixture, request: &Value) {
    let now = request_now(forge, request);
    assert_eq!((&now["state"], &now["merge_commit_sha"]), (&json!("merged"), &Value::Null));
    assert_eq!((&now["sha"], &now["updated_at"]), (&request["sha"], &request["updated_at"]));
    assert_eq!(request_notes(forge, request), ["merged"]);
    let source = request["source_branch"].as_str().expect("a name").replace('/', "%2F");
    assert_eq!(request["sha"], tip(forge, fixture, &source), "the source branch stays");
    do_tasks(forge);
    assert_eq!(request_now(forge, request), now);
    assert_eq!(newest_version(forge, request).0, 1);
}

/// Section 9.3: a fast-forward.
fn a_fast_forward_merges_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = ahead(forge, &fixture);
    fixture.tree.git(&["push", "-q", &push_url(forge, &fixture), "ahead:master"]);
    assert_found_merged(forge, &fixture, &made);
}

/// Section 9.3: a push that goes further.
fn a_push_that_goes_further_merges_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = ahead(forge, &fixture);
    let tree = &fixture.tree;
    tree.write("further", "x\n").commit("Further");
    tree.git(&["push", "-q", &push_url(forge, &fixture), "HEAD:master"]);
    assert_found_merged(forge, &fixture, &made);
}

/// Section 9.3, "with the pusher as the acting user", and section 17.
fn the_pusher_is_the_acting_user(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = ahead(forge, &fixture);
    fixture.tree.git(&["push", "-q", &push_url(forge, &fixture), "ahead:master"]);
    let events = format!("{}/events?per_page=2", fixture.cast.path);
    let events = forge.get(&events).token(ROOT).send().expect(200);
    let accepted = events.as_array().expect("a list").iter();
    let accepted: Vec<&Value> =
        accepted.filter(|event| event["action_name"] == "accepted").collect();
    assert_eq!(accepted.len(), 1);
    assert_eq!(
        (&accepted[0]["author_username"], &accepted[0]["target_id"]),
        (&json!("master"), &made["id"])
    );
    let notes = format!("{}/notes", path_of_request(&made));
    let notes = forge.get(&notes).token(ROOT).send().expect(200);
    assert_eq!(
        (&notes[0]["body"], &notes[0]["author"]["username"]),
        (&json!("merged"), &json!("master"))
    );
}

/// Rewrites the commit of `feature/x` on top of `master`, and returns its id. `master` has it too, locally.
fn rebase(fixture: &ProjectFixture) -> String {
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "feature/x"]);
    tree.git(&["rebase", "-q", "master"]);
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["merge", "-q", "--ff-only", "feature/x"]);
    tree.git(&["rev-parse", "HEAD"])
}

/// Rows 1 and 2 for a push of two branches: the push of the source branch comes first.
fn one_push_of_both_branches_merges_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let head = rebase(&fixture);
    let address = push_url(forge, &fixture);
    fixture.tree.git(&["push", "-q", "-f", &address, "feature/x", "master"]);
    do_tasks(forge);
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["sha"]), (&json!("merged"), &json!(head)));
    assert_eq!(newest_version(forge, &made).0, 2);
    assert_eq!(request_notes(forge, &made).last().map(String::as_str), Some("merged"));
}

/// Rows 1 and 2: the target branch is pushed before the task has refreshed the request.
fn a_push_of_a_head_that_is_not_refreshed_yet_merges_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    // So many requests are refreshed by the queued task only.
    for number in 0..5 {
        let target = format!("target{number}");
        let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": target});
        post_request(forge, &fixture, "developer", &fields).expect(201);
    }
    let (head, address) = (rebase(&fixture), push_url(forge, &fixture));
    fixture.tree.git(&["push", "-q", "-f", &address, "feature/x"]);
    fixture.tree.git(&["push", "-q", &address, "master"]);
    assert_eq!(request_now(forge, &made)["sha"], made["sha"], "the task has not run");
    do_tasks(forge);
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["sha"]), (&json!("merged"), &json!(head)));
}

/// Row 1, "nothing when `B` is new or removed".
fn a_new_target_branch_merges_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "new"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    fixture.tree.git(&["push", "-q", &push_url(forge, &fixture), "feature/x:refs/heads/new"]);
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["state"], "opened");
    forge.delete(&format!("{}/new", fixture.branches)).token(ROOT).send().expect(200);
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["state"], "opened");
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
    assert!(!actions(forge, &fixture).contains(&"accepted".to_owned()));
}

/// Section 9.3, "A squash or a cherry-pick is not recognised".
fn a_squash_and_a_pick_merge_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let (tree, address) = (&fixture.tree, push_url(forge, &fixture));
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["merge", "-q", "--squash", "feature/x"]);
    tree.commit("Squashed");
    tree.git(&["push", "-q", &address, "master"]);
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["state"], "opened");
    tree.git(&["reset", "-q", "--hard", "HEAD~1"]);
    tree.git(&["cherry-pick", "feature/x"]);
    tree.git(&["push", "-q", "-f", &address, "master"]);
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["state"], "opened");
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
}

/// Section 9.3, "Several requests may be found at once": more than the transaction of the push marks itself.
fn more_requests_than_a_push_marks_are_merged(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let mut made = vec![new_request(forge, &fixture, "feature/x", "t")];
    for number in 0..24 {
        let source = format!("copy{number}");
        new_branch(forge, &fixture, &source, "feature/x");
        made.push(new_request(forge, &fixture, &source, "t"));
    }
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["merge", "-q", "--no-edit", "-m", "By hand", "feature/x"]);
    tree.git(&["push", "-q", &push_url(forge, &fixture), "master"]);
    do_tasks(forge);
    for request in &made {
        let now = request_now(forge, request);
        assert_eq!((&now["state"], &now["merge_commit_sha"]), (&json!("merged"), &Value::Null));
        assert_eq!(request_notes(forge, request), ["merged"]);
    }
    let accepted = actions(forge, &fixture).iter().filter(|action| *action == "accepted").count();
    assert_eq!(accepted, 25);
}

/// Section 14, "Own commits are not told": neither by the push to the source branch nor by the merging one.
fn own_commits_are_not_told(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let (tree, address) = (&fixture.tree, push_url(forge, &fixture));
    tree.git(&["checkout", "-q", "feature/x"]);
    tree.write("more", "x\n").commit("For !1");
    tree.git(&["push", "-q", &address, "feature/x"]);
    assert_eq!(request_notes(forge, &made).len(), 1, "only the added commit");
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["merge", "-q", "--no-edit", "-m", "Merge !1", "feature/x"]);
    tree.git(&["push", "-q", &address, "master"]);
    do_tasks(forge);
    let notes = request_notes(forge, &made);
    assert!(!notes.iter().any(|note| note.starts_with("mentioned")), "{notes:?}");
    assert_eq!(request_now(forge, &made)["state"], "merged");
    // Other commits are told.
    let other = tree.write("other", "x\n").commit("After !1");
    tree.git(&["push", "-q", &address, "master"]);
    let expected = format!("mentioned in commit {other}");
    assert_eq!(request_notes(forge, &made).last(), Some(&expected));
}

/// Row 3 and section 8.3: "brings some but not the last of its commits".
fn a_push_of_some_of_the_commits_makes_a_version(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (tree, address) = (&fixture.tree, push_url(forge, &fixture));
    tree.git(&["checkout", "-q", "feature/x"]);
    let last = tree.write("last", "x\n").commit("Last");
    tree.git(&["push", "-q", &address, "feature/x"]);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let titles = || {
        let path = format!("{}/commits", path_of_request(&made));
        let commits = forge.get(&path).token(ROOT).send().expect(200);
        let commits = commits.as_array().expect("a list").iter();
        commits.map(|commit| commit["title"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(), ["Last", "Beside"]);
    tree.git(&["checkout", "-q", "master"]);
    tree.git(&["merge", "-q", "--no-edit", "-m", "In part", "feature/x~1"]);
    tree.git(&["push", "-q", &address, "master"]);
    do_tasks(forge);
    let (count, version) = newest_version(forge, &made);
    assert_eq!((count, &version["head_commit_sha"]), (2, &json!(last)));
    assert_eq!(version["base_commit_sha"], fixture.id("feature/x~1"));
    assert_eq!(version["start_commit_sha"], fixture.id("master"));
    assert_eq!(titles(), ["Last"]);
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["merge_status"]), (&json!("opened"), &json!("unchecked")));
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
}
