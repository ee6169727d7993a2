//! Merge requests of forks: merge_requests.md section 16.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_fork_support::{commit_to, fork_by, forked, post_from};
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
    several_forks_ask_from_branches_of_one_name,
    an_author_who_is_no_member_changes_the_text_only,
    a_private_fork_is_merged_by_who_cannot_see_it,
    switches_of_the_fork_do_not_matter_afterwards,
    commits_of_the_target_are_named_with_its_namespace,
    old_heads_stay_readable_in_the_fork,
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

/// POST /projects/:id/merge_requests: section 16, second rule.
fn several_forks_ask_from_branches_of_one_name(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let (stranger, reporter) = (fixture.token("stranger"), fixture.token("reporter"));
    let other = fork_by(forge, &fixture, "reporter");
    let origin = fixture.project();
    let first = post_from(forge, stranger, &fork, origin, &json!({})).expect(201);
    let second = post_from(forge, reporter, &other, origin, &json!({})).expect(201);
    assert_eq!((&first["iid"], &second["iid"]), (&json!(1), &json!(2)));
    let twin = post_from(forge, stranger, &fork, origin, &json!({})).expect(409);
    let text = "Cannot Create: This merge request already exists: [\"From the fork\"]";
    assert_eq!(twin, json!({"message": [text]}));
    let between = post_from(forge, ROOT, &fork, id_of(&other), &json!({})).expect(422);
    let text = "Source project is not a fork of the target project";
    assert_eq!(between, json!({"error": [text]}));
    // The same branch on both sides.
    let head = commit_to(forge, stranger, &fork, "master", "in-master");
    let same =
        post_from(forge, stranger, &fork, origin, &json!({"source_branch": "master"})).expect(201);
    assert_eq!((&same["source_branch"], &same["sha"]), (&json!("master"), &json!(head)));
    merge(forge, ROOT, &same, &json!({})).expect(200);
}

/// PUT /projects/:id/merge_requests/:merge_request_id: section 16, third rule.
fn an_author_who_is_no_member_changes_the_text_only(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let milestone = format!("{}/milestones", fixture.cast.path);
    let form = [("title", "1.0")];
    let milestone = forge.post(&milestone).token(ROOT).form(&form).send().expect(201);
    let fields = json!({"title": "New", "description": "d", "target_branch": "feature/x",
        "labels": "bug", "milestone_id": id_of(&milestone), "assignee_id": fixture.cast.ada});
    let now = put_request(forge, stranger, &made, &fields).expect(200);
    assert_eq!(
        (&now["title"], &now["description"], &now["target_branch"]),
        (&json!("New"), &json!("d"), &json!("feature/x"))
    );
    assert_eq!(
        (&now["labels"], &now["milestone"], &now["assignee"]),
        (&json!([]), &Value::Null, &Value::Null)
    );
    let labels = format!("{}/labels", fixture.cast.path);
    assert_eq!(forge.get(&labels).token(ROOT).send().expect(200), json!([]));
    for (word, state) in [("close", "closed"), ("reopen", "reopened")] {
        let now = put_request(forge, stranger, &made, &json!({"state_event": word})).expect(200);
        assert_eq!(now["state"], state);
    }
    let path = format!("{}/subscription", path_of_request(&made));
    assert_eq!(forge.delete(&path).token(stranger).send().expect(200)["subscribed"], false);
    assert_eq!(forge.delete(&path).token(stranger).send().status, 304);
    assert_eq!(forge.post(&path).token(stranger).send().expect(201)["subscribed"], true);
    assert_eq!(forge.post(&path).token(stranger).send().status, 304);
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge: section 16, fourth rule.
fn a_private_fork_is_merged_by_who_cannot_see_it(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let form = [("name", "Ship"), ("visibility_level", "0")];
    forge.put(&path_of_project(&fork)).token(stranger).form(&form).send().expect(200);
    let new = commit_to(forge, stranger, &fork, "topic", "more");
    do_tasks(forge);
    let developer = fixture.token("developer");
    forge.get(&path_of_project(&fork)).token(developer).send().expect(404);
    let commits = format!("{}/commits", path_of_request(&made));
    let commits = forge.get(&commits).token(fixture.token("reporter")).send().expect(200);
    assert_eq!((&commits[0]["id"], &commits[1]["id"]), (&json!(new), &made["sha"]));
    let changes = format!("{}/changes", path_of_request(&made));
    let changes = forge.get(&changes).token(fixture.token("reporter")).send().expect(200);
    assert_eq!(changes["changes"].as_array().map(Vec::len), Some(2));
    let merged = merge(forge, developer, &made, &json!({})).expect(200);
    assert_eq!((&merged["state"], &merged["sha"]), (&json!("merged"), &json!(new)));
}

/// Sections 15 and 16: merge requests of the fork itself may be off.
fn switches_of_the_fork_do_not_matter_afterwards(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let form = [("name", "Ship"), ("merge_requests_enabled", "false")];
    forge.put(&path_of_project(&fork)).token(stranger).form(&form).send().expect(200);
    let new = commit_to(forge, stranger, &fork, "topic", "more");
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["sha"], new);
    put_request(forge, stranger, &made, &json!({"title": "x"})).expect(200);
    let more = json!({"target_branch": "feature/x"});
    let refused = post_from(forge, stranger, &fork, fixture.project(), &more);
    assert_eq!(refused.expect(403), message("403 Forbidden"));
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
}

/// Section 11.3: "from a fork `namespace:master`".
fn commits_of_the_target_are_named_with_its_namespace(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let (path, tree) = (path_of_project(&fork), &fixture.tree);
    let form = [("branch_name", "behind"), ("ref", "v1.1.0")];
    forge
        .post(&format!("{path}/repository/branches"))
        .token(stranger)
        .form(&form)
        .send()
        .expect(200);
    let more = json!({"source_branch": "behind"});
    let made = post_from(forge, stranger, &fork, fixture.project(), &more).expect(201);
    let address = format!("http://stranger:{stranger}@{}/stranger/ship.git", forge.address);
    tree.git(&["push", "-q", &address, "master:behind"]);
    do_tasks(forge);
    let notes = request_notes(forge, &made);
    let three = fixture.id("master");
    let expected =
        format!("added 1 commit\n\n* {} - 1 commit from branch `ada:master`\n\n[", &three[..8]);
    assert!(notes[0].starts_with(&expected), "{notes:?}");
    assert_eq!(notes.len(), 1);
}

/// Section 10: heads are kept in the source repository too.
fn old_heads_stay_readable_in_the_fork(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let address = format!("http://stranger:{stranger}@{}/stranger/ship.git", forge.address);
    fixture.tree.git(&["push", "-q", "-f", &address, "feature/x:topic"]);
    do_tasks(forge);
    assert_eq!(request_now(forge, &made)["sha"], fixture.id("feature/x"));
    let head = made["sha"].as_str().expect("an id");
    for (project, who) in
        [(path_of_project(&fork), "stranger"), (fixture.cast.path.clone(), "reporter")]
    {
        let commit = format!("{project}/repository/commits/{head}");
        let commit = forge.get(&commit).token(fixture.token(who)).send().expect(200);
        assert_eq!(commit["id"], head);
    }
}
