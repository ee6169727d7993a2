//! Events of branches and tags that are created or removed through the API: reference sections 6.2, 6.3, 9.1 and 9.2.

use hexforge_domain::outbox::SystemEvent;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::activity_in;
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture, new_branch, new_tag};
use crate::api::support::queued_events;

on_every_store!(
    a_new_branch_tells_what_the_default_branch_has_not,
    only_the_newest_twenty_commits_are_told,
    a_removed_branch_tells_where_it_was,
    tags_tell_the_commit_that_they_name,
    a_removed_tag_tells_the_commit_it_led_to,
    each_change_is_told_once_and_refusals_never,
);

const ZEROS: &str = "0000000000000000000000000000000000000000";

/// The payload of a push by `developer`.
fn push_payload(fixture: &ProjectFixture, kind: &str, reference: &str, more: Value) -> Value {
    let project = json!({
        "name": "Ship", "description": null, "web_url": "http://forge.test/ada/ship",
        "avatar_url": null, "git_ssh_url": "ssh://git@forge.test:2222/ada/ship.git",
        "git_http_url": "http://forge.test/ada/ship.git", "namespace": "ada",
        "visibility_level": 0, "path_with_namespace": "ada/ship", "default_branch": "master",
        "homepage": "http://forge.test/ada/ship",
        "url": "ssh://git@forge.test:2222/ada/ship.git",
        "ssh_url": "ssh://git@forge.test:2222/ada/ship.git",
        "http_url": "http://forge.test/ada/ship.git"
    });
    let repository = json!({
        "name": "Ship", "url": "ssh://git@forge.test:2222/ada/ship.git", "description": null,
        "homepage": "http://forge.test/ada/ship",
        "git_http_url": "http://forge.test/ada/ship.git",
        "git_ssh_url": "ssh://git@forge.test:2222/ada/ship.git", "visibility_level": 0
    });
    let commits = more["commits"].clone();
    json!({
        "object_kind": kind, "event_name": kind, "before": more["before"],
        "after": more["after"], "ref": reference, "checkout_sha": more["checkout_sha"],
        "message": more["message"], "user_id": more["user_id"], "user_name": "developer",
        "user_email": "developer@example.com", "user_avatar": more["user_avatar"],
        "project_id": fixture.project(), "project": project, "commits": commits,
        "total_commits_count": more["total"], "repository": repository
    })
}

/// The newest event in the feed of the project.
fn newest_event(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let path = format!("{}/events?per_page=1", fixture.cast.path);
    forge.get(&path).token(ROOT).send().expect(200)[0].clone()
}

/// Asserts the newest event in the feed and in the outbox.
#[track_caller]
fn assert_newest_event(
    forge: &Forge,
    fixture: &ProjectFixture,
    action: &str,
    kind: &str,
    reference: &str,
    mut more: Value,
) {
    let event = newest_event(forge, fixture);
    assert_eq!(event["action_name"], action);
    assert_eq!(event["author_username"], "developer");
    for field in ["title", "target_id", "target_type", "target_title"] {
        assert_eq!(event[field], Value::Null, "{field}");
    }
    more["user_id"] = event["author_id"].clone();
    more["user_avatar"] = event["author"]["avatar_url"].clone();
    let expected = push_payload(fixture, kind, reference, more);
    assert_eq!(event["data"].to_string(), expected.to_string());
    // The outbox has the same facts.
    let Some(SystemEvent::Pushed(push)) = queued_events(forge).pop() else { panic!("no push") };
    assert_eq!(push.reference, reference);
    assert_eq!(json!(push.before.to_string()), expected["before"]);
    assert_eq!(json!(push.after.to_string()), expected["after"]);
    assert_eq!(json!(push.checkout.map(|id| id.to_string())), expected["checkout_sha"]);
    assert_eq!(json!(push.message), expected["message"]);
    assert_eq!(json!(push.user.id.0), expected["user_id"]);
    assert_eq!(json!(push.project.id.0), expected["project_id"]);
    assert_eq!(json!(push.total_commits), expected["total_commits_count"]);
    let ids: Vec<String> = push.commits.iter().map(|commit| commit.id.to_string()).collect();
    let told: Vec<&str> = expected["commits"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|c| c["id"].as_str())
        .collect();
    assert_eq!(ids, told);
}

/// A commit in the payload of a push.
fn commit_payload(
    fixture: &ProjectFixture,
    revision: &str,
    message: &str,
    paths: [&[&str]; 3],
) -> Value {
    let id = fixture.id(revision);
    let time = fixture.tree.git_bare(&["log", "-1", "--format=%cI", &id]);
    json!({
        "id": id, "message": message, "timestamp": time,
        "url": format!("http://forge.test/ada/ship/commit/{id}"),
        "author": {"name": "Ada", "email": "ada@example.com"},
        "added": paths[0], "modified": paths[1], "removed": paths[2]
    })
}

/// POST /projects/:id/repository/branches, GET /projects/:id/events
fn a_new_branch_tells_what_the_default_branch_has_not(forge: &Forge) {
    let fixture = filled_fixture(forge);
    new_branch(forge, &fixture, "new/one", "master~1");
    let tip = fixture.id("master~1");
    let more = json!({
        "before": ZEROS, "after": tip, "checkout_sha": tip, "message": null, "commits": [],
        "total": 0
    });
    assert_newest_event(forge, &fixture, "pushed new", "push", "refs/heads/new/one", more);
    new_branch(forge, &fixture, "new/two", "feature/x");
    let tip = fixture.id("feature/x");
    let more = json!({
        "before": ZEROS, "after": tip, "checkout_sha": tip, "message": null,
        "commits": [commit_payload(&fixture, "feature/x", "Beside\n", [&["x"], &[], &[]])], "total": 1
    });
    assert_newest_event(forge, &fixture, "pushed new", "push", "refs/heads/new/two", more);
}

