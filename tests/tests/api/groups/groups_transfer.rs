//! `POST /groups/:id/projects/:project_id`: reference section 2.8.

use hexforge_domain::outbox::{ProjectFacts, SystemEvent};
use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, forbidden, new_group, new_project, no_group, no_project,
    path_of_group, path_of_project, project_facts, project_in, project_now, share,
};
use crate::api::support::{
    HUGE, MISSING, assert_only_for_users, id_of, ids, message, queued_events,
};

on_every_store!(
    an_administrator_moves_a_project_into_a_group,
    a_project_moves_from_group_to_group,
    moving_projects_is_for_administrators_before_anything_is_looked_up,
    the_project_and_the_group_have_to_exist,
    a_project_moves_only_where_there_is_room_for_it,
    a_project_becomes_no_more_visible_than_its_group,
    a_moved_project_keeps_its_members_and_is_no_longer_anybodys_own,
    a_moved_project_is_told_and_is_no_activity,
    a_project_that_was_shared_with_its_new_group_is_listed_once,
);

fn path(group: &Value, project: &Value) -> String {
    format!("{}/projects/{}", path_of_group(group), id_of(project))
}

#[track_caller]
fn transfer(forge: &Forge, group: &Value, project: &Value) -> Value {
    forge.post(&path(group, project)).token(ROOT).send().expect(201)
}

fn failed(why: &str) -> Value {
    message(&format!("Failed to transfer project {{:new_namespace=>[\"{why}\"]}}"))
}

/// POST /groups/:id/projects/:project_id
fn an_administrator_moves_a_project_into_a_group(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let project = new_project(forge, &ada, "p", &[]);
    let group = new_group(forge, ROOT, "team", &[]);
    let by_path = format!("/groups/team/projects/{}", id_of(&project));
    let moved = forge.post(&by_path).token(ROOT).send();
    moved.expect(201);
    let now = project_now(forge, id_of(&project));
    let expected = json!({
        "id": id_of(&group), "name": "team", "path": "team", "description": "",
        "visibility_level": 20, "lfs_enabled": true, "avatar_url": null,
        "web_url": "http://forge.test/groups/team", "request_access_enabled": false,
        "projects": [now], "shared_projects": []
    });
    assert_eq!(moved.text(), expected.to_string());
    assert_eq!(now["path_with_namespace"], "team/p");
    assert_eq!(now["name_with_namespace"], "team / p");
    assert_eq!(now["web_url"], "http://forge.test/team/p");
    assert_eq!(now["http_url_to_repo"], "http://forge.test/team/p.git");
    assert_eq!(now["ssh_url_to_repo"], "ssh://git@forge.test:2222/team/p.git");
    assert_eq!(now["namespace"]["id"], id_of(&group));
    assert_eq!(now.get("owner"), None);
    let read = |path: &str| forge.get(path).token(ROOT).send();
    assert_eq!(read("/projects/team%2Fp").expect(200)["id"], project["id"]);
    assert_eq!(read("/projects/ada%2Fp").expect(404), no_project());
}

/// POST /groups/:id/projects/:project_id
fn a_project_moves_from_group_to_group(forge: &Forge) {
    let [first, second] = ["first", "second"].map(|path| new_group(forge, ROOT, path, &[]));
    let project = project_in(forge, &first, "p", &[]);
    let moved = transfer(forge, &second, &project);
    assert_eq!(ids(&moved["projects"]), [id_of(&project)]);
    let left = forge.get(&path_of_group(&first)).token(ROOT).send().expect(200);
    assert_eq!(left["projects"], json!([]));
}

/// POST /groups/:id/projects/:project_id
fn moving_projects_is_for_administrators_before_anything_is_looked_up(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let group = new_group(forge, &ada, "team", &[]);
    let project = new_project(forge, &ada, "p", &[]);
    for path in [
        path(&group, &project),
        format!("/groups/{MISSING}/projects/{}", id_of(&project)),
        format!("{}/projects/{MISSING}", path_of_group(&group)),
        "/groups/x/projects/x".into(),
    ] {
        assert_only_for_users(forge, &[("POST", path.clone())]);
        // Not even for the owner of both.
        assert_eq!(forge.post(&path).token(&ada).send().expect(403), forbidden(), "{path}");
    }
    assert_eq!(project_now(forge, id_of(&project))["path_with_namespace"], "ada/p");
}

/// POST /groups/:id/projects/:project_id
fn the_project_and_the_group_have_to_exist(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let project = new_project(forge, ROOT, "p", &[]);
    for missing in [MISSING.to_string().as_str(), HUGE, "0", "p", "root%2Fp", "-1"] {
        let path = format!("{}/projects/{missing}", path_of_group(&group));
        let refused = forge.post(&path).token(ROOT).send().expect(404);
        assert_eq!(refused, message("404 Not found"), "{missing}");
    }
    for missing in [MISSING.to_string().as_str(), HUGE, "nobody", "root", "TEAM"] {
        let path = format!("/groups/{missing}/projects/{}", id_of(&project));
        assert_eq!(forge.post(&path).token(ROOT).send().expect(404), no_group(), "{missing}");
    }
}

