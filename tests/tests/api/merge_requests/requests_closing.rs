//! Issues that a merge closes: merge_requests.md section 14.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, on_every_store};
use serde_json::{Value, json};

use super::requests_fork_support::forked;
use super::requests_support::{commit_file, merge, path_of_request, post_request, request_notes};
use crate::api::groups::group_support::{add_member, new_project, path_of_project};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::repositories::commits_support::post_body;
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture, new_branch};
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{issue_now, new_issue, note_bodies};

on_every_store!(
    commits_of_the_request_close_issues_once,
    issues_of_other_projects_are_closed,
    titles_and_notes_close_nothing,
    another_target_than_the_default_branch_closes_nothing,
    only_who_may_update_the_issue_closes_it,
    switched_off_issues_stay_as_they_are,
    issues_of_the_origin_stay_open,
);

/// A request from `feature/x` into `master` with this description.
#[track_caller]
fn request_with(forge: &Forge, fixture: &ProjectFixture, description: &str) -> Value {
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "description": description});
    post_request(forge, fixture, "developer", &fields).expect(201)
}

/// Adds a commit with this message to a branch.
#[track_caller]
fn commit_with(forge: &Forge, fixture: &ProjectFixture, branch: &str, text: &str) -> String {
    let file = json!({"action": "create", "file_path": format!("in-{branch}"), "content": "x\n"});
    let body = json!({"branch_name": branch, "commit_message": text, "actions": [file]});
    let made = post_body(forge, fixture, "developer", &body).expect(201);
    made["id"].as_str().expect("an id").to_owned()
}

/// The message of a commit closes an issue under the name of the request, once.
fn commits_of_the_request_close_issues_once(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = &fixture.cast.path;
    let issues = ["one", "two"].map(|title| new_issue(forge, ROOT, path, title, &[]));
    let id = commit_with(forge, &fixture, "feature/x", "Work\n\nFixes #2");
    let made = request_with(forge, &fixture, "Closes #1 and #2");
    let receiver = Receiver::new();
    hook_of(forge, path, &receiver.url("/"), &[("issues_events", "true")]);
    clear_outbox(forge);
    merge(forge, fixture.token("master"), &made, &json!({})).expect(200);
    let told = deliver_payloads(forge, &receiver);
    let told: Vec<_> = told
        .iter()
        .map(|payload| {
            let row = &payload["object_attributes"];
            (row["iid"].clone(), row["action"].clone(), payload["user"]["username"].clone())
        })
        .collect();
    let close = |iid: i64| (json!(iid), json!("close"), json!("master"));
    assert_eq!(told, [close(1), close(2)]);
    for issue in &issues {
        assert_eq!(issue_now(forge, ROOT, issue)["state"], "closed");
    }
    let closed = "closed via merge request !1".to_owned();
    let mentioned = "mentioned in merge request !1".to_owned();
    assert_eq!(note_bodies(forge, ROOT, &issues[0]), [mentioned.clone(), closed.clone()]);
    let expected = [format!("mentioned in commit {id}"), mentioned, closed];
    assert_eq!(note_bodies(forge, ROOT, &issues[1]), expected);
    let events = forge.get(&format!("{path}/events?per_page=100")).token(ROOT).send().expect(200);
    let events = events.as_array().expect("a list").iter();
    let closed: Vec<_> = events
        .filter(|event| event["action_name"] == "closed")
        .map(|event| (event["target_type"].clone(), event["author_username"].clone()))
        .collect();
    assert_eq!(closed, [(json!("Issue"), json!("master")), (json!("Issue"), json!("master"))]);
    assert_eq!(request_notes(forge, &made), ["merged"]);
}

/// From another project the request is named with its path.
fn issues_of_other_projects_are_closed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let other = new_project(forge, fixture.token("owner"), "Other", &[]);
    let path = path_of_project(&other);
    let issue = new_issue(forge, ROOT, &path, "an issue", &[]);
    let developer = forge.get("/user").token(fixture.token("developer")).send().expect(200);
    add_member(forge, &path, id_of(&developer), 30, &[]);
    let made = request_with(forge, &fixture, "Resolves ada/other#1");
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "closed");
    let expected = ["mentioned in merge request ada/ship!1", "closed via merge request ada/ship!1"];
    assert_eq!(note_bodies(forge, ROOT, &issue), expected);
}

/// Neither the title nor notes are looked at.
fn titles_and_notes_close_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let fields = json!({"title": "Closes #1", "source_branch": "feature/x",
        "target_branch": "master"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let notes = format!("{}/notes", path_of_request(&made));
    forge.post(&notes).token(ROOT).form(&[("body", "Fixes #1")]).send().expect(201);
    merge(forge, ROOT, &made, &json!({"merge_commit_message": "Merged"})).expect(200);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "opened");
    assert_eq!(note_bodies(forge, ROOT, &issue), ["mentioned in merge request !1"]);
    // The default message repeats the title, which closes nothing either.
    new_branch(forge, &fixture, "other", "master");
    commit_file(forge, &fixture, "other", "other", "x\n");
    let fields = json!({"title": "Closes #1", "source_branch": "other",
        "target_branch": "master"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    merge(forge, ROOT, &made, &json!({})).expect(200);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "opened");
}

/// Only merges into the default branch close issues.
fn another_target_than_the_default_branch_closes_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    new_branch(forge, &fixture, "stable", "master");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "stable",
        "description": "Closes #1"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let merged = merge(forge, ROOT, &made, &json!({})).expect(200);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "opened");
    // The merge commit repeats the description, so it names the issue like any pushed commit.
    let id = merged["merge_commit_sha"].as_str().expect("an id");
    let expected =
        ["mentioned in merge request !1".to_owned(), format!("mentioned in commit {id}")];
    assert_eq!(note_bodies(forge, ROOT, &issue), expected);
}

/// "each such issue that the acting user may update": the author of the request could, the merger could not.
fn only_who_may_update_the_issue_closes_it(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let other = new_project(forge, fixture.token("owner"), "Other", &[("visibility_level", "20")]);
    let path = path_of_project(&other);
    let issue = new_issue(forge, ROOT, &path, "an issue", &[]);
    let made = request_with(forge, &fixture, "Closes ada/other#1");
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "opened");
    assert_eq!(note_bodies(forge, ROOT, &issue), ["mentioned in merge request ada/ship!1"]);
}

/// Section 15: without issues nothing is closed or mentioned.
fn switched_off_issues_stay_as_they_are(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let switch = |value: &str| {
        let form = [("name", "Ship"), ("issues_enabled", value)];
        forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
    };
    switch("false");
    let made = request_with(forge, &fixture, "Closes #1");
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
    switch("true");
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "opened");
    assert_eq!(note_bodies(forge, ROOT, &issue), Vec::<String>::new());
}

/// "Not issues of the project the target was forked from", also when the merge commit repeats the description.
fn issues_of_the_origin_stay_open(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let fields = json!({"title": "t", "source_branch": "topic", "target_branch": "master",
        "description": "Closes ada/ship#1"});
    let path = format!("{}/merge_requests", path_of_project(&fork));
    let made = forge.post(&path).token(ROOT).json(&fields).send().expect(201);
    let closes = format!("{}/closes_issues", path_of_request(&made));
    assert_eq!(forge.get(&closes).token(ROOT).send().expect(200), json!([]));
    merge(forge, ROOT, &made, &json!({})).expect(200);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "opened");
    let notes = note_bodies(forge, ROOT, &issue);
    assert!(!notes.iter().any(|note| note.starts_with("closed")), "{notes:?}");
}