/// POST /projects/:id/repository/branches
fn only_the_newest_twenty_commits_are_told(forge: &Forge) {
    let fixture = filled_fixture(forge);
    fixture.tree.git(&["checkout", "-q", "-b", "long"]);
    for number in 0..25 {
        fixture.tree.write("n", number.to_string()).commit(&format!("Number {number}"));
    }
    // A rename counts as an addition. Changes of a merge are relative to its first parent.
    fixture.tree.git(&["mv", "n", "m"]);
    fixture.tree.git(&["rm", "-q", "docs/a"]);
    fixture.tree.commit("Move");
    fixture.tree.git(&["merge", "-q", "--no-ff", "-m", "Merge", "feature/x"]);
    forge.fill(fixture.project(), &fixture.tree);
    new_branch(forge, &fixture, "copy", "long");
    let data = newest_event(forge, &fixture)["data"].clone();
    assert_eq!(data["total_commits_count"], 28);
    let commits = data["commits"].as_array().expect("a list");
    let messages: Vec<&str> = commits.iter().filter_map(|c| c["message"].as_str()).collect();
    let mut expected: Vec<String> = (7..25).map(|number| format!("Number {number}\n")).collect();
    expected.extend(["Move\n".to_owned(), "Merge\n".to_owned()]);
    assert_eq!(messages, expected);
    assert_eq!(
        commits[18],
        commit_payload(&fixture, "long~1", "Move\n", [&["m"], &[], &["docs/a"]])
    );
    assert_eq!(commits[19], commit_payload(&fixture, "long", "Merge\n", [&["x"], &[], &[]]));
    assert_eq!(commits[0], commit_payload(&fixture, "long~19", "Number 7\n", [&[], &["n"], &[]]));
}

/// DELETE /projects/:id/repository/branches/:branch
fn a_removed_branch_tells_where_it_was(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let tip = fixture.id("feature/x");
    let path = format!("{}/feature/x", fixture.branches);
    forge.delete(&path).token(fixture.token("developer")).send().expect(200);
    let more = json!({
        "before": tip, "after": ZEROS, "checkout_sha": null, "message": null, "commits": [],
        "total": 0
    });
    assert_newest_event(forge, &fixture, "deleted", "push", "refs/heads/feature/x", more);
}

/// POST /projects/:id/repository/tags
fn tags_tell_the_commit_that_they_name(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let two = fixture.id("master~1");
    let commit = commit_payload(&fixture, "master~1", "Two\n", [&["docs/a"], &["README"], &[]]);
    new_tag(forge, &fixture, &[("tag_name", "light"), ("ref", "master~1")]);
    let more = json!({
        "before": ZEROS, "after": two, "checkout_sha": two, "message": null,
        "commits": [commit], "total": 1
    });
    assert_newest_event(forge, &fixture, "pushed new", "tag_push", "refs/tags/light", more);
    new_tag(forge, &fixture, &[("tag_name", "heavy"), ("ref", "master~1"), ("message", "Heavy")]);
    let object = fixture.id("refs/tags/heavy");
    assert_ne!(object, two);
    let more = json!({
        "before": ZEROS, "after": object, "checkout_sha": two, "message": "Heavy",
        "commits": [commit], "total": 1
    });
    assert_newest_event(forge, &fixture, "pushed new", "tag_push", "refs/tags/heavy", more);
}

/// DELETE /projects/:id/repository/tags/:tag_name
fn a_removed_tag_tells_the_commit_it_led_to(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (one, two) = (fixture.id("master~2"), fixture.id("master~1"));
    for (name, commit) in [("v1.0.0", one), ("v1.1.0", two)] {
        let path = format!("{}/{name}", fixture.tags);
        forge.delete(&path).token(fixture.token("developer")).send().expect(200);
        let more = json!({
            "before": commit, "after": ZEROS, "checkout_sha": null, "message": null,
            "commits": [], "total": 0
        });
        let reference = format!("refs/tags/{name}");
        assert_newest_event(forge, &fixture, "deleted", "tag_push", &reference, more);
    }
}

/// POST /projects/:id/repository/branches, POST /projects/:id/repository/tags
fn each_change_is_told_once_and_refusals_never(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let before = (activity_in(forge, &fixture.cast.project).len(), queued_events(forge).len());
    let developer = fixture.token("developer");
    for (method, path, status) in [
        ("POST", "branches?branch_name=b&ref=master", 200),
        ("POST", "branches?branch_name=b&ref=master", 400),
        ("POST", "branches?branch_name=b/c&ref=master", 400),
        ("POST", "tags?tag_name=t&ref=master&message=m&release_description=d", 201),
        ("POST", "tags?tag_name=t&ref=master", 405),
        ("DELETE", "branches/master", 400),
        ("DELETE", "branches/b", 200),
        ("DELETE", "branches/b", 404),
        ("DELETE", "tags/t", 200),
        ("DELETE", "tags/t", 404),
    ] {
        let path = format!("{}/repository/{path}", fixture.cast.path);
        forge.request(method, &path).token(developer).send().expect(status);
    }
    let activity = activity_in(forge, &fixture.cast.project);
    assert_eq!((activity.len() - before.0, queued_events(forge).len() - before.1), (4, 4));
    let words: Vec<&str> = activity[..4].iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, ["deleted", "deleted", "pushed new", "pushed new"]);
    // The feed of the user has the same events.
    let author = newest_event(forge, &fixture)["author_id"].clone();
    let feed = forge.get(&format!("/users/{author}/events")).token(developer).send().expect(200);
    assert_eq!(feed[0], newest_event(forge, &fixture));
}