/// POST /groups/:id/projects/:project_id
fn a_project_moves_only_where_there_is_room_for_it(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let inside = project_in(forge, &group, "Inside", &[("path", "inside")]);
    let refused = |project: &Value, why: &str| {
        let before = (project_now(forge, id_of(project)), queued_events(forge).len());
        let answer = forge.post(&path(&group, project)).token(ROOT).send();
        assert_eq!(answer.expect(400), failed(why));
        assert_eq!((project_now(forge, id_of(project)), queued_events(forge).len()), before);
    };
    refused(&inside, "is invalid");
    let clash = "Project with same path in target namespace already exists";
    for (name, path) in [("Other", "inside"), ("Another", "INSIDE"), ("Inside", "other")] {
        let (_, token) = forge.user(&format!("user-{path}-{name}"));
        refused(&new_project(forge, &token, name, &[("path", path)]), clash);
    }
    transfer(forge, &group, &new_project(forge, ROOT, "inside", &[("path", "third")]));
}

/// POST /groups/:id/projects/:project_id
fn a_project_becomes_no_more_visible_than_its_group(forge: &Forge) {
    for (group_level, project_level, level) in
        [("0", "20", 0), ("10", "20", 10), ("10", "0", 0), ("20", "10", 10), ("20", "20", 20)]
    {
        let name = format!("g{group_level}-{project_level}");
        let group = new_group(forge, ROOT, &name, &[("visibility_level", group_level)]);
        let project = new_project(forge, ROOT, &name, &[("visibility_level", project_level)]);
        let moved = &transfer(forge, &group, &project)["projects"][0];
        assert_eq!(moved["visibility_level"], level, "{name}");
        assert_eq!(moved["public"], level == 20, "{name}");
        assert_eq!(project_now(forge, id_of(&project))["visibility_level"], level, "{name}");
    }
}

/// POST /groups/:id/projects/:project_id
fn a_moved_project_keeps_its_members_and_is_no_longer_anybodys_own(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, of_group) = forge.user("bob");
    let (carl, of_project) = forge.user("carl");
    let project = new_project(forge, &token, "p", &[]);
    let one = path_of_project(&project);
    add_member(forge, &one, carl, 20, &[]);
    let group = new_group(forge, ROOT, "team", &[("visibility_level", "0")]);
    add_member(forge, &path_of_group(&group), bob, 50, &[]);
    assert_eq!(forge.get(&one).token(&of_group).send().expect(404), no_project());
    transfer(forge, &group, &project);
    let read = |token: &str| forge.get(&one).token(token).send().expect(200);
    assert_eq!(read(&of_project)["permissions"]["project_access"]["access_level"], 20);
    assert_eq!(read(&of_group)["permissions"]["group_access"]["access_level"], 50);
    // The former owner is a normal master, who may change much but not remove the project.
    assert_eq!(read(&token)["permissions"]["project_access"]["access_level"], 40);
    assert_eq!(forge.delete(&one).token(&token).send().expect(403), forbidden());
    let left = forge.delete(&format!("{one}/members/{ada}")).token(&token).send();
    assert_eq!(left.expect(200)["access_level"], 40);
    assert_eq!(forge.get("/projects/owned").token(&token).send().expect(200), json!([]));
    forge.delete(&one).token(&of_group).send().expect(200);
}

/// POST /groups/:id/projects/:project_id
fn a_moved_project_is_told_and_is_no_activity(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let project = new_project(forge, &token, "p", &[("visibility_level", "20")]);
    let group = new_group(forge, ROOT, "team", &[("visibility_level", "10")]);
    let before = queued_events(forge).len();
    forge.clock.set(at(60));
    transfer(forge, &group, &project);
    let now = project_now(forge, id_of(&project));
    let facts = ProjectFacts { updated_at: at(60), ..project_facts(&now, "team", "") };
    let told = SystemEvent::ProjectTransferred(facts, "ada/p".to_owned());
    assert_eq!(queued_events(forge)[before..], [told]);
    assert_eq!(activity_in(forge, &project), [("created".to_owned(), ada)]);
}

/// POST /groups/:id/projects/:project_id
fn a_project_that_was_shared_with_its_new_group_is_listed_once(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let project = new_project(forge, ROOT, "p", &[]);
    share(forge, &project, &group, "30");
    assert_eq!(ids(&transfer(forge, &group, &project)["projects"]), [id_of(&project)]);
    let list = forge.get("/groups/team/projects").token(ROOT).send();
    assert_eq!(ids(&list.expect(200)), [id_of(&project)]);
    assert_eq!(list.header("X-Total"), Some("1"));
}
