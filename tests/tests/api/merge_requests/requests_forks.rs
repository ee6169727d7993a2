//! Merge requests of forks: merge_requests.md section 16.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_fork_support::{commit_to, forked, post_from};
use super::requests_support::{merge, path_of_request, put_request, request_notes, request_now};
use crate::api::groups::group_support::{new_project, path_of_project};
use crate::api::repositories::refs_support::do_tasks;
use crate::api::support::{id_of, message};

on_every_store!(
    a_fork_asks_its_origin,
    only_the_origin_can_be_the_target,
    pushes_to_the_fork_refresh_the_request,
    a_deleted_fork_closes_its_requests,
    a_removed_link_closes_the_requests,
);

/// POST /projects/:id/merge_requests
fn a_fork_asks_its_origin(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made =
        post_from(forge, stranger, &fork, fixture.project(), &json!({"labels": "bug"})).expect(201);
    let (source, target) = (id_of(&fork), fixture.project());
    assert_eq!(
        (&made["project_id"], &made["target_project_id"], &made["source_project_id"]),
        (&json!(target), &json!(target), &json!(source))
    );
    assert_eq!(made["labels"], json!([]), "the author is no member of the target");
    let elsewhere = format!("{}/merge_requests/{}", path_of_project(&fork), id_of(&made));
    let answer = forge.get(&elsewhere).token(stranger).send();
    assert_eq!(answer.expect(404), message("404 Not found"));
    let commits = format!("{}/commits", path_of_request(&made));
    let commits = forge.get(&commits).token(ROOT).send().expect(200);
    assert_eq!((&commits[0]["id"], &commits[0]["title"]), (&made["sha"], &json!("In the fork")));
    put_request(forge, stranger, &made, &json!({"title": "x"})).expect(200);
    assert_eq!(merge(forge, stranger, &made, &json!({})).expect(401), message("401 Unauthorized"));
    // Only masters of the target see it through a private fork.
    let fields = json!({"should_remove_source_branch": true});
    let merged = merge(forge, fixture.token("developer"), &made, &fields).expect(200);
    assert_eq!(merged["state"], "merged");
    let branch = format!("{}/repository/branches/topic", path_of_project(&fork));
    forge.get(&branch).token(stranger).send().expect(200);
    let tree = format!("{}/repository/tree", fixture.cast.path);
    let tree = forge.get(&tree).token(ROOT).send().expect(200);
    let names: Vec<&Value> =
        tree.as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert!(names.contains(&&json!("new")), "{names:?}");
}

/// POST /projects/:id/merge_requests
fn only_the_origin_can_be_the_target(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let other = new_project(forge, ROOT, "other", &[("visibility_level", "20")]);
    let hidden = new_project(forge, ROOT, "hidden", &[("visibility_level", "0")]);
    let text = json!({"error": ["Source project is not a fork of the target project"]});
    let stranger = fixture.token("stranger");
    assert_eq!(post_from(forge, stranger, &fork, id_of(&other), &json!({})).expect(422), text);
    let answer = post_from(forge, ROOT, &fixture.cast.project, id_of(&fork), &json!({}));
    assert_eq!(answer.expect(422), text, "the other direction");
    let answer = post_from(forge, stranger, &fork, id_of(&hidden), &json!({}));
    assert_eq!(answer.expect(404), message("404 Not found"));
    let form = [("name", "Ship"), ("merge_requests_enabled", "false")];
    forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
    post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(403);
}

/// Section 16.
fn pushes_to_the_fork_refresh_the_request(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let new = commit_to(forge, stranger, &fork, "topic", "more");
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["sha"], new);
    let changes = format!("{}/changes", path_of_request(&made));
    let changes = forge.get(&changes).token(ROOT).send().expect(200);
    let paths: Vec<&Value> =
        changes["changes"].as_array().expect("a list").iter().map(|one| &one["new_path"]).collect();
    assert_eq!(paths, [&json!("more"), &json!("new")]);
    let notes = request_notes(forge, &made);
    assert!(notes[0].starts_with("added 1 commit\n\n* "), "{notes:?}");
    assert_eq!(notes.len(), 1);
}

/// DELETE /projects/:id: section 16.
fn a_deleted_fork_closes_its_requests(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    forge.delete(&path_of_project(&fork)).token(stranger).send().expect(200);
    do_tasks(forge);
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["sha"]), (&json!("closed"), &made["sha"]));
    assert_eq!(now["source_project_id"], id_of(&fork));
    assert_eq!(request_notes(forge, &made), ["closed"]);
    let fields = json!({"state_event": "reopen", "title": "y", "target_branch": "other"});
    let same = put_request(forge, ROOT, &made, &fields).expect(200);
    assert_eq!((&same["state"], &same["title"]), (&json!("closed"), &json!("y")));
    assert_eq!(same["target_branch"], "master");
    let commits = format!("{}/commits", path_of_request(&made));
    let commits = forge.get(&commits).token(ROOT).send().expect(200);
    assert_eq!(commits[0]["id"], made["sha"]);
}

/// DELETE /projects/:id/fork: section 16.
fn a_removed_link_closes_the_requests(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let link = format!("{}/fork", path_of_project(&fork));
    forge.delete(&link).token(stranger).send();
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["state"], "closed");
}
